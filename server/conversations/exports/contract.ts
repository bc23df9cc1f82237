import Type from 'typebox'
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
  TaggedUnion,
} from '../../platform/http/contract.ts'
import { Conversation, Message } from '../records/schema.ts'
import { searchConversations } from '../search/contract.ts'

const Output = TaggedUnion('status', [
  Exact({ status: Type.Literal('success'), data: Type.Optional(Type.Unknown()) }),
  Exact({ status: Type.Literal('error'), error: Type.Optional(Type.String()) }),
  Exact({ status: Type.Literal('pending') }),
  Exact({ status: Type.Literal('ignored') }),
])
const call = { toolCallId: Type.String(), toolName: Type.String() }

/** service-api, "Exported conversation": calls have no input, and results have a shape. */
const ExportedMessage = Exact({
  ...Message.properties,
  parts: Type.Array(
    TaggedUnion('type', [
      Exact({ type: Type.Literal('text'), text: Type.String() }),
      Exact({ type: Type.Literal('tool-call'), ...call }),
      Exact({ type: Type.Literal('tool-result'), ...call, output: Output }),
    ]),
  ),
})

const { cursor: _cursor, limit: _limit, ...filters } = searchConversations.query.properties

export const exportFoundConversations = endpoint({
  method: 'GET',
  path: '/agents/{agentId}/conversations/search/export',
  name: 'exportFoundConversations',
  tag: 'Conversations',
  summary: 'Export the conversations that a search finds, with their messages',
  description:
    'Returns all results, with the filters and in the order of the search. The response is NDJSON: lines of the type `conversation`, in the format of the conversation export, and a last line of the type `end` with the counts. Without that line, the response was cut off.',
  scope: 'conversations:read',
  params: Exact({ agentId: Type.String({ minLength: 1 }) }),
  query: Exact(filters),
  success: { status: 200, schema: Type.Object({ type: OneOf(['conversation', 'end']) }) },
  lines: true,
  errors: ['VALIDATION_INVALID_DATE_RANGE'],
})

export const exportConversations = endpoint({
  method: 'GET',
  path: '/agents/{agentId}/conversations/export',
  name: 'exportConversations',
  unknownFields: 'ignored',
  tag: 'Conversations',
  summary: 'Export the conversations of all sources with their messages',
  description:
    'Newest first, by creation. Results of actions are reduced to `{status, data | error}`, and inputs are left out. With `conversationId`, the other filters are ignored: the page contains that conversation, or nothing. A page with very long conversations may contain fewer items than `limit`.',
  scope: 'conversations:read',
  params: Exact({ agentId: Type.String({ minLength: 1 }) }),
  query: Exact({
    cursor: Type.Optional(Cursor),
    limit: Limit,
    conversationId: Type.Optional(Type.String({ minLength: 1, description: 'Only this conversation' })),
    source: Type.Optional(CommaList('sources such as API or Email')),
    startDate: Type.Optional(DayOrTime('Created at or after')),
    endDate: Type.Optional(DayOrTime('Created at or before')),
    include: OneOf(['messages', 'summary'], {
      default: 'messages',
      description: '`summary` omits the messages',
    }),
  }),
  success: {
    status: 200,
    schema: Page(
      Exact({
        ...Conversation.properties,
        source: Type.String(),
        embedOrigin: Nullable(Type.String()),
        messages: Type.Optional(Type.Array(ExportedMessage)),
      }),
    ),
  },
  errors: ['VALIDATION_INVALID_CURSOR', 'VALIDATION_INVALID_DATE_RANGE'],
})
