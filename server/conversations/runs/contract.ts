import Type from 'typebox'
import {
  Cursor,
  Exact,
  endpoint,
  IsoTime,
  Limit,
  Nullable,
  OneOf,
  Page,
} from '../../platform/http/contract.ts'

const listQuery = Exact({ cursor: Type.Optional(Cursor), limit: Limit })

export const listActionRuns = endpoint({
  method: 'GET',
  path: '/agents/{agentId}/actions/{actionId}/runs',
  name: 'listActionRuns',
  tag: 'Actions',
  summary: 'List the last runs of an action',
  description:
    'Newest first, with their inputs and outputs. Runs from before the action was renamed are not included.',
  scope: 'conversations:read',
  query: listQuery,
  success: {
    status: 200,
    schema: Page(
      Exact({
        id: Type.String({ description: 'The toolCallId' }),
        conversationId: Type.String(),
        source: Type.String({ description: 'Of the conversation' }),
        input: Type.Unknown(),
        output: Type.Unknown(),
        status: OneOf(['pending', 'success', 'error', 'ignored']),
        createdAt: IsoTime,
        endedAt: Nullable(IsoTime),
      }),
    ),
  },
  errors: ['VALIDATION_INVALID_CURSOR'],
})

export const listProcedureRuns = endpoint({
  method: 'GET',
  path: '/agents/{agentId}/procedures/{procedureId}/runs',
  name: 'listProcedureRuns',
  tag: 'Procedures',
  summary: 'List the last runs of a procedure',
  description: 'Newest first.',
  scope: 'conversations:read',
  query: listQuery,
  success: {
    status: 200,
    schema: Page(
      Exact({
        id: Type.String(),
        conversationId: Type.String(),
        source: Type.String({ description: 'Of the conversation' }),
        status: OneOf(['running', 'completed', 'failed', 'abandoned']),
        startedAt: IsoTime,
        endedAt: Nullable(IsoTime),
      }),
    ),
  },
  errors: ['VALIDATION_INVALID_CURSOR'],
})
