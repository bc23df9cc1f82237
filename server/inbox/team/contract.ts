import Type from 'typebox'
import {
  DayOrTime,
  Exact,
  endpointsOf,
  IsoTime,
  Nullable,
  OneOf,
  Success,
} from '../../platform/http/contract.ts'
import { Color, Name, statusCategories, TicketNumber } from '../tickets/schema.ts'

const Id = Type.String({ minLength: 1 })
const endpoint = endpointsOf('Helpdesk')
const presences = ['online', 'away', 'offline'] as const

const Member = Exact({
  id: Type.String(),
  name: Type.String(),
  email: Type.String(),
  presence: OneOf(presences),
  lastSeenAt: Nullable(IsoTime),
  openTickets: Type.Integer({ minimum: 0 }),
  teamIds: Type.Array(Type.String()),
})

export const listMembers = endpoint({
  method: 'GET',
  path: '/agents/{agentId}/helpdesk/members',
  name: 'listMembers',
  summary: 'List the team members of the account',
  description:
    'Includes their presence, which is valid for 15 minutes, and the teams of this agent that they were added to.',
  scope: 'helpdesk:read',
  success: { status: 200, schema: Type.Array(Member) },
})

export const setMemberPresence = endpoint({
  method: 'PUT',
  path: '/members/{memberId}/presence',
  name: 'setMemberPresence',
  summary: 'Set the presence of a member',
  description:
    'The presence is valid for 15 minutes: repeat the request before that. New tickets are assigned to members who are online. A signed-in member can only set their own presence.',
  scope: 'helpdesk:write',
  limitedMembers: 'all',
  body: Exact({ presence: OneOf(presences) }),
  success: {
    status: 200,
    schema: Exact({ id: Type.String(), presence: OneOf(presences), lastSeenAt: IsoTime }),
  },
})

export const listUnreadTickets = endpoint({
  method: 'GET',
  path: '/agents/{agentId}/helpdesk/members/{memberId}/unread',
  name: 'listUnreadTickets',
  summary: 'List the tickets that a member has not read',
  description:
    'Lists the tickets that wait for the team (new, on_you) and have messages that the member has not seen: the newest 500, and their total. A signed-in member can only read their own list.',
  scope: 'helpdesk:read',
  success: {
    status: 200,
    schema: Exact({
      ticketNumbers: Type.Array(Type.Integer({ minimum: 1 })),
      total: Type.Integer({ minimum: 0 }),
    }),
  },
  errors: ['RESOURCE_NOT_FOUND'],
})

export const noteSeenTicket = endpoint({
  method: 'PUT',
  path: '/agents/{agentId}/helpdesk/members/{memberId}/seen/{ticketNumber}',
  name: 'noteSeenTicket',
  summary: 'Record how far a member has read a ticket',
  description: 'A time before the recorded one changes nothing.',
  scope: 'helpdesk:read',
  params: Exact({ agentId: Id, memberId: Id, ticketNumber: TicketNumber }),
  body: Exact({ until: DayOrTime('The time of the newest message that was shown') }),
  success: { status: 200, schema: Success },
  errors: ['RESOURCE_NOT_FOUND'],
})

const Team = Exact({
  id: Type.String(),
  name: Type.String(),
  isDefault: Type.Boolean({ description: 'All members of the account belong to it' }),
  memberCount: Type.Integer({ minimum: 0 }),
})
const teams = '/agents/{agentId}/helpdesk/teams'
const MemberIds = Type.Array(Type.String({ minLength: 1 }), { maxItems: 500, uniqueItems: true })

export const listTeams = endpoint({
  method: 'GET',
  path: teams,
  name: 'listTeams',
  unknownFields: 'ignored',
  summary: 'List the teams of an agent',
  scope: 'helpdesk:read',
  success: { status: 200, schema: Type.Array(Team) },
})

