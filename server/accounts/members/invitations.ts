import { violates } from '../../platform/db/connections/database-errors.ts'
import type { Db } from '../../platform/db/database.ts'
import { isId } from '../../platform/db/ids.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import type { Role } from '../../platform/db/tables/accounts.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import { ApiError } from '../../platform/http/errors.ts'
import type { Caller } from '../../platform/http/route.ts'
import { recordAudit } from '../audit/audit.ts'
import { createLink, dropExpiredInvitation, dropInvitation, type LinkRow } from '../links/links.ts'
import { planOf } from '../plans/plans.ts'
import { membersOf } from '../records/members.ts'
import { checkLimit, refuseMoreThanKey, refuseUnlessOwner } from './account-members.ts'

/** Returns the invitations that have not been accepted, newest first. */
export const invitationsOf = (db: Db, accountId: AccountId): Promise<LinkRow[]> =>
  db
    .selectFrom('login_links')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('kind', '=', 'invitation')
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute()

export const presentInvitation = (row: LinkRow) => ({
  id: row.id,
  email: row.email ?? '',
  name: row.name,
  role: row.role ?? ('viewer' as const),
  agentIds: row.agent_ids,
  invitedBy: row.created_by,
  isExpired: row.expires_at <= new Date(),
  createdAt: row.created_at.toISOString(),
  expiresAt: row.expires_at.toISOString(),
})

type NewInvitation = { email: string; name?: string; role: Role; agentIds?: string[] | null }

/** Invites an address that has no login in the account yet. */
export async function invite(
  db: Db,
  caller: Caller,
  { email, name = undefined, role, agentIds = null }: NewInvitation,
): Promise<{ row: LinkRow; token: string }> {
  const { account, actor } = caller
  refuseUnlessOwner(caller, role)
  refuseMoreThanKey(caller, null, { role, agentIds })
  await checkLimit(db, account.id, role, agentIds)
  return transact(db, async (trx) => {
    const members = await membersOf(trx, account.id)
    const known = members.find((member) => member.email.toLowerCase() === email.toLowerCase())
    // For an address that is already a member, the link creates no member but lets that member sign in, so only an
    // owner may invite an owner.
    if (known) refuseUnlessOwner(caller, known.role)
    const login = known
      ? await trx.selectFrom('logins').select('id').where('member_id', '=', known.id).executeTakeFirst()
      : undefined
    if (login)
      throw new ApiError('RESOURCE_DUPLICATE', { message: 'This person is already a member of the account.' })
    const { members: most } = planOf(account.plan)
    if (!known && most !== null && members.length >= most) throw new ApiError('MEMBER_LIMIT_REACHED')
    await dropExpiredInvitation(trx, account.id, email)
    const made = await createLink(trx, {
      accountId: account.id,
      kind: 'invitation',
      createdBy: actor,
      invited: { email, name: name ?? null, role, agentIds },
    }).catch((error: unknown) => {
      if (!violates(error, 'login_links_invited')) throw error
      throw new ApiError('RESOURCE_DUPLICATE', {
        message: 'This address has already been invited. Revoke that invitation first.',
      })
    })
    await recordAudit(trx, {
      accountId: account.id,
      actor,
      action: 'invitation.create',
      target: made.row.id,
      detail: { role, agentIds },
    })
    return made
  })
}

/** Revokes an invitation, so that its link stops working. */
export async function revokeInvitation(db: Db, { account, actor }: Caller, id: string): Promise<void> {
  await transact(db, async (trx) => {
    const isGone = isId(id) && (await dropInvitation(trx, account.id, id))
    if (!isGone) throw new ApiError('RESOURCE_NOT_FOUND', { message: 'The invitation does not exist.' })
    await recordAudit(trx, { accountId: account.id, actor, action: 'invitation.revoke', target: id })
  })
}
