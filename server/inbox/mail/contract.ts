import Type from 'typebox'
import { Exact, endpointsOf, IsoTime, Nullable } from '../../platform/http/contract.ts'
import {
  Author,
  Content,
  HeldAnswerId,
  Recipient,
  Recipients,
  Ticket,
  TicketMessage,
  ticketParams,
} from '../tickets/schema.ts'

const Id = Type.String({ minLength: 1 })
const endpoint = endpointsOf('Helpdesk')
const base = '/agents/{agentId}/helpdesk'
const ticket = `${base}/tickets/{ticketNumber}`

const { to: _to, ...Copies } = Recipients
const To = Type.Array(Recipient, {
  minItems: 1,
  maxItems: 50,
  uniqueItems: true,
  description: 'Addresses of the mail',
})
const Uploads = Type.Optional(
  Type.Array(Type.String({ minLength: 1 }), {
    maxItems: 10,
    uniqueItems: true,
    description: 'Ids of uploads',
  }),
)

const NewMail = {
  to: To,
  ...Copies,
  name: Type.Optional(
    Type.String({ minLength: 1, maxLength: 255, description: 'Of the person with the first address' }),
  ),
  subject: Type.String({ minLength: 1, maxLength: 500, pattern: '\\S', refusal: 'Must not be blank.' }),
  content: Content,
  ...Author,
  attachments: Uploads,
}

export const writeMail = endpoint({
  method: 'POST',
  path: `${base}/mails`,
  name: 'writeMail',
  summary: 'Write a mail to somebody',
  description:
    'Opens a ticket for the first address and sends the text as its first reply, from the mailbox of the agent. Answers come to the ticket.',
  scope: 'helpdesk:write',
  body: Exact(NewMail),
  success: { status: 201, schema: Ticket },
  errors: ['TEAM_MEMBER_NOT_FOUND', 'MESSAGE_CONTENT_NOT_RENDERABLE'],
})

const Forward = {
  to: To,
  ...Copies,
  note: Type.Optional(
    Type.String({ minLength: 1, maxLength: 10_000, description: 'Markdown that is put above it' }),
  ),
  messageId: Type.Optional(
    Type.String({ minLength: 1, description: 'A message of the ticket. Default: all of them' }),
  ),
  ...Author,
}

export const forwardTicket = endpoint({
  method: 'POST',
  path: `${ticket}/forward`,
  name: 'forwardTicket',
  summary: 'Forward a ticket by mail',
  description:
    'Sends a message of the ticket, or all that customer and team have written, with its files to any address. The customer of the ticket stays the same, and an answer to the mail becomes a ticket of its own. The ticket gets a note of it, whose `metadata.delivery` shows whether it was sent.',
  scope: 'helpdesk:write',
  params: ticketParams,
  body: Exact(Forward),
  success: { status: 201, schema: TicketMessage },
  errors: ['RESOURCE_NOT_FOUND', 'TEAM_MEMBER_NOT_FOUND'],
})

const Hold = Type.Integer({ minimum: 1, maximum: 60, default: 10 })

const HeldReply = Exact({
  id: Type.String(),
  authorId: Type.String(),
  content: Type.String({ description: 'Markdown' }),
  attachments: Type.Array(
    Exact({ id: Type.String(), name: Type.String(), size: Type.Integer({ minimum: 0 }) }),
  ),
  to: Type.Optional(Type.Array(Type.String())),
  cc: Type.Optional(Type.Array(Type.String())),
  bcc: Type.Optional(Type.Array(Type.String())),
  heldAnswerId: Type.Optional(Type.String()),
  dueAt: IsoTime,
  error: Nullable(Type.String({ description: 'Why it could not be sent; it waits to be taken back' })),
})

