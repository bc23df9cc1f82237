import Type from 'typebox'
import {
  CommaList,
  Cursor,
  DayOrTime,
  Exact,
  endpointsOf,
  IsoTime,
  Limit,
  Nullable,
  OneOf,
  Success,
} from '../../platform/http/contract.ts'
import {
  ListedTicket,
  Name,
  priorities,
  StatusList,
  TicketNumber,
  ticketChannels,
  UpdateTicket,
} from '../tickets/schema.ts'

const endpoint = endpointsOf('Inbox')

const IdsOrNone = (what: string) => CommaList(`ids of ${what}, or none`)
const Minutes = (description: string) =>
  Type.Integer({ minimum: 1, maximum: 525_600, description: `${description}, in minutes` })

/** The filters of a list over all agents, which a view keeps. */
const filters = {
  agentId: Type.Optional(CommaList('ids of agents')),
  status: Type.Optional(StatusList),
  assigneeId: Type.Optional(CommaList('ids of members, none, or me for the member who is signed in')),
  teamId: Type.Optional(IdsOrNone('teams')),
  priority: Type.Optional(CommaList('how urgent it is', priorities)),
  channel: Type.Optional(CommaList('where the ticket came from', ticketChannels)),
  tag: Type.Optional(CommaList('names of tags, of which it has at least one')),
  language: Type.Optional(CommaList('codes of languages such as en')),
  attribute: Type.Optional(CommaList('attributes of the contact as name:value, all of which must apply')),
  mentionedId: Type.Optional(
    Type.String({ minLength: 1, description: 'A member whom a note mentions, or me' }),
  ),
  unread: Type.Optional(
    Type.Boolean({ description: 'Whether it holds something that the signed-in member has not seen' }),
  ),
  snoozed: Type.Optional(Type.Boolean({ description: 'Whether the ticket is snoozed' })),
  target: Type.Optional(
    OneOf(['missed', 'running'], { description: 'The first target that was not met is past, or to come' }),
  ),
  dueWithin: Type.Optional(Minutes('The next target is due within this time, or was due')),
  waitingFor: Type.Optional(Minutes('The team has kept the customer waiting for at least this time')),
  createdAfter: Type.Optional(DayOrTime('Created at or after')),
  createdBefore: Type.Optional(DayOrTime('Created at or before')),
  spam: Type.Optional(Type.Boolean({ description: 'What was marked as spam, instead of the others' })),
}

export const sorts = ['updatedAt', 'createdAt', 'lastMessageAt', 'waitingSince', 'dueAt'] as const

const order = {
  sortBy: OneOf(sorts, {
    default: 'updatedAt',
    description:
      'Tickets that do not wait, or have no target, come last by waitingSince and dueAt when ascending',
  }),
  order: OneOf(['asc', 'desc'], { default: 'desc' }),
}

export const InboxTicket = Exact({
  agentId: Type.String(),
  ...ListedTicket.properties,
  description: Nullable(Type.String({ description: 'Its first 200 characters' })),
  lastMessage: Nullable(
    Exact({
      text: Type.String({ description: 'Its first 200 characters' }),
      author: OneOf(['customer', 'agent', 'system']),
      name: Nullable(Type.String()),
      at: IsoTime,
    }),
  ),
  tags: Type.Array(Exact({ id: Type.String(), name: Type.String(), color: Type.String() })),
  language: Nullable(Type.String()),
  waitingSince: Nullable(
    Type.String({ format: 'date-time', description: 'null: it does not wait for the team' }),
  ),
  dueAt: Nullable(
    Type.String({
      format: 'date-time',
      description: 'When the first target is due that was not met; null: none',
    }),
  ),
  isUnread: Type.Boolean({
    description: 'It waits for the team and holds something that the signed-in member has not seen',
  }),
})

export const listInboxTickets = endpoint({
  method: 'GET',
  path: '/inbox/tickets',
  name: 'listInboxTickets',
  summary: 'List the tickets of all agents',
  description:
    'Filters combine with AND, the values of one with OR. A member who is limited to agents sees the tickets of those.',
  scope: 'helpdesk:read',
  limitedMembers: 'all',
  query: Exact({ cursor: Type.Optional(Cursor), limit: Limit, ...filters, ...order }),
  success: {
    status: 200,
    schema: Exact({
      data: Type.Array(InboxTicket),
      pagination: Exact({ cursor: Nullable(Type.String()), hasMore: Type.Boolean() }),
    }),
  },
  errors: ['VALIDATION_INVALID_CURSOR'],
})

