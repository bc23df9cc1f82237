import Type from 'typebox'
import {
  CommaList,
  Cursor,
  DayOrTime,
  Exact,
  endpoint,
  Nullable,
  OneOf,
} from '../../platform/http/contract.ts'
import { Conversation, conversationStatuses } from '../records/schema.ts'
import { refuseEarly } from './query/searched-months.ts'

const OUTCOMES = ['success', 'error', 'pending', 'ignored']
const RUNS = ['running', 'completed', 'failed', 'abandoned']
const RATINGS = ['positive', 'negative']
const SENTIMENTS = ['positive', 'neutral', 'negative', 'unspecified']

export const searchConversations = endpoint({
  method: 'GET',
  path: '/agents/{agentId}/conversations/search',
  name: 'searchConversations',
  unknownFields: 'ignored',
  tag: 'Conversations',
  summary: 'Search the conversations of all sources',
  description:
    'With `query`, the best hits come first, each with a snippet; without it, the most recently active. Filters combine with AND, the values of one with OR. The search covers conversations created since the 1st day of the month 12 months ago (UTC), and includes messages after a few seconds. A page may contain fewer items than `limit`, even none, while `hasMore` is true: keep paging.',
  scope: 'conversations:read',
  params: Exact({ agentId: Type.String({ minLength: 1 }) }),
  query: Exact({
    query: Type.Optional(
      Type.String({
        maxLength: 512,
        description:
          'Every word must stand in the title or a message; quotes hold phrases; the last word may be the beginning of one',
      }),
    ),
    source: Type.Optional(CommaList('sources such as API or Email')),
    sentiment: Type.Optional(CommaList('unspecified stands for none', SENTIMENTS)),
    topic: Type.Optional(CommaList('names of topics, or unspecified for none')),
    userId: Type.Optional(CommaList('user ids')),
    activityState: Type.Optional(CommaList('where the conversation stands', conversationStatuses)),
    feedback: Type.Optional(CommaList('ratings of messages', RATINGS)),
    escalated: Type.Optional(
      OneOf(['true'], { description: 'Only conversations with a ticket or a takeover' }),
    ),
    actionType: Type.Optional(CommaList('types of actions that ran')),
    tool: Type.Optional(CommaList('names of actions that were called')),
    toolOutcome: Type.Optional(CommaList('of the actions in `tool` when that is given', OUTCOMES)),
    procedure: Type.Optional(CommaList('names of procedures that ran')),
    procedureOutcome: Type.Optional(CommaList('of the procedures in `procedure` when that is given', RUNS)),
    hasVoice: Type.Optional(OneOf(['true', 'false'])),
    startDate: Type.Optional(DayOrTime('Created at or after', { rule: refuseEarly })),
    endDate: Type.Optional(DayOrTime('Created at or before')),
    updatedAfter: Type.Optional(DayOrTime('Last active at or after')),
    updatedBefore: Type.Optional(DayOrTime('Last active at or before')),
    cursor: Type.Optional(Cursor),
    limit: Type.Integer({ minimum: 1, maximum: 25, default: 25, description: 'Items on a page' }),
  }),
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
  errors: ['VALIDATION_INVALID_CURSOR', 'VALIDATION_INVALID_DATE_RANGE'],
})
