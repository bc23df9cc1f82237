import { requireOwner } from '../../agents/records/find-agent.ts'
import type { Context } from '../../context.ts'
import { ApiError } from '../../http/errors.ts'
import { type Route, route } from '../../http/route.ts'
import { type StatusRow, statusesOf } from '../tickets/statuses.ts'
import * as contract from './contract.ts'
import { presentMembers } from './present-members.ts'
import { createTeam, deleteTeam, type TeamRow, teamsOf, updateTeam } from './teams.ts'
import { tellPresence } from './tell-presence.ts'
import { createStatus, deleteStatus, orderStatuses, updateStatus } from './write-status.ts'

export const teamRoutes = (ctx: Context): Route[] => [
  route(contract.listMembers, async ({ caller: { account }, params }) => {
    const { accountId, agentId } = await requireOwner(ctx.db, account.id, params)
    return presentMembers(ctx.db, accountId, agentId)
  }),

  route(contract.setMemberPresence, async ({ caller: { account, member }, params, body }) => {
    if (member && member.id !== params.memberId)
      throw new ApiError('RESOURCE_NOT_FOUND', { message: 'The team member does not exist.' })
    const { id, last_seen_at } = await tellPresence(ctx, account.id, params.memberId, body.presence)
    return { id, presence: body.presence, lastSeenAt: (last_seen_at ?? new Date()).toISOString() }
  }),

  route(contract.listTeams, async ({ caller: { account }, params }) =>
    (await teamsOf(ctx.db, await requireOwner(ctx.db, account.id, params))).map(presentTeam),
  ),

  route(contract.createTeam, async ({ db, caller: { account }, params, body }) =>
    presentTeam(await createTeam(db, await requireOwner(db, account.id, params), body)),
  ),

  route(contract.updateTeam, async ({ caller: { account }, params, body }) =>
    presentTeam(
      await updateTeam(ctx.db, await requireOwner(ctx.db, account.id, params), params.teamId, body),
    ),
  ),

  route(contract.deleteTeam, async ({ caller: { account }, params }) => {
    await deleteTeam(ctx.db, await requireOwner(ctx.db, account.id, params), params.teamId)
    return { success: true as const }
  }),

  route(contract.listTicketStatuses, async ({ caller: { account }, params }) =>
    (await statusesOf(ctx.db, await requireOwner(ctx.db, account.id, params))).map(presentStatus),
  ),

  route(contract.createTicketStatus, async ({ db, caller: { account }, params, body }) =>
    presentStatus(await createStatus(db, await requireOwner(db, account.id, params), body)),
  ),

  route(contract.updateTicketStatus, async ({ caller: { account }, params, body }) =>
    presentStatus(
      await updateStatus(ctx.db, await requireOwner(ctx.db, account.id, params), params.statusId, body),
    ),
  ),

  route(contract.deleteTicketStatus, async ({ caller: { account }, params }) => {
    await deleteStatus(ctx.db, await requireOwner(ctx.db, account.id, params), params.statusId)
    return { success: true as const }
  }),

  route(contract.orderTicketStatuses, async ({ caller: { account }, params, body }) =>
    (await orderStatuses(ctx.db, await requireOwner(ctx.db, account.id, params), body.statusIds)).map(
      presentStatus,
    ),
  ),
]

const presentTeam = ({ id, name, is_default, member_count }: TeamRow) => ({
  id,
  name,
  isDefault: is_default,
  memberCount: member_count,
})

const presentStatus = (row: StatusRow) => ({
  id: row.id,
  category: row.category,
  externalLabel: row.external_label,
  internalLabel: row.internal_label,
  color: row.color,
  isDefault: row.is_default,
  position: row.position,
})
