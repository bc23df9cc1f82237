import Type from 'typebox'
import { Cursor, Exact, endpoint, Limit, Page, Success } from '../http/contract.ts'
import { Agent, CreateAgent, CreatedAgent, UpdateAgent } from './schema.ts'
import { StylesChange } from './styles-schema.ts'

const params = Exact({ agentId: Type.String({ minLength: 1 }) })
const tag = 'Agents'

export const listAgents = endpoint({
  method: 'GET',
  path: '/agents',
  name: 'listAgents',
  unknownFields: 'ignored',
  tag,
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
  tag,
  summary: 'Create an agent',
  description:
    'With `url` a link source is added; when that fails the agent exists all the same and pendingSteps says so.',
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
  tag,
  summary: 'Read an agent',
  description: 'Poll `status` to follow the training of its sources.',
  scope: 'agents:read',
  params,
  success: { status: 200, schema: Agent },
  errors: ['AGENT_NOT_FOUND'],
})

export const updateAgent = endpoint({
  method: 'PUT',
  path: '/agents/{agentId}',
  name: 'updateAgent',
  unknownFields: 'ignored',
  audit: 'agent.update',
  tag,
  summary: 'Change an agent',
  description:
    'An omitted field stays as it is; null disables a feature or resets it; ipRateLimits takes any subset.',
  scope: 'agents:write',
  params,
  body: UpdateAgent,
  success: { status: 200, schema: Success },
  errors: ['AGENT_NOT_FOUND'],
})

export const deleteAgent = endpoint({
  method: 'DELETE',
  path: '/agents/{agentId}',
  name: 'deleteAgent',
  unknownFields: 'ignored',
  tag,
  summary: 'Delete an agent with all its data',
  description: 'Permanent: sources, files, conversations and messages go with it.',
  scope: 'agents:write',
  params,
  success: { status: 200, schema: Success },
  errors: ['AGENT_NOT_FOUND'],
})

export const updateStyles = endpoint({
  method: 'PUT',
  path: '/agents/{agentId}/styles',
  name: 'updateStyles',
  unknownFields: 'ignored',
  audit: 'agent.update',
  tag,
  summary: 'Change how the agent looks',
  description: 'Merged field by field; null puts a field back to its default.',
  scope: 'agents:write',
  params,
  body: Exact({ styles: StylesChange }),
  success: { status: 200, schema: Success },
  errors: ['AGENT_NOT_FOUND'],
})

export const setAutoRetrain = endpoint({
  method: 'PUT',
  path: '/agents/{agentId}/auto-retrain',
  name: 'setAutoRetrain',
  unknownFields: 'ignored',
  audit: 'agent.update',
  tag,
  summary: 'Switch the weekly re-sync',
  description: 'Needs at least one live source.',
  scope: 'agents:write',
  params,
  body: Exact({ enabled: Type.Boolean() }),
  success: { status: 200, schema: Success },
  errors: ['AGENT_NOT_FOUND', 'AGENT_NOT_TRAINED', 'PLAN_FEATURE_NOT_AVAILABLE'],
})

export const cloneAgent = endpoint({
  method: 'POST',
  path: '/agents/{agentId}/clone',
  name: 'cloneAgent',
  unknownFields: 'ignored',
  tag,
  summary: 'Copy an agent with its sources',
  description: 'Conversations are not copied. Live sources answer in the copy at once.',
  scope: 'agents:write',
  limitedMembers: 'none',
  params,
  success: { status: 201, schema: CreatedAgent },
  errors: ['AGENT_NOT_FOUND', 'AGENT_LIMIT_REACHED'],
})

export const trainAgent = endpoint({
  method: 'POST',
  path: '/agents/{agentId}/train',
  name: 'trainAgent',
  unknownFields: 'ignored',
  tag,
  summary: 'Does nothing: sources train on their own',
  deprecated: true,
  scope: 'agents:write',
  params,
  success: {
    status: 200,
    schema: Exact({ success: Type.Literal(true), deprecated: Type.Literal(true), message: Type.String() }),
  },
  errors: ['AGENT_NOT_FOUND'],
})
