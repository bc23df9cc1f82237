import Type from 'typebox'
import { Answer, Question, Source } from '../knowledge/sources/schema.ts'
import {
  Cursor,
  DayOrTime,
  Exact,
  endpointsOf,
  Limit,
  Nullable,
  OneOf,
  Page,
  Success,
} from '../platform/http/contract.ts'
import {
  ChatAnswer,
  ChatErrors,
  Conversation,
  ConversationWithMessages,
  Message,
  StreamEvent,
  UserId,
} from './records/schema.ts'

const endpoint = endpointsOf('Conversations')
const inChat = endpointsOf('Chat')

const Id = Type.String({ minLength: 1 })
const paging = { cursor: Type.Optional(Cursor), limit: Limit }

const includeServerActions = Type.Boolean({
  default: false,
  description:
    'Also show the calls that the service runs itself, with their results; each part and event of them has `providerExecuted: true`',
})

const ChatBody = Exact(
  {
    message: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 100_000,
        description: 'Omit it to continue after a client action result',
        refusal: 'Must be text. Images and files in a message are not supported yet.',
      }),
    ),
    conversationId: Type.Optional(
      Type.String({ minLength: 1, description: 'Omit it to start a new conversation' }),
    ),
    parentConversationId: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'When a conversation starts: the earlier conversation that it continues, whose summary the agent gets. One that has a user id can only be continued with the same `userId`.',
      }),
    ),
    stream: Type.Boolean({ default: true }),
    userId: Type.Optional(UserId),
    includeServerActions,
  },
  {
    rule: ({ message, conversationId }: { message?: string; conversationId?: string }) =>
      (message ?? conversationId) === undefined
        ? { message: 'This field is required to start a conversation.' }
        : null,
  },
)

export const chat = inChat({
  method: 'POST',
  path: '/agents/{agentId}/chat',
  name: 'chat',
  unknownFields: 'ignored',
  summary: 'Send a message to an agent',
  description:
    'Responds with a server-sent event stream (the default) or, with `stream: false`, with one JSON body. The user message is stored before the model is called, and the reply is generated independently of the connection, so a client that disconnects loses nothing. A `message` has at most 100,000 characters and the body at most 1 MiB (413); these are limits of Parley, which the published service does not document.',
  scope: 'chat',
  body: ChatBody,
  success: { status: 200, schema: ChatAnswer },
  streams: StreamEvent,
  errors: [...ChatErrors, 'CHAT_NOTHING_TO_CONTINUE'],
})

export const retry = inChat({
  method: 'POST',
  path: '/agents/{agentId}/conversations/{conversationId}/retry',
  name: 'retry',
  unknownFields: 'ignored',
  summary: 'Answer a message again',
  description:
    'Cuts the conversation at the given assistant message and answers the user message before it again. The earlier messages stay until the new answer is complete, so a failure loses nothing.',
  scope: 'chat',
  body: Exact({
    messageId: Type.String({ minLength: 1, description: 'An assistant message of the conversation' }),
    stream: Type.Boolean({ default: true }),
    includeServerActions,
  }),
  success: { status: 200, schema: ChatAnswer },
  streams: StreamEvent,
  errors: [...ChatErrors, 'CHAT_RETRY_MESSAGE_NOT_FOUND', 'CHAT_RETRY_NO_USER_MESSAGE'],
})

export const reattach = inChat({
  method: 'GET',
  path: '/agents/{agentId}/conversations/{conversationId}/stream',
  name: 'reattach',
  summary: 'Follow the running reply',
  description:
    'Sends the events of the running reply from its start or, with the header `Last-Event-ID`, after that event. Returns 204 without a body if no reply is running: the stored messages are then complete.',
  scope: 'chat',
  query: Exact({ includeServerActions }),
  success: { status: 204, schema: Type.Unsafe<undefined>({}), description: 'No reply is running' },
  streams: StreamEvent,
})

export const stop = inChat({
  method: 'POST',
  path: '/agents/{agentId}/conversations/{conversationId}/stop',
  name: 'stop',
  summary: 'Stop the running reply',
  description:
    'The text so far is kept as the answer. `stopped` is false if no reply was running; repeating the request does no harm.',
  scope: 'chat',
  success: { status: 200, schema: Exact({ data: Exact({ stopped: Type.Boolean() }) }) },
})

