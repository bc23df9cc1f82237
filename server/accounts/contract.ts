import Type from 'typebox'
import { PURPOSES } from '../ai/calls/call-use.ts'
import {
  Cursor,
  DayOrTime,
  Exact,
  endpointsOf,
  IsoTime,
  Limit,
  Nullable,
  OneOf,
  Page,
  Success,
  scopes,
} from '../platform/http/contract.ts'
import { roles } from './keys/roles.ts'

const endpoint = endpointsOf('Account')

export const getMe = endpoint({
  method: 'GET',
  path: '/me',
  name: 'getMe',
  summary: 'Read the account and the key of the request',
  description:
    'Returns the account, its plan, the key and the credits of this UTC month. For a signed-in member, the member replaces the key.',
  scope: 'account:read',
  limitedMembers: 'all',
  success: {
    status: 200,
    schema: Exact({
      account: Exact({ id: Type.String(), name: Type.String() }),
      plan: Type.String(),
      key: Nullable(
        Exact(
          {
            id: Type.String(),
            name: Type.String(),
            scopes: Nullable(Type.Array(Type.String(), { description: '`null` means all scopes' })),
            expiresAt: Nullable(IsoTime),
          },
          { description: '`null` if a member is signed in' },
        ),
      ),
      member: Type.Optional(
        Exact(
          {
            id: Type.String(),
            name: Type.String(),
            email: Type.String(),
            role: OneOf(roles),
            scopes: Type.Array(Type.String()),
            agentIds: Nullable(Type.Array(Type.String(), { description: '`null` means all agents' })),
            hasSecondFactor: Type.Boolean(),
          },
          { description: 'The signed-in member; omitted for API keys' },
        ),
      ),
      trainingBytes: Nullable(
        Type.Integer({
          description: 'Bytes of text that the sources of each agent may have; null: any number',
        }),
      ),
      credits: Exact({
        limit: Nullable(Type.Integer({ description: '`null` means no limit' })),
        used: Type.Integer(),
        resetsAt: IsoTime,
      }),
    }),
  },
})

const Scopes = Nullable(
  Type.Array(OneOf(scopes), {
    minItems: 1,
    maxItems: scopes.length,
    uniqueItems: true,
    description: 'What the key may do; null: everything in the account, including future scopes',
  }),
)
const Key = {
  id: Type.String(),
  name: Type.String(),
  prefix: Type.String({ description: 'The beginning of the key' }),
  scopes: Nullable(Type.Array(Type.String())),
  state: OneOf(['active', 'expired', 'revoked']),
  expiresAt: Nullable(IsoTime),
  lastUsedAt: Nullable(IsoTime),
  createdBy: Nullable(
    Type.String({
      description:
        '`member:<id>`, `key:<id>` or `operator`, as in the audit log; null: it is not known. The member may have been removed.',
    }),
  ),
  createdAt: IsoTime,
}

export const listKeys = endpoint({
  method: 'GET',
  path: '/keys',
  name: 'listKeys',
  summary: 'List the API keys of the account',
  description: 'Oldest first, without the keys themselves.',
  scope: 'keys:read',
  success: { status: 200, schema: Type.Array(Exact(Key)) },
})

export const createKey = endpoint({
  method: 'POST',
  path: '/keys',
  name: 'createKey',
  summary: 'Create an API key',
  description:
    'Only this response contains the key. A key cannot create a key with more scopes or a later expiry than its own.',
  scope: 'keys:write',
  shownOnce: ['key'],
  body: Exact({
    name: Type.String({ minLength: 1, maxLength: 100 }),
    scopes: Type.Optional(Scopes),
    expiresAt: Type.Optional(Nullable(Type.String({ format: 'date-time', description: 'In the future' }))),
  }),
  success: {
    status: 201,
    schema: Exact({
      ...Key,
      key: Nullable(
        Type.String({ description: 'null when the request is repeated with its Idempotency-Key' }),
      ),
    }),
  },
})

export const revokeKey = endpoint({
  method: 'DELETE',
  path: '/keys/{keyId}',
  name: 'revokeKey',
  summary: 'Revoke an API key',
  description: 'Every process refuses it within a second. It cannot be undone.',
  scope: 'keys:write',
  params: Exact({ keyId: Type.String({ minLength: 1 }) }),
  success: { status: 200, schema: Success },
})

export const revokeKeysBy = endpoint({
  method: 'DELETE',
  path: '/keys',
  name: 'revokeKeysBy',
  summary: 'Revoke all API keys that somebody has made',
  description:
    'Also revokes the keys that were made with these keys. Use it for the keys of a member who has been removed. It cannot be undone.',
  scope: 'keys:write',
  query: Exact({
    createdBy: Type.String({
      minLength: 1,
      maxLength: 100,
      description: '`member:<id>` or `key:<id>`, as in `createdBy` of a key',
    }),
  }),
  success: {
    status: 200,
    schema: Exact({
      success: Type.Literal(true),
      revoked: Type.Integer({ description: 'How many active keys were revoked' }),
    }),
  },
})