export const createTeam = endpoint({
  method: 'POST',
  path: teams,
  name: 'createTeam',
  summary: 'Create a team',
  scope: 'helpdesk:write',
  body: Exact({ name: Name, memberIds: Type.Optional(MemberIds) }),
  success: { status: 201, schema: Team },
  errors: ['RESOURCE_DUPLICATE', 'TEAM_MEMBER_NOT_FOUND'],
})

export const updateTeam = endpoint({
  method: 'PUT',
  path: `${teams}/{teamId}`,
  name: 'updateTeam',
  summary: 'Change a team',
  description:
    '`memberIds` replaces all of its members; those of the default team are everybody of the account.',
  scope: 'helpdesk:write',
  body: Exact({ name: Type.Optional(Name), memberIds: Type.Optional(MemberIds) }),
  success: { status: 200, schema: Team },
  errors: ['RESOURCE_DUPLICATE', 'TEAM_MEMBER_NOT_FOUND'],
})

export const deleteTeam = endpoint({
  method: 'DELETE',
  path: `${teams}/{teamId}`,
  name: 'deleteTeam',
  summary: 'Delete a team',
  description: 'Its tickets stay, without a team. The default team cannot be deleted.',
  scope: 'helpdesk:write',
  success: { status: 200, schema: Success },
})

const TicketStatus = Exact({
  id: Type.String(),
  category: OneOf(statusCategories),
  externalLabel: Type.String({ description: 'What the customer reads' }),
  internalLabel: Type.String({ description: 'What the team reads' }),
  color: Type.String(),
  isDefault: Type.Boolean({
    description: 'The default status of tickets in the category',
  }),
  position: Type.Integer({ minimum: 0 }),
})
const statuses = '/agents/{agentId}/helpdesk/ticket-statuses'
const Label = Type.String({ minLength: 1, maxLength: 100 })
const statusFields = {
  externalLabel: Type.Optional(Label),
  internalLabel: Type.Optional(Label),
  color: Type.Optional(Color),
  isDefault: Type.Optional(Type.Boolean({ description: 'Replaces the earlier default' })),
}

export const listTicketStatuses = endpoint({
  method: 'GET',
  path: statuses,
  name: 'listTicketStatuses',
  unknownFields: 'ignored',
  summary: 'List the statuses that tickets can have',
  scope: 'helpdesk:read',
  success: { status: 200, schema: Type.Array(TicketStatus) },
})

export const createTicketStatus = endpoint({
  method: 'POST',
  path: statuses,
  name: 'createTicketStatus',
  summary: 'Create a ticket status',
  scope: 'helpdesk:write',
  body: Exact({ ...statusFields, category: OneOf(statusCategories), internalLabel: Label }),
  success: { status: 201, schema: TicketStatus },
})

export const updateTicketStatus = endpoint({
  method: 'PUT',
  path: `${statuses}/{statusId}`,
  name: 'updateTicketStatus',
  summary: 'Change a ticket status',
  scope: 'helpdesk:write',
  body: Exact(statusFields),
  success: { status: 200, schema: TicketStatus },
})

export const deleteTicketStatus = endpoint({
  method: 'DELETE',
  path: `${statuses}/{statusId}`,
  name: 'deleteTicketStatus',
  summary: 'Delete a ticket status',
  description: 'Its tickets get the default status of the category, which cannot be deleted itself.',
  scope: 'helpdesk:write',
  success: { status: 200, schema: Success },
})

export const orderTicketStatuses = endpoint({
  method: 'PUT',
  path: statuses,
  name: 'orderTicketStatuses',
  summary: 'Reorder the ticket statuses',
  description: '`statusIds` must contain every status of the agent once.',
  scope: 'helpdesk:write',
  body: Exact({
    statusIds: Type.Array(Type.String({ minLength: 1 }), { minItems: 1, maxItems: 1_000, uniqueItems: true }),
  }),
  success: { status: 200, schema: Type.Array(TicketStatus) },
})
