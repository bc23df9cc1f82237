import Type from 'typebox'
import { type LeadInput, refuseLead } from '../../actions/builtin/collect-lead.ts'
import { Exact, endpointsOf, Nullable, OneOf, Success } from '../../platform/http/contract.ts'
import {
  Appearance,
  ConversationSummary,
  MAX_FILES,
  MAX_MESSAGE_LENGTH,
  MAX_UPLOAD_BYTES,
  VisibleConversation,
} from './talk/schema.ts'

/**
 * The requests of the chat in a visitor's browser, below /api/widget. They concern one public agent and need no API
 * key. A visitor is identified by a secret: 32 random bytes that the browser generates, encoded as 43 characters of
 * base64url and sent as `Authorization: Bearer <secret>`, or `Bearer signed.<secret>` once the site has signed the
 * visitor in. Conversations belong to the visitor who started them.
 */
const endpoint = endpointsOf('Widget')
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
  summary: 'Read the appearance and features of the chat',
  description: 'Needs no visitor. Only public agents are found.',
  scope,
  params: AgentParams,
  success: { status: 200, schema: Appearance },
})

export const identifyVisitor = endpoint({
  method: 'POST',
  path: '/agents/{agentId}/identity',
  name: 'identifyVisitor',
  summary: 'Sign in a visitor with a token of the site',
  description:
    'The token is a JSON Web Token that the server of the site has signed (HS256) with the secret of the agent, with the id of the user as `sub`, `exp` within 24 hours, and `name` and `email` if known. It belongs to the first visitor who presents it. For 24 hours, `Bearer signed.<secret>` then authenticates that user, whose conversations are available in every browser; what the visitor wrote before becomes theirs.',
  scope,
  params: AgentParams,
  body: Exact({ token: Type.String({ minLength: 1, maxLength: 4000 }) }),
  success: { status: 201, schema: Exact({ data: Exact({ userId: Type.String() }) }) },
  errors: [...visitorErrors, 'VISITOR_NOT_SERVED'],
})

const Page = Type.Optional(
  Type.String({
    maxLength: 8192,
    description: 'Address of the page that embeds the chat; stored without query and fragment',
  }),
)

export const writeMessage = endpoint({
  method: 'POST',
  path: '/agents/{agentId}/messages',
  name: 'writeVisitorMessage',
  summary: "Send a visitor's message",
  description:
    "The message is stored at once, and only once: repeating the messageId returns the same result and requests an answer again if it was stopped or has failed, as often as the agent's limit for one address permits, and ten times at most. Without a conversationId, or with that of an ended conversation, a new conversation starts. While a person has the conversation, or it is paused, the agent does not answer (answering: false).",
  scope,
  params: AgentParams,
  body: Exact(
    {
      messageId: Type.String({
        pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
        refusal: 'Must be a UUID in small letters.',
        description:
          'Created by the browser, a new one for each message; with another text or other files, it is refused',
      }),
      message: Type.String({
        maxLength: MAX_MESSAGE_LENGTH,
        description: 'May be empty if there are attachments',
      }),
      attachments: Type.Optional(
        Type.Array(Type.String(), {
          maxItems: MAX_FILES,
          description: 'Ids of files that this visitor has uploaded (…/attachments)',
        }),
      ),
      conversationId: Type.Optional(Type.String()),
      accepts: Type.Optional(
        Type.String({
          description:
            'The id of an answer with an `offer`, which the message accepts: the agent hands over. Of several messages that accept the same offer, the first is stored',
        }),
      ),
      voice: Type.Optional(Type.Boolean({ description: 'Whether it was spoken, in voice mode' })),
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
  summary: "Upload a file for the visitor's next message",
  description:
    'multipart/form-data with the field `file`, at most 10 MB: pictures, PDF, documents, text, sound, video, archives. Taken while `styles.chat.showAttachments` is set; 30 files in ten minutes from one address. What no message has taken after two days is removed.',
  scope,
  params: AgentParams,
  multipart: { fields: Exact({}), file: 'file', maxBytes: MAX_UPLOAD_BYTES },
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
  summary: "List the visitor's newest 20 conversations",
  scope,
  params: AgentParams,
  success: { status: 200, schema: Exact({ data: Type.Array(ConversationSummary) }) },
  errors: visitorErrors,
})

export const readVisitorConversation = endpoint({
  method: 'GET',
  path: '/agents/{agentId}/conversations/{conversationId}',
  name: 'readVisitorConversation',
  summary: 'Read a conversation of the visitor with its messages',
  scope,
  params: ConversationParams,
  success: { status: 200, schema: Exact({ data: VisibleConversation }) },
  errors: visitorErrors,
})

export const followAnswer = endpoint({
  method: 'GET',
  path: '/agents/{agentId}/conversations/{conversationId}/stream',
  name: 'followVisitorAnswer',
  summary: 'Follow the running answer',
  description:
    "Sends the server-sent events of chat, without those of the agent's own actions; with Last-Event-ID, the stream continues after that event. Returns 204 if no answer is running.",
  scope,
  params: ConversationParams,
  success: { status: 204, schema: Type.Unsafe<undefined>({}), description: 'No answer is running' },
  streams: Type.Unknown(),
  errors: visitorErrors,
})

export const followConversation = endpoint({
  method: 'GET',
  path: '/agents/{agentId}/conversations/{conversationId}/events',
  name: 'followVisitorConversation',
  summary: 'Follow the changes of a conversation',
  description:
    'Sends the server-sent event `version` with {"version"}, at once and after every change: a takeover, a message of a person, or when nobody is online any more for a waiting visitor. Read the conversation if the version differs from the one shown. The stream ends after an hour.',
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
  summary: 'Stop the running answer; its text so far is kept',
  scope,
  params: ConversationParams,
  success: { status: 200, schema: Exact({ data: Exact({ stopped: Type.Boolean() }) }) },
  errors: visitorErrors,
})

export const submitPageResult = endpoint({
  method: 'POST',
  path: '/agents/{agentId}/conversations/{conversationId}/tool-result',
  name: 'submitPageResult',
  summary: 'Submit the result of a client action that the page ran',
  description:
    "When no other action waits, the agent continues from the results (answering: true). The request counts towards the agent's limit for one address: a result that is refused (429) may be sent again later.",
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
  summary: 'Rate an answer, or remove the rating',
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
  summary: 'Ask for a person of the team',
  description:
    'Opens a ticket in the conversation, or in a new one, while the agent has an enabled escalate action for the widget. `help` of the conversation then says who is online, and when.',
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
  summary: 'Send the contact form',
  description: 'Accepted while the agent has an enabled collect-leads action for the widget.',
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
