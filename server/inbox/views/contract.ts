import Type from 'typebox'
import { Cursor, Exact, endpointsOf, Limit, Nullable, OneOf, Success } from '../../platform/http/contract.ts'
import { Name, TicketNumber, UpdateTicket } from '../tickets/schema.ts'
import { filters, InboxTicket, order, View, ViewQuery } from './schema.ts'

const endpoint = endpointsOf('Inbox')

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
  errors: ['AGENT_NOT_FOUND', 'TEAM_MEMBER_NOT_FOUND', 'TICKET_TEAM_NOT_FOUND'],
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
  errors: ['RESOURCE_NOT_FOUND', 'AGENT_NOT_FOUND', 'TEAM_MEMBER_NOT_FOUND', 'TICKET_TEAM_NOT_FOUND'],
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
