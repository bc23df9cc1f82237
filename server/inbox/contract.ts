import Type from 'typebox'
import {
  CommaList,
  Cursor,
  DayOrTime,
  Exact,
  endpointsOf,
  Limit,
  Nullable,
  OneOf,
  Page,
} from '../platform/http/contract.ts'
import {
  Author,
  Content,
  CreatedReply,
  CreateTicket,
  HeldAnswerId,
  ListedTicket,
  priorities,
  Recipients,
  StatusList,
  Ticket,
  TicketMessage,
  TicketNumber,
  ticketChannels,
  ticketParams,
  UpdateTicket,
} from './tickets/schema.ts'

const endpoint = endpointsOf('Helpdesk')

const Id = Type.String({ minLength: 1 })

const answer = <const S extends string>(status: S) => ({ id: Type.String(), status: Type.Literal(status) })

export const takeOverConversation = endpoint({
  method: 'POST',
  path: '/agents/{agentId}/conversations/{conversationId}/takeover',
  name: 'takeOverConversation',
  audit: 'conversation.takeover',
  summary: 'Let a team member take a conversation over',
  description:
    'From then on the agent adds nothing to the conversation, not even the rest of a running reply. The conversation gets a ticket, which is assigned to the member.',
  scope: 'helpdesk:write',
  body: Exact({
    memberId: Type.Optional(Type.String({ minLength: 1, description: 'Either this or memberEmail' })),
    memberEmail: Type.Optional(Type.String({ minLength: 1, description: 'Not case-sensitive' })),
  }),
  success: {
    status: 200,
    schema: Exact({ data: Exact({ ...answer('taken_over'), ticketNumber: Type.Integer({ minimum: 1 }) }) }),
  },
  errors: ['CHAT_CONVERSATION_NOT_ONGOING', 'TEAM_MEMBER_NOT_FOUND'],
})

export const handBackConversation = endpoint({
  method: 'POST',
  path: '/agents/{agentId}/conversations/{conversationId}/handback',
  name: 'handBackConversation',
  audit: 'conversation.handback',
  summary: 'Give a conversation back to the agent',
  description: 'Its ticket is closed.',
  scope: 'helpdesk:write',
  success: { status: 200, schema: Exact({ data: Exact(answer('ongoing')) }) },
  errors: ['CONVERSATION_NOT_TAKEN_OVER'],
})

export const endConversation = endpoint({
  method: 'POST',
  path: '/agents/{agentId}/conversations/{conversationId}/end',
  name: 'endConversation',
  audit: 'conversation.end',
  summary: 'End a conversation',
  description: 'Its ticket is closed. Ending a conversation again does no harm.',
  scope: 'helpdesk:write',
  success: { status: 200, schema: Exact({ data: Exact(answer('ended')) }) },
})

const tickets = '/agents/{agentId}/helpdesk/tickets'

export const createTicket = endpoint({
  method: 'POST',
  path: tickets,
  name: 'createTicket',
  unknownFields: 'ignored',
  summary: 'Open a ticket',
  description:
    'Without an assignee, the ticket is assigned to the member of the team who is online and has the fewest open tickets; `assigneeId: null` leaves it unassigned. A conversation has at most one open ticket.',
  scope: 'helpdesk:write',
  body: CreateTicket,
  success: { status: 201, schema: Ticket },
  errors: [
    'RESOURCE_NOT_FOUND',
    'RESOURCE_DUPLICATE',
    'TICKET_INVALID_STATUS',
    'TICKET_TEAM_NOT_FOUND',
    'TICKET_TEAM_MEMBER_NOT_FOUND',
  ],
})

const IdOrNone = Type.String({ minLength: 1, description: 'An id, or `none`' })