export const MAX_COUNTED = 1_000

const { createdAfter: _after, createdBefore: _before, ...kept } = filters
/** A view keeps no fixed times. */
const ViewQuery = Exact({
  ...kept,
  sortBy: Type.Optional(OneOf(sorts)),
  order: Type.Optional(OneOf(['asc', 'desc'])),
})

const View = Exact({
  id: Type.String(),
  name: Type.String(),
  owner: OneOf(['member', 'team', 'all'], { description: 'Who sees it' }),
  teamId: Nullable(Type.String()),
  query: ViewQuery,
  count: Type.Integer({
    minimum: 0,
    maximum: MAX_COUNTED,
    description: `How many tickets it holds; ${MAX_COUNTED} means as many or more`,
  }),
})

export const listInboxViews = endpoint({
  method: 'GET',
  path: '/inbox/views',
  name: 'listInboxViews',
  summary: 'List the saved views of the inbox',
  description:
    'Those of everybody, of the teams of the signed-in member, and their own. A key gets all but members’ own.',
  scope: 'helpdesk:read',
  limitedMembers: 'all',
  success: { status: 200, schema: Type.Array(View) },
})

const viewBody = {
  name: Name,
  owner: OneOf(['member', 'team', 'all'], {
    description: 'Who sees it: the member who saves it, a team, or everybody',
  }),
  teamId: Type.Optional(Nullable(Type.String({ minLength: 1, description: 'With owner team' }))),
  query: ViewQuery,
}

export const createInboxView = endpoint({
  method: 'POST',
  path: '/inbox/views',
  name: 'createInboxView',
  summary: 'Save a view of the inbox',
  description: 'An account has at most 200 views.',
  scope: 'helpdesk:write',
  limitedMembers: 'all',
  body: Exact(viewBody),
  success: { status: 201, schema: View },
  errors: ['TICKET_TEAM_NOT_FOUND'],
})

export const updateInboxView = endpoint({
  method: 'PUT',
  path: '/inbox/views/{viewId}',
  name: 'updateInboxView',
  summary: 'Replace a view of the inbox',
  scope: 'helpdesk:write',
  limitedMembers: 'all',
  body: Exact(viewBody),
  success: { status: 200, schema: View },
  errors: ['RESOURCE_NOT_FOUND', 'TICKET_TEAM_NOT_FOUND'],
})

export const deleteInboxView = endpoint({
  method: 'DELETE',
  path: '/inbox/views/{viewId}',
  name: 'deleteInboxView',
  summary: 'Delete a view of the inbox',
  scope: 'helpdesk:write',
  limitedMembers: 'all',
  success: { status: 200, schema: Success },
  errors: ['RESOURCE_NOT_FOUND'],
})

const { conversationId: _conversationId, ...changes } = UpdateTicket.properties
const TagNames = Type.Array(Name, { maxItems: 20, uniqueItems: true })

export const changeInboxTickets = endpoint({
  method: 'POST',
  path: '/inbox/tickets/change',
  name: 'changeInboxTickets',
  summary: 'Change several tickets alike',
  description:
    'Each ticket is changed as by `PATCH`, all or nothing by itself; the response says for each whether it was. Tags are named, because each agent has its own.',
  scope: 'helpdesk:write',
  limitedMembers: 'all',
  body: Exact({
    tickets: Type.Array(Exact({ agentId: Type.String({ minLength: 1 }), ticketNumber: TicketNumber }), {
      minItems: 1,
      maxItems: 100,
      uniqueItems: true,
    }),
    ...changes,
    addTags: Type.Optional(TagNames),
    removeTags: Type.Optional(TagNames),
  }),
  success: {
    status: 200,
    schema: Exact({
      results: Type.Array(
        Exact({
          agentId: Type.String(),
          ticketNumber: Type.Integer({ minimum: 1 }),
          error: Nullable(
            Exact({
              code: Type.String(),
              message: Type.String({ description: 'Why this ticket was not changed' }),
            }),
          ),
        }),
      ),
    }),
  },
  errors: [],
})
