import Type from 'typebox'
import { Cursor, Exact, endpoint, Limit, Nullable, Page } from '../http/contract.ts'
import { ChatAnswer, Conversation, ConversationWithMessages, Message, UserId } from './schema.ts'

const Id = Type.String({ minLength: 1 })
const agentParams = Exact({ agentId: Id })
const conversationParams = Exact({ agentId: Id, conversationId: Id })
const paging = { cursor: Type.Optional(Cursor), limit: Limit }

const DAY_OR_TIME = 'YYYY-MM-DD (UTC) or an ISO 8601 date-time'

export const chat = endpoint({
  method: 'POST',
  path: '/agents/{agentId}/chat',
  name: 'chat',
  tag: 'Chat',
  summary: 'Send a message to an agent',
  description:
    'Answers as a server-sent event stream (the default) or, with `stream: false`, as one JSON body. The user message is stored before the model is called, and the reply is made by the server, not by the connection: a client that goes away loses nothing.',
  scope: 'chat',
  params: agentParams,
  body: Exact({
    message: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 100_000,
        description: 'Omit it to continue after a client action result',
      }),
    ),
    conversationId: Type.Optional(
      Type.String({ minLength: 1, description: 'Omit it to start a new conversation' }),
    ),
    stream: Type.Boolean({ default: true }),
    userId: Type.Optional(UserId),
  }),
  success: { status: 200, schema: ChatAnswer },
  streams: true,
  errors: [
    'AGENT_NOT_FOUND',
    'RESOURCE_NOT_FOUND',
    'CHAT_CREDITS_EXHAUSTED',
    'CHAT_AGENT_CREDITS_EXHAUSTED',
    'CHAT_MODEL_NOT_ALLOWED',
    'CHAT_CONVERSATION_NOT_ONGOING',
    'CHAT_CONVERSATION_BUSY',
    'CHAT_NOTHING_TO_CONTINUE',
    'CHAT_PROVIDER_ERROR',
    'SERVICE_OVERLOADED',
  ],
})

export const listConversations = endpoint({
  method: 'GET',
  path: '/agents/{agentId}/conversations',
  name: 'listConversations',
  tag: 'Conversations',
  summary: 'List the conversations created through the API',
  description: 'Newest first, by creation.',
  scope: 'conversations:read',
  params: agentParams,
  query: Exact(
    {
      ...paging,
      startDate: Type.Optional(Type.String({ description: `Created at or after: ${DAY_OR_TIME}` })),
      endDate: Type.Optional(
        Type.String({ description: `Created at or before: ${DAY_OR_TIME}; a day is included` }),
      ),
    },
    { additionalProperties: true },
  ),
  success: { status: 200, schema: Page(Conversation) },
  errors: ['AGENT_NOT_FOUND', 'VALIDATION_INVALID_CURSOR', 'VALIDATION_INVALID_DATE_RANGE'],
})

export const listUserConversations = endpoint({
  method: 'GET',
  path: '/agents/{agentId}/users/{userId}/conversations',
  name: 'listUserConversations',
  tag: 'Conversations',
  summary: "List one user's conversations created through the API",
  description:
    'Most recently active first. A conversation that becomes active while you page moves to the front.',
  scope: 'conversations:read',
  params: Exact({ agentId: Id, userId: UserId }),
  query: Exact(paging, { additionalProperties: true }),
  success: { status: 200, schema: Page(Conversation) },
  errors: ['AGENT_NOT_FOUND', 'VALIDATION_INVALID_CURSOR'],
})

export const readConversation = endpoint({
  method: 'GET',
  path: '/agents/{agentId}/conversations/{conversationId}',
  name: 'readConversation',
  tag: 'Conversations',
  summary: 'Read one conversation with its most recent messages',
  description: 'pagination.cursor is for the messages endpoint, to fetch older messages.',
  scope: 'conversations:read',
  params: conversationParams,
  success: {
    status: 200,
    schema: Exact({
      data: ConversationWithMessages,
      pagination: Exact({
        cursor: Nullable(Type.String()),
        hasMore: Type.Boolean(),
        total: Type.Integer({ minimum: 0, description: 'Messages in the conversation' }),
      }),
    }),
  },
  errors: ['AGENT_NOT_FOUND', 'RESOURCE_NOT_FOUND'],
})

export const listMessages = endpoint({
  method: 'GET',
  path: '/agents/{agentId}/conversations/{conversationId}/messages',
  name: 'listMessages',
  tag: 'Conversations',
  summary: 'List the messages of a conversation',
  description: 'Pages go back from the newest message; inside a page messages are oldest first.',
  scope: 'conversations:read',
  params: conversationParams,
  query: Exact(paging, { additionalProperties: true }),
  success: { status: 200, schema: Page(Message) },
  errors: ['AGENT_NOT_FOUND', 'RESOURCE_NOT_FOUND', 'VALIDATION_INVALID_CURSOR'],
})
