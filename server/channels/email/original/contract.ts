import Type from 'typebox'
import { ticketParams } from '../../../inbox/tickets/schema.ts'
import { Exact, endpoint, Nullable } from '../../../platform/http/contract.ts'

const Id = Type.String({ minLength: 1 })

const Original = Exact({
  url: Type.String({ description: 'Valid for an hour' }),
  urlWithImages: Type.String(),
  hasRemoteImages: Type.Boolean(),
})

export const readOriginal = endpoint({
  method: 'GET',
  path: '/agents/{agentId}/helpdesk/tickets/{ticketNumber}/messages/{messageId}/original',
  name: 'readOriginalMail',
  tag: 'Helpdesk',
  summary: 'Where the HTML of a mail can be seen',
  description:
    'Of messages whose `metadata.mail.hasHtml` is true. The page runs nothing and may be shown in a frame of this service. Pictures of other servers, which tell their sender who reads, are only loaded by `urlWithImages`.',
  scope: 'helpdesk:read',
  params: Exact({ ...ticketParams.properties, messageId: Id }),
  success: {
    status: 200,
    schema: Original,
  },
  errors: ['RESOURCE_NOT_FOUND'],
})

const Person = Exact({ address: Type.String(), name: Nullable(Type.String()) })
const People = Type.Optional(Type.Array(Person))

export const listConversationMails = endpoint({
  method: 'GET',
  path: '/agents/{agentId}/conversations/{conversationId}/mails',
  name: 'listConversationMails',
  tag: 'Conversations',
  summary: 'Who wrote and received the mails of a conversation',
  description:
    'For each message that is a mail of the customer, of your team or, once it was sent, of the agent. `hasHtml`: what it looks like can be shown.',
  scope: 'conversations:read',
  success: {
    status: 200,
    schema: Type.Array(
      Exact({
        messageId: Type.String(),
        from: Type.Optional(Nullable(Person)),
        to: People,
        cc: People,
        bcc: People,
        hasHtml: Type.Optional(Type.Boolean()),
      }),
    ),
  },
  errors: ['RESOURCE_NOT_FOUND'],
})

export const readConversationOriginal = endpoint({
  method: 'GET',
  path: '/agents/{agentId}/conversations/{conversationId}/messages/{messageId}/original',
  name: 'readConversationOriginal',
  tag: 'Conversations',
  summary: 'Where the HTML of a mail of a conversation can be seen',
  description: 'The same as for a message of a ticket.',
  scope: 'conversations:read',
  success: { status: 200, schema: Original },
  errors: ['RESOURCE_NOT_FOUND'],
})
