import type { Context } from '../../context.ts'
import type { Db } from '../../platform/db/database.ts'
import { ApiError } from '../../platform/http/errors.ts'
import { spanOf } from '../../platform/http/input/dates.ts'
import { type Caller, type Route, route } from '../../platform/http/route.ts'
import { recordSeen, unreadTickets } from '../tickets/seen-tickets.ts'
import { type StatusRow, statusesOf } from '../tickets/statuses.ts'
import * as contract from './contract.ts'
import { findMember } from './find-member.ts'
import { presentMembers } from './present-members.ts'
import { publishPresence } from './publish-presence.ts'
import { createTeam, deleteTeam, type TeamRow, teamsOf, updateTeam } from './teams.ts'
import { createStatus, deleteStatus, orderStatuses, updateStatus } from './write-status.ts'

export const teamRoutes = (ctx: Pick<Context, 'db' | 'notifier'>): Route[] => [
  route(contract.listMembers, async ({ ref }) => presentMembers(ctx.db, ref)),

  route(contract.setMemberPresence, async ({ caller: { account, member }, params, body }) => {
    if (member && member.id !== params.memberId) throw noMember()
    const { id, last_seen_at } = await publishPresence(ctx, account.id, params.memberId, body.presence)
    return { id, presence: body.presence, lastSeenAt: (last_seen_at ?? new Date()).toISOString() }
  }),

  route(contract.listUnreadTickets, async ({ ref, caller, params }) =>
    unreadTickets(ctx.db, ref, await requireOwn(ctx.db, caller, params.memberId)),
  ),

  route(contract.noteSeenTicket, async ({ ref, caller, params, body }) => {
    await recordSeen(ctx, ref, await requireOwn(ctx.db, caller, params.memberId), spanOf(body.until).until)
    return { success: true as const }
  }),

  route(contract.listTeams, async ({ ref }) => (await teamsOf(ctx.db, ref)).map(presentTeam)),

  route(contract.createTeam, async ({ db, ref, body }) => presentTeam(await createTeam(db, ref, body))),

  route(contract.updateTeam, async ({ ref, params, body }) =>
    presentTeam(await updateTeam(ctx.db, ref, params.teamId, body)),
  ),

  route(contract.deleteTeam, async ({ ref, params }) => {
    await deleteTeam(ctx.db, ref, params.teamId)
    return { success: true as const }
  }),

  route(contract.listTicketStatuses, async ({ ref }) => (await statusesOf(ctx.db, ref)).map(presentStatus)),

  route(contract.createTicketStatus, async ({ db, ref, body }) =>
    presentStatus(await createStatus(db, ref, body)),
  ),

  route(contract.updateTicketStatus, async ({ ref, params, body }) =>
    presentStatus(await updateStatus(ctx.db, ref, params.statusId, body)),
  ),

  route(contract.deleteTicketStatus, async ({ ref, params }) => {
    await deleteStatus(ctx.db, ref, params.statusId)
    return { success: true as const }
  }),

  route(contract.orderTicketStatuses, async ({ ref, body }) =>
    (await orderStatuses(ctx.db, ref, body.statusIds)).map(presentStatus),
  ),
]

const noMember = (): ApiError =>
  new ApiError('RESOURCE_NOT_FOUND', { message: 'The team member does not exist.' })

/** Returns the id of the member. A key may name any of the account; who is signed in, nobody else. */
async function requireOwn(db: Db, { account, member }: Caller, memberId: string): Promise<string> {
  if (member && member.id !== memberId) throw noMember()
  if (!(await findMember(db, account.id, { memberId }))) throw noMember()
  return memberId
}

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
