import Type from 'typebox'
import { DayOrTime, Exact, IsoTime, Nullable, OneOf } from '../../platform/http/contract.ts'

export const statusCategories = ['new', 'on_you', 'on_customer', 'on_hold', 'closed', 'cancelled'] as const
export const priorities = ['none', 'low', 'normal', 'high', 'urgent'] as const
export const ticketChannels = [
  'helpdesk',
  'iframe',
  'email',
  'messaging',
  'api',
  'center_stage',
  'phone',
] as const

export const TicketNumber = Type.Integer({ minimum: 1, maximum: 2_147_483_647 })
const Id = Type.String({ minLength: 1 })
export const ticketParams = Exact({ agentId: Id, ticketNumber: TicketNumber })
/** The id of a team or a tag. */
export const Name = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: '\\S',
  refusal: 'Must not be blank.',
})
export const Color = Type.String({
  pattern: '^#[0-9a-fA-F]{6}$',
  refusal: 'Must be a colour such as #2563eb.',
})

/** Contract, section 8. */
export const Ticket = Exact({
  ticketNumber: Type.Integer({ minimum: 1 }),
  subject: Nullable(Type.String()),
  description: Nullable(Type.String()),
  statusCategory: OneOf(statusCategories),
  statusId: Type.String(),
  assigneeId: Nullable(Type.String()),
  customer: Exact({
    id: Nullable(Type.String()),
    name: Nullable(Type.String()),
    email: Nullable(Type.String()),
    phoneNumber: Nullable(Type.String()),
  }),
  metadata: Type.Record(Type.String(), Type.Unknown()),
  channel: Type.String(),
  conversationId: Nullable(Type.String()),
  teamId: Nullable(Type.String()),
  priority: OneOf(priorities),
  createdAt: IsoTime,
  updatedAt: IsoTime,
  lastMessageAt: Nullable(IsoTime),
  wakesAt: Type.Optional(
    Type.String({
      format: 'date-time',
      description: 'Of a snoozed ticket: when it returns to the team',
    }),
  ),
})

const { description: _description, metadata: _metadata, ...listed } = Ticket.properties
export const ListedTicket = Exact(listed)

const UUID = '[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}'
const status = `\\s*(?:${statusCategories.join('|')}|${UUID})\\s*`
/** Read with commaList(). */
export const StatusList = Type.String({
  maxLength: 2048,
  pattern: `^${status}(?:,${status})*$`,
  refusal: `Must be ids of statuses, or of: ${statusCategories.join(', ')}.`,
  description: 'Categories or ids of statuses, separated by commas',
})

const changes = {
  statusId: Type.Optional(Type.String({ minLength: 1, description: 'Alternative to statusCategory' })),
  statusCategory: Type.Optional(
    OneOf(statusCategories, {
      description: 'Sets the default status of the category. Alternative to statusId',
    }),
  ),
  assigneeId: Type.Optional(
    Nullable(Type.String({ minLength: 1, description: 'null: nobody. Alternative to assigneeEmail' })),
  ),
  assigneeEmail: Type.Optional(
    Type.String({ minLength: 1, description: 'Not case-sensitive. Alternative to assigneeId' }),
  ),
  teamId: Type.Optional(Nullable(Type.String({ minLength: 1 }))),
  priority: Type.Optional(OneOf(priorities)),
}

export const CreateTicket = Exact({
  subject: Type.String({ minLength: 1, maxLength: 500 }),
  description: Type.String({ minLength: 1, maxLength: 10_000 }),
  customer: Exact({
    email: Type.String({ format: 'email', maxLength: 254 }),
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
  }),
  ...changes,
  conversationId: Type.Optional(Type.String({ minLength: 1 })),
})

export const UpdateTicket = Exact({
  ...changes,
  wakesAt: Type.Optional(
    Nullable(
      DayOrTime(
        'Snoozes the ticket: it is on hold until then, at most a year ahead, or until the customer writes. null: no longer',
      ),
    ),
  ),
  conversationId: Type.Optional(Nullable(Type.String({ minLength: 1 }))),
})

const Sender = Exact({
  type: OneOf(['customer', 'agent', 'system']),
  id: Nullable(Type.String()),
  name: Nullable(Type.String()),
  email: Nullable(Type.String()),
})

export const Attachment = Exact({
  name: Type.String(),
  url: Type.String({ description: 'Valid for an hour' }),
  type: Type.String(),
  size: Type.Integer({ minimum: 0 }),
})

/** Contract, section 8. */
export const TicketMessage = Exact({
  id: Type.String(),
  type: OneOf(['reply', 'note', 'event']),
  sender: Type.Unsafe<{
    type: 'customer' | 'agent' | 'system'
    id: string | null
    name: string | null
    email: string | null
  } | null>({ anyOf: [Sender, { type: 'null' }] }),
  content: Nullable(Type.String({ description: 'HTML' })),
  contentText: Nullable(Type.String({ description: 'Markdown as it was written' })),
  attachments: Type.Array(Attachment),
  createdAt: IsoTime,
  metadata: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description:
        'Events: eventType (status_change, assign and others), statusFrom, statusTo, and as {id, name, email, type} assignedFrom, assignedTo, doneBy. Notes: mentions, and held {messageId, ungrounded, outcome} of an answer that was held for a person, with outcome {what, by, at} once a member has sent, changed or discarded it. Replies on their way to a customer: delivery {status, error}. Mails: mail {from, to, cc, bcc} with {address, name} of each person',
    }),
  ),
})

/** A reply as it is when it has been recorded (service-api, "Helpdesk message"). */
export const CreatedReply = Exact({
  ...TicketMessage.properties,
  type: Type.Literal('reply'),
  sender: Exact({
    type: Type.Literal('agent'),
    id: Type.String(),
    name: Type.String(),
    email: Type.String(),
  }),
  content: Type.String({ description: 'HTML' }),
  contentText: Type.String({ description: 'Markdown as it was submitted' }),
})

export const Author = {
  authorId: Type.Optional(Type.String({ minLength: 1, description: 'Either this or authorEmail' })),
  authorEmail: Type.Optional(Type.String({ minLength: 1, description: 'Not case-sensitive' })),
}

export const HeldAnswerId = Type.Optional(
  Type.String({
    minLength: 1,
    description: 'The note of a held answer that this reply sends, as it is or changed; it is recorded there',
  }),
)

export const Recipient = Type.String({
  format: 'email',
  maxLength: 254,
  refusal: 'Must be an e-mail address like ann@example.com.',
})

const addresses = (description: string) =>
  Type.Optional(
    Type.Array(Recipient, {
      maxItems: 50,
      uniqueItems: true,
      description,
    }),
  )

/** Of a reply that is a mail. */
export const Recipients = {
  to: addresses('Addresses of a mail. Default: the customer'),
  cc: addresses('Default: the other people of the last mail; an empty list leaves them out'),
  bcc: addresses('Seen by the team only'),
}

export const Content = Type.String({
  minLength: 1,
  description: 'GitHub-flavoured Markdown, 1 to 10000 characters after trimming; HTML in it is stripped',
})
