import Type from 'typebox'
import { type LeadInput, refuseLead } from '../actions/builtin/collect-lead.ts'
import { Exact, endpoint, Nullable, OneOf, Success } from '../http/contract.ts'
import {
  Appearance,
  ConversationSummary,
  LARGEST_UPLOAD_BYTES,
  MOST_FILES,
  VisibleConversation,
} from './talk/schema.ts'

/**
 * The requests of the chat in a visitor's browser, below /api/widget. They concern one public agent and need no API
 * key. A visitor is identified by a secret: 32 random bytes that the browser generates, encoded as 43 characters of
 * base64url and sent as `Authorization: Bearer <secret>`, or `Bearer signed.<secret>` once the site has signed the
 * visitor in. Conversations belong to the visitor who started them.
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

const visitorErrors = ['RESOURCE_NOT_FOUND', 'VISITOR_IDENTITY_INVALID'] as const

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
})

export const identifyVisitor = endpoint({
  method: 'POST',
  path: '/agents/{agentId}/identity',
  name: 'identifyVisitor',
  tag,
  summary: 'Sign a visitor in whom the site vouches for',
  description:
    'The token is a JSON Web Token that the server of the site has signed (HS256) with the secret of the agent: `sub` the id of the user, `exp` within 24 hours, `name` and `email` where known. It belongs to the first visitor who brings it. For 24 hours, `Bearer signed.<secret>` then is that user, whose conversations are there in every browser; what the visitor wrote before becomes theirs.',
  scope,
  params: AgentParams,
  body: Exact({ token: Type.String({ minLength: 1, maxLength: 4000 }) }),
  success: { status: 201, schema: Exact({ data: Exact({ userId: Type.String() }) }) },
  errors: [...visitorErrors, 'VISITOR_NOT_SERVED'],
})

const Page = Type.Optional(
  Type.String({
    maxLength: 8192,
    description: 'Address of the page that embeds the chat; kept without query and fragment',
  }),
)

export const writeMessage = endpoint({
  method: 'POST',
  path: '/agents/{agentId}/messages',
  name: 'writeVisitorMessage',
  tag,
  summary: "Store a visitor's message and have it answered",
  description:
    'The message is stored at once and once: the same messageId again answers what it did the first time, and asks again for an answer that was stopped or has failed, as often as the limit of the agent for one address allows, and ten times at most. Without a conversationId, or with that of one that has ended, it begins a conversation. While a person has the conversation, or it is paused, the agent is silent (answering: false).',
  scope,
  params: AgentParams,
  body: Exact(
    {
      messageId: Type.String({
        pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
        refusal: 'Must be a UUID in small letters.',
        description: 'Made by the browser, new for each message',
      }),
      message: Type.String({ maxLength: 8000, description: 'May be empty beside attachments' }),
      attachments: Type.Optional(
        Type.Array(Type.String(), {
          maxItems: MOST_FILES,
          description: 'Ids of files that this visitor has uploaded (…/attachments)',
        }),
      ),
      conversationId: Type.Optional(Type.String()),
      voice: Type.Optional(Type.Boolean({ description: 'It was spoken, in voice mode' })),
      page: Page,
    },
    { rule: refuseEmpty },
  ),
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

function refuseEmpty({ message, attachments = [] }: { message: string; attachments?: string[] }) {
  return message === '' && attachments.length === 0 ? { message: 'Must not be empty.' } : null
}

export const uploadVisitorFile = endpoint({
  method: 'POST',
  path: '/agents/{agentId}/attachments',
  name: 'uploadVisitorFile',
  tag,
  summary: "Upload a file for the visitor's next message",
  description:
    'multipart/form-data with the field `file`, at most 10 MB: pictures, PDF, documents, text, sound, video, archives. Taken while `styles.chat.showAttachments` is set; 30 files in ten minutes from one address. What no message has taken after two days is removed.',
  scope,
  params: AgentParams,
  multipart: { fields: Exact({}), file: 'file', maxBytes: LARGEST_UPLOAD_BYTES },
  success: {
    status: 201,
    schema: Exact({
      data: Exact({
        id: Type.String(),
        name: Type.String(),
        type: Type.String(),
        size: Type.Integer(),
      }),
    }),
  },
  errors: [...visitorErrors, 'ATTACHMENT_LIMIT_EXCEEDED', 'VISITOR_NOT_SERVED'],
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
  streams: Type.Unknown(),
  errors: visitorErrors,
})

export const followConversation = endpoint({
  method: 'GET',
  path: '/agents/{agentId}/conversations/{conversationId}/events',
  name: 'followVisitorConversation',
  tag,
  summary: 'Be told when there is something new in the conversation',
  description:
    'Server-sent events: `version` with {"version"}, now and at every change: a takeover, a message of a person, a waiting visitor for whom nobody is there any more. Read the conversation when the version is another than the one shown. Ends after an hour.',
  scope,
  params: ConversationParams,
  success: { status: 204, schema: Type.Unsafe<undefined>({}), description: 'Never' },
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
  description:
    'When no other action waits, the agent goes on from the results (answering: true). It counts towards the limit of the agent for one address: a result that is refused (429) may be sent again later.',
  scope,
  params: ConversationParams,
  body: Exact({ toolCallId: Type.String(), output: Type.Optional(Type.Unknown()) }),
  // Models read a third of this.
  bodyLimit: 65_536,
  success: { status: 200, schema: Exact({ data: Exact({ answering: Type.Boolean() }) }) },
  errors: [...visitorErrors, 'RESOURCE_TOOL_CALL_NOT_FOUND', 'VISITOR_NOT_SERVED'],
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

export const askForPerson = endpoint({
  method: 'POST',
  path: '/agents/{agentId}/person',
  name: 'askForPerson',
  tag,
  summary: 'Ask for a person of the team',
  description:
    'Opens a ticket in the conversation, or in a new one, while the agent has an enabled escalate action for the widget. `help` of the conversation then says who is there, and when.',
  scope,
  params: AgentParams,
  body: Exact({ conversationId: Type.Optional(Type.String()), page: Page }),
  success: { status: 201, schema: Exact({ data: Exact({ conversationId: Type.String() }) }) },
  errors: [...visitorErrors, 'VISITOR_NOT_SERVED'],
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