export const listTickets = endpoint({
  method: 'GET',
  path: tickets,
  name: 'listTickets',
  unknownFields: 'ignored',
  summary: 'List tickets',
  scope: 'helpdesk:read',
  query: Exact({
    cursor: Type.Optional(Cursor),
    limit: Limit,
    status: Type.Optional(StatusList),
    channel: Type.Optional(CommaList('where the ticket came from', ticketChannels)),
    assigneeId: Type.Optional(IdOrNone),
    teamId: Type.Optional(IdOrNone),
    priority: Type.Optional(CommaList('how urgent it is', priorities)),
    tagId: Type.Optional(Type.String({ minLength: 1 })),
    mentionedId: Type.Optional(
      Type.String({ minLength: 1, description: 'A member whom a note of the ticket mentions' }),
    ),
    createdAfter: Type.Optional(DayOrTime('Created at or after')),
    createdBefore: Type.Optional(DayOrTime('Created at or before')),
    snoozed: Type.Optional(Type.Boolean({ description: 'Whether the ticket is snoozed' })),
    spam: Type.Boolean({ default: false, description: 'What was marked as spam, instead of the others' }),
    sortBy: OneOf(['createdAt', 'updatedAt', 'lastMessageAt'], { default: 'updatedAt' }),
    order: OneOf(['asc', 'desc'], { default: 'desc' }),
    includeTotal: Type.Boolean({ default: false }),
  }),
  success: {
    status: 200,
    schema: Exact({
      data: Type.Array(ListedTicket),
      pagination: Exact({
        cursor: Nullable(Type.String()),
        hasMore: Type.Boolean(),
        total: Type.Optional(Type.Integer({ minimum: 0 })),
      }),
    }),
  },
  errors: ['VALIDATION_INVALID_CURSOR'],
})

export const searchTickets = endpoint({
  method: 'POST',
  path: `${tickets}/search`,
  name: 'searchTickets',
  unknownFields: 'ignored',
  summary: 'Search tickets',
  description:
    'Every word must occur in the subject, description or customer of a ticket, or in one of its messages; the last word also matches as a prefix. A number finds the ticket with that number. The best hits come first, on one page: if `hasMore` is true, narrow the search. Of very many hits the newest are ranked, and `total` is left out because not all were counted.',
  scope: 'helpdesk:read',
  body: Exact({
    query: Type.String({ minLength: 1, maxLength: 512 }),
    limit: Type.Integer({ minimum: 1, maximum: 50, default: 20 }),
  }),
  success: {
    status: 200,
    schema: Exact({
      data: Type.Array(ListedTicket),
      pagination: Exact({
        cursor: Type.Null(),
        hasMore: Type.Boolean(),
        total: Type.Optional(Type.Integer({ minimum: 0 })),
      }),
    }),
  },
})

export const readTicket = endpoint({
  method: 'GET',
  path: `${tickets}/{ticketNumber}`,
  name: 'readTicket',
  unknownFields: 'ignored',
  summary: 'Read a ticket',
  scope: 'helpdesk:read',
  params: ticketParams,
  success: { status: 200, schema: Ticket },
})

export const updateTicket = endpoint({
  method: 'PATCH',
  path: `${tickets}/{ticketNumber}`,
  name: 'updateTicket',
  unknownFields: 'ignored',
  summary: 'Change a ticket',
  description:
    'Either all changes are made or none. Closing a ticket ends its conversation, unless the conversation is paused; cancelling it does so only if a person has the conversation. Each change is recorded as an event among the messages.',
  scope: 'helpdesk:write',
  params: ticketParams,
  body: UpdateTicket,
  success: { status: 200, schema: Ticket },
  errors: [
    'RESOURCE_NOT_FOUND',
    'RESOURCE_DUPLICATE',
    'TICKET_INVALID_STATUS',
    'TICKET_TEAM_NOT_FOUND',
    'TICKET_TEAM_MEMBER_NOT_FOUND',
  ],
})

export const listTicketMessages = endpoint({
  method: 'GET',
  path: `${tickets}/{ticketNumber}/messages`,
  name: 'listTicketMessages',
  unknownFields: 'ignored',
  summary: 'List the messages of a ticket',
  description: 'If a conversation was taken over, the list begins with the takeover.',
  scope: 'helpdesk:read',
  params: ticketParams,
  query: Exact({
    cursor: Type.Optional(Cursor),
    limit: Limit,
    types: Type.String({
      default: 'reply,note',
      pattern: '^(reply|note|event)(,(reply|note|event))*$',
      refusal: 'Must be reply, note and event, with commas between them.',
    }),
    order: OneOf(['asc', 'desc'], { default: 'asc' }),
  }),
  success: { status: 200, schema: Page(TicketMessage) },
  errors: ['VALIDATION_INVALID_CURSOR'],
})