export const holdReply = endpoint({
  method: 'POST',
  path: `${ticket}/held-replies`,
  name: 'holdReply',
  summary: 'Reply to the customer in a few seconds',
  description:
    'Like a reply, but it becomes a message only after `holdSeconds`. Until then it can be taken back, and nothing of the ticket changes.',
  scope: 'helpdesk:write',
  params: ticketParams,
  body: Exact({
    content: Content,
    ...Author,
    attachments: Uploads,
    ...Recipients,
    heldAnswerId: HeldAnswerId,
    holdSeconds: Hold,
  }),
  success: { status: 201, schema: HeldReply },
  errors: [
    'RESOURCE_NOT_FOUND',
    'TEAM_MEMBER_NOT_FOUND',
    'MESSAGE_CONTENT_NOT_RENDERABLE',
    'CONVERSATION_NOT_TAKEN_OVER',
  ],
})

export const listHeldReplies = endpoint({
  method: 'GET',
  path: `${ticket}/held-replies`,
  name: 'listHeldReplies',
  summary: 'List the replies that are not sent yet',
  scope: 'helpdesk:read',
  params: ticketParams,
  success: { status: 200, schema: Type.Array(HeldReply) },
})

export const takeBackReply = endpoint({
  method: 'DELETE',
  path: `${ticket}/held-replies/{heldReplyId}`,
  name: 'takeBackReply',
  summary: 'Take a reply back before it is sent',
  description:
    'Returns the reply, so that its author can go on with it. Once it is sent, the response is 404.',
  scope: 'helpdesk:write',
  params: Exact({ ...ticketParams.properties, heldReplyId: Id }),
  success: { status: 200, schema: HeldReply },
  errors: ['RESOURCE_NOT_FOUND'],
})

const heldMails = `${base}/held-mails`

const HeldMail = Exact({
  ...HeldReply.properties,
  kind: Type.Union([Type.Literal('mail'), Type.Literal('forward')]),
  content: Type.String({ description: 'Markdown; of a forward, the note above it, which may be empty' }),
  ticketNumber: Nullable(
    Type.Integer({ description: 'Of a forward. A new mail opens its ticket when it is sent' }),
  ),
  subject: Type.Optional(Type.String()),
  name: Type.Optional(Type.String()),
  messageId: Type.Optional(Type.String()),
})

export const holdMail = endpoint({
  method: 'POST',
  path: heldMails,
  name: 'holdMail',
  summary: 'Write a mail to somebody in a few seconds',
  description:
    'Like a mail to somebody, but its ticket is opened and it is sent only after `holdSeconds`. Until then it can be taken back.',
  scope: 'helpdesk:write',
  body: Exact({ ...NewMail, holdSeconds: Hold }),
  success: { status: 201, schema: HeldMail },
  errors: ['TEAM_MEMBER_NOT_FOUND', 'MESSAGE_CONTENT_NOT_RENDERABLE'],
})

export const holdForward = endpoint({
  method: 'POST',
  path: `${ticket}/held-forwards`,
  name: 'holdForward',
  summary: 'Forward a ticket by mail in a few seconds',
  scope: 'helpdesk:write',
  params: ticketParams,
  body: Exact({ ...Forward, holdSeconds: Hold }),
  success: { status: 201, schema: HeldMail },
  errors: ['RESOURCE_NOT_FOUND', 'TEAM_MEMBER_NOT_FOUND'],
})

export const listHeldMails = endpoint({
  method: 'GET',
  path: heldMails,
  name: 'listHeldMails',
  summary: 'List the new mails and forwards that are not sent yet',
  scope: 'helpdesk:read',
  success: { status: 200, schema: Type.Array(HeldMail) },
})

export const takeBackMail = endpoint({
  method: 'DELETE',
  path: `${heldMails}/{heldMailId}`,
  name: 'takeBackMail',
  summary: 'Take a new mail or a forward back before it is sent',
  description: 'Returns it, so that its author can go on with it. Once it is sent, the response is 404.',
  scope: 'helpdesk:write',
  success: { status: 200, schema: HeldMail },
  errors: ['RESOURCE_NOT_FOUND'],
})