export const listAuditLog = endpoint({
  method: 'GET',
  path: '/audit-log',
  name: 'listAuditLog',
  summary: 'List who changed what',
  description:
    'Newest first. The log contains sign-ins and failed sign-ins, and changes of members, invitations, keys, agents, sources, actions, connections, takeovers, retention, erasures and exports.',
  scope: 'audit:read',
  query: Exact({
    cursor: Type.Optional(Cursor),
    limit: Limit,
    actor: Type.Optional(
      Type.String({ minLength: 1, maxLength: 100, description: '`member:<id>`, `key:<id>` or `operator`' }),
    ),
    action: Type.Optional(
      Type.String({
        pattern: '^[a-z-]{1,50}(\\.[a-z-]{1,50})?$',
        maxLength: 101,
        description: 'An action such as `member.update`, or an object such as `member`',
      }),
    ),
    startDate: Type.Optional(DayOrTime('Not before')),
    endDate: Type.Optional(DayOrTime('Not after')),
  }),
  success: {
    status: 200,
    schema: Page(
      Exact({
        id: Type.String(),
        at: IsoTime,
        actor: Type.String(),
        actorName: Nullable(
          Type.String({ description: 'The name of the member or the key, if it still exists' }),
        ),
        action: Type.String(),
        target: Nullable(Type.String()),
        detail: Nullable(Type.Unsafe<Record<string, unknown>>({ type: 'object' })),
      }),
    ),
  },
  errors: ['VALIDATION_INVALID_CURSOR', 'VALIDATION_INVALID_DATE_RANGE'],
})

const Day = Type.String({ format: 'date', description: 'YYYY-MM-DD (UTC)' })

export const readUsage = endpoint({
  method: 'GET',
  path: '/usage',
  name: 'readUsage',
  summary: 'Read the credits used, by day and agent',
  description:
    'Days are in UTC, at most 92, including both ends; without dates, the last 30 are returned. Days without use are left out. The figures come from the credit ledger, so they include deleted agents, without a name. What was sent to an embedding model, and what models were asked beside answers, is listed a few seconds later. A member who is limited to some agents sees only those. As CSV, a row is what one agent used of one kind on a day: `credits`, `model` or `embedding`.',
  scope: 'account:read',
  limitedMembers: 'all',
  csv: true,
  query: Exact({
    startDate: Type.Optional(Day),
    endDate: Type.Optional(Day),
    format: OneOf(['json', 'csv'], { default: 'json' }),
  }),
  success: {
    status: 200,
    schema: Exact({
      days: Type.Array(
        Exact({
          day: Type.String(),
          agentId: Nullable(Type.String()),
          agentName: Nullable(Type.String()),
          replies: Type.Integer({ minimum: 0 }),
          credits: Type.Integer({ minimum: 0 }),
        }),
      ),
      total: Exact({ replies: Type.Integer({ minimum: 0 }), credits: Type.Integer({ minimum: 0 }) }),
      embeddings: Type.Array(
        Exact({
          day: Type.String(),
          agentId: Type.String(),
          agentName: Nullable(Type.String()),
          model: Type.String(),
          kind: OneOf(['passages', 'questions', 'trials'], {
            description:
              'Texts of sources (and questions that were grouped), questions that were asked, or questions with which the team tries out the agent, which are no part of a budget',
          }),
          texts: Type.Integer({ minimum: 0 }),
          tokens: Type.Integer({ minimum: 0 }),
          estimated: Type.Integer({
            minimum: 0,
            description:
              'How many of the tokens are estimated, because the server does not say how many there were',
          }),
          dollars: Nullable(Type.Number({ minimum: 0, description: 'null: the price is not known' })),
        }),
        { description: 'What was sent to the embedding model. It costs no credits' },
      ),
      models: Type.Array(
        Exact({
          day: Type.String(),
          agentId: Type.String(),
          agentName: Nullable(Type.String()),
          model: Type.String(),
          purpose: OneOf(PURPOSES, {
            description:
              'What was asked for: answers to customers; beside them titles, summaries, the understanding of questions, spam and insights; and what the team tries: the playground and tests of answers, and the models that judge or play customers there',
          }),
          calls: Type.Integer({ minimum: 0 }),
          inputTokens: Type.Integer({ minimum: 0 }),
          cachedTokens: Type.Integer({ minimum: 0, description: 'Those of inputTokens from the cache' }),
          outputTokens: Type.Integer({ minimum: 0 }),
          reasoningTokens: Type.Integer({ minimum: 0, description: 'Those of outputTokens for reasoning' }),
          dollars: Nullable(
            Type.Number({ minimum: 0, description: "By the catalogue's prices; null: not known" }),
          ),
          unpricedCalls: Type.Integer({
            minimum: 0,
            description:
              'Those of the calls that are not in the dollars: their price or tokens are not known',
          }),
        }),
        { description: 'What language models read and wrote, also beside answers' },
      ),
    }),
  },
  errors: ['VALIDATION_INVALID_DATE_RANGE'],
})