export const replyToTicket = endpoint({
  method: 'POST',
  path: `${tickets}/{ticketNumber}/messages`,
  name: 'replyToTicket',
  unknownFields: 'ignored',
  summary: 'Reply to the customer',
  description:
    'Sent on behalf of a team member. Single newlines are kept; HTML is stripped from what the customer reads, and `contentText` is unchanged. The response means that the reply is stored; it is delivered afterwards, and `metadata.delivery` of the message shows its state.',
  scope: 'helpdesk:write',
  params: ticketParams,
  body: Exact({
    type: Type.Literal('reply', { description: 'Notes have their own path' }),
    content: Content,
    ...Author,
    attachments: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        maxItems: 10,
        uniqueItems: true,
        description: 'Ids of uploads',
      }),
    ),
    ...Recipients,
    heldAnswerId: HeldAnswerId,
  }),
  success: { status: 201, schema: CreatedReply },
  errors: [
    'RESOURCE_NOT_FOUND',
    'TEAM_MEMBER_NOT_FOUND',
    'MESSAGE_CONTENT_NOT_RENDERABLE',
    'CONVERSATION_NOT_TAKEN_OVER',
  ],
})

const MailPerson = Exact({ address: Type.String(), name: Nullable(Type.String()) })

export const readRecipients = endpoint({
  method: 'GET',
  path: `${tickets}/{ticketNumber}/recipients`,
  name: 'readTicketRecipients',
  summary: 'Who gets a reply to a ticket',
  description:
    'The people of a mail: `to` is the customer, `cc` are the others whom the last mail named. Empty on other channels.',
  scope: 'helpdesk:read',
  params: ticketParams,
  success: {
    status: 200,
    schema: Exact({
      channel: Nullable(
        OneOf(['email', 'messaging'], { description: 'null: a chat, or nobody can be reached' }),
      ),
      to: Type.Array(MailPerson),
      cc: Type.Array(MailPerson),
    }),
  },
})

export const retryTicketMessage = endpoint({
  method: 'POST',
  path: `${tickets}/{ticketNumber}/messages/{messageId}/retry`,
  name: 'retryTicketMessage',
  summary: 'Send a failed reply again',
  description: 'A reply that has not failed stays as it is.',
  scope: 'helpdesk:write',
  params: Exact({ agentId: Id, ticketNumber: TicketNumber, messageId: Id }),
  success: { status: 200, schema: TicketMessage },
})

export const discardHeldAnswer = endpoint({
  method: 'POST',
  path: `${tickets}/{ticketNumber}/messages/{messageId}/discard`,
  name: 'discardHeldAnswer',
  summary: 'Discard a held answer',
  description:
    'Records that a member does not send the answer of this note. It stays readable, and can still be sent with a reply.',
  scope: 'helpdesk:write',
  params: Exact({ agentId: Id, ticketNumber: TicketNumber, messageId: Id }),
  body: Exact(Author),
  success: { status: 200, schema: TicketMessage },
  errors: ['RESOURCE_NOT_FOUND', 'TEAM_MEMBER_NOT_FOUND'],
})

export const addTicketNote = endpoint({
  method: 'POST',
  path: `${tickets}/{ticketNumber}/notes`,
  name: 'addTicketNote',
  summary: 'Add a note that only the team reads',
  description: 'Markdown as in a reply. `@name` or `@address` mentions a member.',
  scope: 'helpdesk:write',
  params: ticketParams,
  body: Exact({ content: Content, ...Author }),
  success: { status: 201, schema: TicketMessage },
  errors: ['TEAM_MEMBER_NOT_FOUND', 'MESSAGE_CONTENT_NOT_RENDERABLE'],
})
