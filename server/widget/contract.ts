import Type from 'typebox'
import { type LeadInput, refuseLead } from '../actions/collect-lead.ts'
import { Exact, endpoint, Nullable, OneOf, Success } from '../http/contract.ts'
import { Appearance, ConversationSummary, VisibleConversation } from './schema.ts'

/**
 * What the chat in a visitor's browser asks for, below /api/widget: one public agent, without an API key. A visitor is
 * whoever holds a secret: 32 random bytes that the browser makes itself, as 43 characters of base64url, sent as
 * `Authorization: Bearer <secret>`. Conversations belong to the visitor that began them.
 */
const tag = 'Widget'
const scope = null

const AgentParams = Exact({ agentId: Type.String() })
const ConversationParams = Exact({ agentId: Type.String(), conversationId: Type.String() })
const MessageParams = Exact({
  agentId: Type.String(),
  conversationId: Type.String(),
  messageId: Type.String(),
})

const visitorErrors = ['AGENT_NOT_FOUND', 'RESOURCE_NOT_FOUND'] as const

export const readAppearance = endpoint({
  method: 'GET',
  path: '/agents/{agentId}',
  name: 'readWidgetAppearance',
  tag,
  summary: 'What the chat looks like and offers',
  description: 'Needs no visitor. An agent that is not public is not found.',
  scope,
  params: AgentParams,
  success: { status: 200, schema: Appearance },
  errors: ['AGENT_NOT_FOUND'],
})

export const writeMessage = endpoint({
  method: 'POST',
  path: '/agents/{agentId}/messages',
  name: 'writeVisitorMessage',
  tag,
  summary: "Store a visitor's message and have it answered",
  description:
    'The message is stored at once and once: the same messageId again answers what it did the first time. Without a conversationId, or with that of one that has ended, it begins a conversation. While a person has the conversation, or it is paused, the agent is silent (answering: false).',
  scope,
  params: AgentParams,
  body: Exact({
    messageId: Type.String({
      pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
      refusal: 'Must be a UUID in small letters.',
      description: 'Made by the browser, new for each message',
    }),
    message: Type.String({ minLength: 1, maxLength: 8000 }),
    conversationId: Type.Optional(Type.String()),
    voice: Type.Optional(Type.Boolean({ description: 'It was spoken, in voice mode' })),
  }),
  success: {
    status: 201,
    schema: Exact({
      data: Exact({
        conversationId: Type.String(),
        messageId: Type.String(),
        answering: Type.Boolean({ description: 'Follow the answer with …/stream' }),
      }),
    }),
  },
  errors: [...visitorErrors, 'RESOURCE_DUPLICATE', 'VISITOR_NOT_SERVED'],
})

export const listVisitorConversations = endpoint({
  method: 'GET',
  path: '/agents/{agentId}/conversations',
  name: 'listVisitorConversations',
  tag,
  summary: "The visitor's newest 20 conversations",
  scope,
  params: AgentParams,
  success: { status: 200, schema: Exact({ data: Type.Array(ConversationSummary) }) },
  errors: visitorErrors,
})

export const readVisitorConversation = endpoint({
  method: 'GET',
  path: '/agents/{agentId}/conversations/{conversationId}',
  name: 'readVisitorConversation',
  tag,
  summary: 'A conversation of the visitor with its messages',
  scope,
  params: ConversationParams,
  success: { status: 200, schema: Exact({ data: VisibleConversation }) },
  errors: visitorErrors,
})

export const followAnswer = endpoint({
  method: 'GET',
  path: '/agents/{agentId}/conversations/{conversationId}/stream',
  name: 'followVisitorAnswer',
  tag,
  summary: 'Follow the answer that is being made',
  description:
    'Server-sent events as of chat, without what the actions of the agent do; Last-Event-ID goes on after that event. 204: none is being made.',
  scope,
  params: ConversationParams,
  success: { status: 204, schema: Type.Unsafe<undefined>({}), description: 'No answer is being made' },
  streams: true,
  errors: visitorErrors,
})

export const stopAnswer = endpoint({
  method: 'POST',
  path: '/agents/{agentId}/conversations/{conversationId}/stop',
  name: 'stopVisitorAnswer',
  tag,
  summary: 'Stop the answer that is being made; what was said is kept',
  scope,
  params: ConversationParams,
  success: { status: 200, schema: Exact({ data: Exact({ stopped: Type.Boolean() }) }) },
  errors: visitorErrors,
})

export const submitPageResult = endpoint({
  method: 'POST',
  path: '/agents/{agentId}/conversations/{conversationId}/tool-result',
  name: 'submitPageResult',
  tag,
  summary: 'The result of a client action that the page ran',
  description: 'When no other action waits, the agent goes on from the results (answering: true).',
  scope,
  params: ConversationParams,
  body: Exact({ toolCallId: Type.String(), output: Type.Optional(Type.Unknown()) }),
  // Models read a third of it.
  bodyLimit: 65_536,
  success: { status: 200, schema: Exact({ data: Exact({ answering: Type.Boolean() }) }) },
  errors: [...visitorErrors, 'RESOURCE_TOOL_CALL_NOT_FOUND'],
})

export const rateAnswer = endpoint({
  method: 'PATCH',
  path: '/agents/{agentId}/conversations/{conversationId}/messages/{messageId}/feedback',
  name: 'rateVisitorAnswer',
  tag,
  summary: 'Rate an answer, or take the rating back',
  scope,
  params: MessageParams,
  body: Exact({ feedback: Nullable(OneOf(['positive', 'negative'])) }),
  success: { status: 200, schema: Success },
  errors: [...visitorErrors, 'RESOURCE_MESSAGE_NOT_FOUND', 'RESOURCE_MESSAGE_NOT_ASSISTANT'],
})

export const leaveDetails = endpoint({
  method: 'POST',
  path: '/agents/{agentId}/leads',
  name: 'leaveDetails',
  tag,
  summary: 'Send the form by which the team can reach the visitor',
  description: 'Taken while the agent has an enabled collect-leads action for the widget.',
  scope,
  params: AgentParams,
  body: Exact(
    {
      name: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
      email: Type.Optional(
        Type.String({ format: 'email', maxLength: 254, refusal: 'Must be an e-mail address.' }),
      ),
      phone: Type.Optional(Type.String({ minLength: 1, maxLength: 50 })),
      conversationId: Type.Optional(Type.String()),
    },
    { rule: refuseDetails },
  ),
  success: { status: 201, schema: Success },
  errors: [...visitorErrors, 'VISITOR_NOT_SERVED'],
})

function refuseDetails(details: LeadInput): Record<string, string> | null {
  const problem = refuseLead(details)
  return problem ? { [details.phone === undefined ? 'email' : 'phone']: problem } : null
}
