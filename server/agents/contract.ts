import Type from 'typebox'
import {
  Cursor,
  Exact,
  endpointsOf,
  IsoTime,
  Limit,
  Nullable,
  OneOf,
  Page,
  Success,
} from '../platform/http/contract.ts'
import { Agent, agentSettings, CreateAgent, CreatedAgent, UpdateAgent } from './records/schema.ts'
import { StylesChange } from './settings/styles-schema.ts'

const params = Exact({ agentId: Type.String({ minLength: 1 }) })
const endpoint = endpointsOf('Agents')

export const listAgents = endpoint({
  method: 'GET',
  path: '/agents',
  name: 'listAgents',
  unknownFields: 'ignored',
  summary: 'List the agents of the account',
  description: 'Newest first.',
  scope: 'agents:read',
  limitedMembers: 'all',
  query: Exact({ cursor: Type.Optional(Cursor), limit: Limit }),
  success: { status: 200, schema: Page(Agent) },
  errors: ['VALIDATION_INVALID_CURSOR'],
})

export const createAgent = endpoint({
  method: 'POST',
  path: '/agents',
  name: 'createAgent',
  unknownFields: 'ignored',
  summary: 'Create an agent',
  description:
    'With `url`, a link source is added. If that fails, the agent is created nevertheless, and pendingSteps says so.',
  scope: 'agents:write',
  body: CreateAgent,
  success: { status: 201, schema: CreatedAgent },
  errors: ['AGENT_LIMIT_REACHED'],
})

export const readAgent = endpoint({
  method: 'GET',
  path: '/agents/{agentId}',
  name: 'readAgent',
  unknownFields: 'ignored',
  summary: 'Read an agent',
  description:
    'Poll `status` to follow the training of its sources. The ETag is the version of the settings; a change may name it with If-Match.',
  scope: 'agents:read',
  versioned: agentSettings,
  params,
  success: { status: 200, schema: Agent },
})

export const updateAgent = endpoint({
  method: 'PUT',
  path: '/agents/{agentId}',
  name: 'updateAgent',
  changes: readAgent,
  unknownFields: 'ignored',
  audit: 'agent.update',
  summary: 'Change an agent',
  description:
    'An omitted field stays as it is; null disables a feature or resets it; ipRateLimits and aiNotice take any subset.',
  scope: 'agents:write',
  params,
  body: UpdateAgent,
  success: { status: 200, schema: Success },
})

export const deleteAgent = endpoint({
  method: 'DELETE',
  path: '/agents/{agentId}',
  name: 'deleteAgent',
  unknownFields: 'ignored',
  summary: 'Delete an agent with all its data',
  description: 'Permanent: sources, files, conversations and messages are deleted with it.',
  scope: 'agents:write',
  params,
  success: { status: 200, schema: Success },
})

export const updateStyles = endpoint({
  method: 'PUT',
  path: '/agents/{agentId}/styles',
  name: 'updateStyles',
  changes: readAgent,
  unknownFields: 'ignored',
  audit: 'agent.update',
  summary: 'Change the styles of the agent',
  description: 'Styles are merged field by field; null resets a field to its default.',
  scope: 'agents:write',
  params,
  body: Exact({ styles: StylesChange }),
  success: { status: 200, schema: Success },
})

export const setAutoRetrain = endpoint({
  method: 'PUT',
  path: '/agents/{agentId}/auto-retrain',
  name: 'setAutoRetrain',
  changes: readAgent,
  unknownFields: 'ignored',
  audit: 'agent.update',
  summary: 'Enable or disable the weekly re-sync',
  description: 'Needs at least one live source.',
  scope: 'agents:write',
  params,
  body: Exact({ enabled: Type.Boolean() }),
  success: { status: 200, schema: Success },
  errors: ['AGENT_NOT_TRAINED', 'PLAN_FEATURE_NOT_AVAILABLE'],
})

export const cloneAgent = endpoint({
  method: 'POST',
  path: '/agents/{agentId}/clone',
  name: 'cloneAgent',
  unknownFields: 'ignored',
  summary: 'Copy an agent with its sources',
  description: 'Conversations are not copied. Live sources answer in the copy at once.',
  scope: 'agents:write',
  limitedMembers: 'none',
  params,
  success: { status: 201, schema: CreatedAgent },
  errors: ['AGENT_LIMIT_REACHED'],
})

export const trainAgent = endpoint({
  method: 'POST',
  path: '/agents/{agentId}/train',
  name: 'trainAgent',
  unknownFields: 'ignored',
  summary: 'Does nothing: sources are trained automatically',
  deprecated: true,
  scope: 'agents:write',
  params,
  success: {
    status: 200,
    schema: Exact({ success: Type.Literal(true), deprecated: Type.Literal(true), message: Type.String() }),
  },
})

const versions = '/agents/{agentId}/instructions/versions'