export const submitToolResult = inChat({
  method: 'POST',
  path: '/agents/{agentId}/conversations/{conversationId}/tool-result',
  name: 'submitToolResult',
  summary: 'Submit the result of a client action',
  description:
    'Each call accepts one result, within 24 hours. When all calls of the answer have one, continue with POST …/chat without a message.',
  scope: 'chat',
  body: Exact({
    toolCallId: Type.String({ minLength: 1 }),
    output: Type.Optional(Type.Unknown({ description: 'Any JSON value' })),
  }),
  success: { status: 200, schema: Exact({ data: Success }) },
  errors: ['RESOURCE_TOOL_CALL_NOT_FOUND'],
})

export const updateConversation = endpoint({
  method: 'PATCH',
  path: '/agents/{agentId}/conversations/{conversationId}',
  name: 'updateConversation',
  summary: 'Pause or resume a conversation',
  description: 'The agent does not answer in a paused conversation. A running reply is completed.',
  scope: 'conversations:write',
  body: Exact({ paused: Type.Boolean() }),
  success: {
    status: 200,
    schema: Exact({ data: Exact({ id: Type.String(), status: OneOf(['ongoing', 'paused']) }) }),
  },
  errors: ['CHAT_CONVERSATION_NOT_ONGOING'],
})

export const rateMessage = endpoint({
  method: 'PATCH',
  path: '/agents/{agentId}/conversations/{conversationId}/messages/{messageId}/feedback',
  name: 'rateMessage',
  summary: 'Rate an answer',
  description: 'null removes the rating.',
  scope: 'conversations:write',
  body: Exact({ feedback: Nullable(OneOf(['positive', 'negative'])) }),
  success: { status: 200, schema: Exact({ data: Message }) },
  errors: ['RESOURCE_MESSAGE_NOT_FOUND', 'RESOURCE_MESSAGE_NOT_ASSISTANT'],
})

export const correctAnswer = endpoint({
  method: 'POST',
  path: '/agents/{agentId}/conversations/{conversationId}/messages/{messageId}/correction',
  name: 'correctAnswer',
  audit: 'source.create',
  summary: 'Correct an answer',
  description:
    'The correction becomes a source of questions and answers, linked to the message, and takes precedence over other passages when the same is asked again. The question is the one before the message, unless another one is sent. A second correction of a message changes the source of the first. The answer that the agent gave is refused as its own correction, and so is one that says that there is no answer.',
  scope: 'sources:write',
  body: Exact({ answer: Answer, question: Type.Optional(Question) }),
  success: { status: 201, schema: Source },
  errors: [
    'RESOURCE_MESSAGE_NOT_FOUND',
    'RESOURCE_MESSAGE_NOT_ASSISTANT',
    'SOURCE_NOT_FOUND',
    'SOURCE_SIZE_LIMIT_EXCEEDED',
  ],
})

export const listConversations = endpoint({
  method: 'GET',
  path: '/agents/{agentId}/conversations',
  name: 'listConversations',
  unknownFields: 'ignored',
  summary: 'List the conversations created through the API',
  description: 'Newest first, by creation.',
  scope: 'conversations:read',
  query: Exact({
    ...paging,
    startDate: Type.Optional(DayOrTime('Created at or after')),
    endDate: Type.Optional(DayOrTime('Created at or before')),
  }),
  success: { status: 200, schema: Page(Conversation) },
  errors: ['VALIDATION_INVALID_CURSOR', 'VALIDATION_INVALID_DATE_RANGE'],
})

export const listUserConversations = endpoint({
  method: 'GET',
  path: '/agents/{agentId}/users/{userId}/conversations',
  name: 'listUserConversations',
  unknownFields: 'ignored',
  summary: "List one user's conversations created through the API",
  description:
    'Most recently active first. A conversation that becomes active while you page moves to the front.',
  scope: 'conversations:read',
  params: Exact({ agentId: Id, userId: UserId }),
  query: Exact(paging),
  success: { status: 200, schema: Page(Conversation) },
  errors: ['VALIDATION_INVALID_CURSOR'],
})

export const readConversation = endpoint({
  method: 'GET',
  path: '/agents/{agentId}/conversations/{conversationId}',
  name: 'readConversation',
  unknownFields: 'ignored',
  summary: 'Read one conversation with its most recent messages',
  description: 'pagination.cursor is for the messages endpoint, to fetch older messages.',
  scope: 'conversations:read',
  query: Exact({ includeServerActions }),
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
})

export const listMessages = endpoint({
  method: 'GET',
  path: '/agents/{agentId}/conversations/{conversationId}/messages',
  name: 'listMessages',
  unknownFields: 'ignored',
  summary: 'List the messages of a conversation',
  description: 'Pages go back from the newest message; within a page, messages are oldest first.',
  scope: 'conversations:read',
  query: Exact({ ...paging, includeServerActions }),
  success: { status: 200, schema: Page(Message) },
  errors: ['VALIDATION_INVALID_CURSOR'],
})
