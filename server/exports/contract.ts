import Type from 'typebox'
import { Conversation, Message } from '../conversations/schema.ts'
import {
  CommaList,
  Cursor,
  DayOrTime,
  Exact,
  endpoint,
  Limit,
  Nullable,
  OneOf,
  Page,
} from '../http/contract.ts'

export const exportConversations = endpoint({
  method: 'GET',
  path: '/agents/{agentId}/conversations/export',
  name: 'exportConversations',
  tag: 'Conversations',
  summary: 'Export the conversations of all sources with their messages',
  description:
    'Newest first, by creation. Results of actions are reduced to `{status, data | error}`, and inputs are left out. With `conversationId` the other filters do not count: the page holds that conversation, or nothing. A page with very long conversations may hold fewer items than `limit`.',
  scope: 'conversations:read',
  params: Exact({ agentId: Type.String({ minLength: 1 }) }),
  query: Exact(
    {
      cursor: Type.Optional(Cursor),
      limit: Limit,
      conversationId: Type.Optional(Type.String({ minLength: 1, description: 'Only this one' })),
      source: Type.Optional(CommaList('sources such as API or Email')),
      startDate: Type.Optional(DayOrTime('Created at or after')),
      endDate: Type.Optional(DayOrTime('Created at or before')),
      include: OneOf(['messages', 'summary'], {
        default: 'messages',
        description: '`summary` leaves the messages out',
      }),
    },
    { additionalProperties: true },
  ),
  success: {
    status: 200,
    schema: Page(
      Exact({
        ...Conversation.properties,
        source: Type.String(),
        embedOrigin: Nullable(Type.String()),
        messages: Type.Optional(Type.Array(Message)),
      }),
    ),
  },
  errors: ['AGENT_NOT_FOUND', 'VALIDATION_INVALID_CURSOR', 'VALIDATION_INVALID_DATE_RANGE'],
})