export const listInstructionVersions = endpoint({
  method: 'GET',
  path: versions,
  name: 'listInstructionVersions',
  summary: 'List the versions of the instructions',
  description:
    'Newest first; the first one is the current version. A version contains the instructions, the channel instructions, the model and the temperature. At most 50 are kept, from the first change on.',
  scope: 'agents:read',
  params,
  query: Exact({ cursor: Type.Optional(Cursor), limit: Limit }),
  success: {
    status: 200,
    schema: Page(
      Exact({
        id: Type.String(),
        instructions: Type.String(),
        channelInstructions: Nullable(Type.Unsafe<Record<string, unknown>>({ type: 'object' })),
        model: Type.String(),
        temp: Type.Number(),
        actor: Nullable(
          Type.String({
            description: '`member:<id>` or `key:<id>`; null: the version is older than the history',
          }),
        ),
        createdAt: IsoTime,
      }),
    ),
  },
  errors: ['VALIDATION_INVALID_CURSOR'],
})

export const restoreInstructionVersion = endpoint({
  method: 'POST',
  path: `${versions}/{versionId}/restore`,
  name: 'restoreInstructionVersion',
  changes: readAgent,
  audit: 'agent.update',
  summary: 'Restore a version of the instructions',
  description:
    'The restored version becomes the newest one. If its model is no longer in the catalogue, the current model is kept.',
  scope: 'agents:write',
  params: Exact({ ...params.properties, versionId: Type.String({ minLength: 1 }) }),
  success: { status: 200, schema: Success },
})

export const listModels = endpoint({
  method: 'GET',
  path: '/models',
  name: 'listModels',
  summary: 'List the models of the installation',
  description: "The possible values of an agent's `model`, besides `auto`.",
  scope: 'agents:read',
  limitedMembers: 'all',
  success: {
    status: 200,
    schema: Exact({
      models: Type.Array(
        Exact({
          id: Type.String(),
          provider: Type.String({ description: '`builtin`: quotes the documents and calls no provider' }),
          credits: Type.Integer({ minimum: 0, description: 'The cost of a reply' }),
          contextTokens: Type.Integer(),
          isAuto: Type.Boolean({ description: 'Whether `auto` selects this model' }),
          isInPlan: Type.Boolean(),
          problem: Nullable(
            Type.String({
              description: 'Why its last call failed; null if it did not',
            }),
          ),
        }),
      ),
      embedding: Nullable(Type.String({ description: 'The model whose vectors are searched' })),
      embeddingProblem: Nullable(
        Type.String({
          description:
            'What the database lacks for vectors, or why the last call of that model failed; otherwise null',
        }),
      ),
      reranker: Nullable(Type.String()),
    }),
  },
})

const LocalModels = Exact({
  mayFetch: Type.Boolean({
    description: 'Whether the caller owns the installation: an owner of its only account',
  }),
  inUse: Nullable(Type.String({ description: 'The fetched model whose vectors are made' })),
  isConfigured: Type.Boolean({
    description: 'Whether a model is configured, beside which a fetched one would have no effect',
  }),
  models: Type.Array(
    Exact({
      name: Type.String(),
      downloadBytes: Type.Integer({ description: 'What is fetched: its files and what runs it' }),
      diskBytes: Type.Integer({ description: 'What both take on the disk afterwards' }),
      memoryBytes: Type.Integer({ description: 'The memory of the process that runs it' }),
    }),
    { description: 'What can be fetched, the default first' },
  ),
  fetching: Nullable(
    Exact({
      model: Type.String(),
      step: OneOf(['model', 'runtime', 'trying'], {
        description:
          '`model`: its files are fetched; `runtime`: what runs it is installed; `trying`: a text is embedded',
      }),
      done: Type.Integer({ description: 'Bytes of the model' }),
      total: Type.Integer(),
    }),
  ),
  problem: Nullable(Type.String({ description: 'Why the last attempt failed, with what to do' })),
})
const local = { path: '/models/local', onlySessions: true, limitedMembers: 'all' } as const

export const readLocalModels = endpoint({
  ...local,
  method: 'GET',
  name: 'readLocalModels',
  summary: 'Show the embedding models that the installation can run itself',
  description:
    'What can be fetched, and how far it is. The state is that of the process that responds. Reasons and progress are for the owner of the installation: an owner of its only account. Where there are several accounts, the operator fetches models with the command `models get`.',
  scope: 'agents:read',
  success: { status: 200, schema: LocalModels },
})

export const fetchLocalModel = endpoint({
  ...local,
  method: 'POST',
  name: 'fetchLocalModel',
  audit: 'model.fetch',
  summary: 'Fetch an embedding model that the installation runs itself',
  description:
    'Begins to fetch the model and what runs it, and returns at once; the GET shows how far it is. What an earlier attempt has left is continued. When both are there and have been tried, the model is in use without a restart. While one is being fetched, nothing new begins.',
  scope: 'agents:write',
  body: Exact({ model: Type.Optional(Type.String({ description: 'Default: the first of the list' })) }),
  success: { status: 202, schema: LocalModels },
})

export const testModels = endpoint({
  method: 'POST',
  path: '/models/test',
  name: 'testModels',
  summary: 'Send a small request to each model of the installation',
  description:
    'Returns the result for each model, the embedding model and the reranker, and what to do if one fails. This uses no credits but calls the providers, so it is limited to ten times an hour.',
  scope: 'agents:write',
  success: {
    status: 200,
    schema: Exact({
      findings: Type.Array(
        Exact({
          what: OneOf(['model', 'embeddings', 'reranker']),
          name: Type.String(),
          ok: Type.Boolean(),
          sentence: Type.String(),
        }),
      ),
    }),
  },
})
