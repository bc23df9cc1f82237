import Type from 'typebox'
import { Conversation } from '../conversations/schema.ts'
import { Cursor, Exact, endpoint, Nullable, OneOf } from '../http/contract.ts'

const commaList = (values: string, description = '') =>
  Type.Optional(
    Type.String({ maxLength: 2048, description: `Comma-separated${description}: ${values}`, minLength: 1 }),
  )
const date = (description: string) =>
  Type.Optional(
    Type.String({
      description: `${description}; YYYY-MM-DD (UTC, the end included) or an ISO 8601 date-time`,
    }),
  )

export const searchConversations = endpoint({
  method: 'GET',
  path: '/agents/{agentId}/conversations/search',
  name: 'searchConversations',
  tag: 'Conversations',
  summary: 'Search the conversations of all sources',
  description:
    'With `query`, the best hits come first, each with a snippet; without it, the most recently active. Filters combine with AND, the values of one with OR. Found are conversations created since the 1st day of the month 12 months ago (UTC), a few seconds after each message. A page may hold fewer items than `limit`, even none, while `hasMore` is true: keep paging.',
  scope: 'conversations:read',
  params: Exact({ agentId: Type.String({ minLength: 1 }) }),
  query: Exact(
    {
      query: Type.Optional(
        Type.String({
          maxLength: 512,
          description:
            'Every word must stand in the title or a message; quotes hold phrases; the last word may be the beginning of one',
        }),
      ),
      source: commaList('sources such as API or Email'),
      sentiment: commaList('positive, neutral, negative, or unspecified for none'),
      topic: commaList('names of topics, or unspecified for none'),
      userId: commaList('user ids'),
      activityState: commaList('ongoing, ended, taken_over, paused'),
      feedback: commaList('positive, negative', ' ratings of messages'),
      escalated: Type.Optional(OneOf(['true'], { description: 'Only those with a ticket or a takeover' })),
      actionType: commaList('types of actions that ran'),
      tool: commaList('names of actions that were called'),
      toolOutcome: commaList('success, error, pending, ignored; of the actions in `tool` when that is given'),
      procedure: commaList('names of procedures that ran'),
      procedureOutcome: commaList(
        'running, completed, failed, abandoned; of the procedures in `procedure` when that is given',
      ),
      hasVoice: Type.Optional(OneOf(['true', 'false'])),
      startDate: date('Created at or after'),
      endDate: date('Created at or before'),
      updatedAfter: date('Last active at or after'),
      updatedBefore: date('Last active at or before'),
      cursor: Type.Optional(Cursor),
      limit: Type.Integer({ minimum: 1, maximum: 25, default: 25, description: 'Items on a page' }),
    },
    { additionalProperties: true },
  ),
  success: {
    status: 200,
    schema: Exact({
      data: Type.Array(
        Exact({
          ...Conversation.properties,
          source: Type.String(),
          embedOrigin: Nullable(Type.String()),
          snippet: Nullable(
            Exact({
              speaker: OneOf(['user', 'assistant', 'human_agent']),
              highlights: Type.Array(Exact({ value: Type.String(), isHit: Type.Boolean() })),
            }),
          ),
        }),
      ),
      pagination: Exact({ cursor: Nullable(Type.String()), hasMore: Type.Boolean() }),
    }),
  },
  errors: ['AGENT_NOT_FOUND', 'VALIDATION_INVALID_CURSOR', 'VALIDATION_INVALID_DATE_RANGE'],
})
