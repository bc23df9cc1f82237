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
} from '../http/contract.ts'
import {
  Author,
  Content,
  CreatedReply,
  CreateTicket,
  ListedTicket,
  priorities,
  StatusList,
  Ticket,
  TicketMessage,
  TicketNumber,
  ticketChannels,
  ticketParams,
  UpdateTicket,
} from './tickets/schema.ts'

const Id = Type.String({ minLength: 1 })
const conversationParams = Exact({ agentId: Id, conversationId: Id })

const answer = <const S extends string>(status: S) => ({ id: Type.String(), status: Type.Literal(status) })

export const takeOverConversation = endpoint({
  method: 'POST',
  path: '/agents/{agentId}/conversations/{conversationId}/takeover',
  name: 'takeOverConversation',
  audit: 'conversation.takeover',
  tag: 'Helpdesk',
  summary: 'Let a team member take a conversation over',
  description:
    'From then on the agent says nothing in it, also nothing of a reply that is being made. The conversation gets a ticket, which is the member’s.',
  scope: 'helpdesk:write',
  params: conversationParams,
  body: Exact({
    memberId: Type.Optional(Type.String({ minLength: 1, description: 'This or memberEmail' })),
    memberEmail: Type.Optional(Type.String({ minLength: 1, description: 'In any case of letters' })),
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
  tag: 'Helpdesk',
  summary: 'Give a conversation back to the agent',
  description: 'Its ticket is closed.',
  scope: 'helpdesk:write',
  params: conversationParams,
  success: { status: 200, schema: Exact({ data: Exact(answer('ongoing')) }) },
  errors: ['CONVERSATION_NOT_TAKEN_OVER'],
})

export const endConversation = endpoint({
  method: 'POST',
  path: '/agents/{agentId}/conversations/{conversationId}/end',
  name: 'endConversation',
  audit: 'conversation.end',
  tag: 'Helpdesk',
  summary: 'End a conversation',
  description: 'Its ticket is closed. Ending it again does no harm.',
  scope: 'helpdesk:write',
  params: conversationParams,
  success: { status: 200, schema: Exact({ data: Exact(answer('ended')) }) },
})

const tickets = '/agents/{agentId}/helpdesk/tickets'
const agentParams = Exact({ agentId: Id })
const tag = 'Helpdesk'

export const createTicket = endpoint({
  method: 'POST',
  path: tickets,
  name: 'createTicket',
  unknownFields: 'ignored',
  tag,
  summary: 'Open a ticket',
  description:
    'Without an assignee it goes to the member of the team who is present and has the fewest open tickets; `assigneeId: null` leaves it unassigned. A conversation has one open ticket at a time.',
  scope: 'helpdesk:write',
  params: agentParams,
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
  tag,
  summary: 'List tickets',
  scope: 'helpdesk:read',
  params: agentParams,
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
  tag,
  summary: 'Search tickets',
  description:
    'Every word must be in the subject, description or customer of a ticket, or in one of its messages; the last one also as the beginning of a word. A number finds the ticket of that number. The best hits first, on one page: when `hasMore` is true, ask for something narrower.',
  scope: 'helpdesk:read',
  params: agentParams,
  body: Exact({
    query: Type.String({ minLength: 1, maxLength: 512 }),
    limit: Type.Integer({ minimum: 1, maximum: 50, default: 20 }),
  }),
  success: { status: 200, schema: Page(ListedTicket) },
})

export const readTicket = endpoint({
  method: 'GET',
  path: `${tickets}/{ticketNumber}`,
  name: 'readTicket',
  unknownFields: 'ignored',
  tag,
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
  tag,
  summary: 'Change a ticket',
  description:
    'All of it or nothing. A ticket that is closed ends its conversation, unless that is paused; one that is cancelled does so only if a person has the conversation. Each change is an event among the messages.',
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
  tag,
  summary: 'List the messages of a ticket',
  description: 'Of a conversation that was taken over, what was said from then on.',
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
  tag,
  summary: 'Reply to the customer',
  description:
    'On behalf of a team member. Single newlines are kept; HTML is stripped from what the customer reads, `contentText` is as submitted. The reply is stored when this is answered, and delivered afterwards: `metadata.delivery` of the message says how far it has come.',
  scope: 'helpdesk:write',
  params: ticketParams,
  body: Exact({
    type: Type.Literal('reply', { description: 'Notes have a path of their own' }),
    content: Content,
    ...Author,
    attachments: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        maxItems: 10,
        uniqueItems: true,
        description: 'Ids of uploads',
      }),
    ),
  }),
  success: { status: 201, schema: CreatedReply },
  errors: [
    'RESOURCE_NOT_FOUND',
    'TEAM_MEMBER_NOT_FOUND',
    'MESSAGE_CONTENT_NOT_RENDERABLE',
    'CONVERSATION_NOT_TAKEN_OVER',
  ],
})

export const retryTicketMessage = endpoint({
  method: 'POST',
  path: `${tickets}/{ticketNumber}/messages/{messageId}/retry`,
  name: 'retryTicketMessage',
  tag,
  summary: 'Deliver a reply again that could not be delivered',
  description: 'One that has not failed stays as it is.',
  scope: 'helpdesk:write',
  params: Exact({ agentId: Id, ticketNumber: TicketNumber, messageId: Id }),
  success: { status: 200, schema: TicketMessage },
})

export const addTicketNote = endpoint({
  method: 'POST',
  path: `${tickets}/{ticketNumber}/notes`,
  name: 'addTicketNote',
  tag,
  summary: 'Add a note that only the team reads',
  description: 'Markdown as in a reply. `@name` or `@address` mentions a member.',
  scope: 'helpdesk:write',
  params: ticketParams,
  body: Exact({ content: Content, ...Author }),
  success: { status: 201, schema: TicketMessage },
  errors: ['TEAM_MEMBER_NOT_FOUND', 'MESSAGE_CONTENT_NOT_RENDERABLE'],
})
