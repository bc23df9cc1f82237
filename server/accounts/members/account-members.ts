import { isDeepStrictEqual } from 'node:util'
import type { Selectable } from 'kysely'
import type { Db, Trx } from '../../platform/db/database.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import type { MembersTable, Role } from '../../platform/db/tables/accounts.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import { ApiError, invalidField } from '../../platform/http/errors.ts'
import type { Caller } from '../../platform/http/route.ts'
import { recordAudit } from '../audit/audit.ts'
import { activeKeysBy } from '../keys/keys.ts'
import { canBeLimited, scopesOf } from '../keys/roles.ts'
import { dropInvitationsBy } from '../links/links.ts'
import {
  changeMemberRow,
  lockMembers,
  type MemberRow,
  refuseLastOwner,
  removeMember,
  requireMemberById,
} from '../records/members.ts'
import { renameMember } from './change-names.ts'

/** Returns the account's members with the way in which each signs in. */
export async function accountMembers(db: Db, accountId: AccountId, onlyId?: string) {
  let query = db
    .selectFrom('members')
    .leftJoin('logins', 'logins.member_id', 'members.id')
    .selectAll('members')
    .select((eb) => [
      'logins.id as login_id',
      'logins.two_factor_enabled',
      eb
        .selectFrom('login_sessions')
        .select((inner) => inner.fn.max('login_sessions.created_at').as('at'))
        .whereRef('login_sessions.login_id', '=', 'logins.id')
        .as('signed_in_at'),
    ])
    .where('members.account_id', '=', accountId)
  if (onlyId !== undefined) query = query.where('members.id', '=', onlyId)
  return query.orderBy('members.id').execute()
}

type Listed = Selectable<MembersTable> & {
  login_id: string | null
  two_factor_enabled: boolean | null
  signed_in_at: Date | null
}

export const presentMember = (row: Listed) => ({
  id: row.id,
  name: row.name,
  email: row.email,
  role: row.role,
  agentIds: row.agent_ids,
  canSignIn: row.login_id !== null,
  hasSecondFactor: row.two_factor_enabled ?? false,
  lastSignInAt: row.signed_in_at?.toISOString() ?? null,
  createdAt: row.created_at.toISOString(),
})

/** Throws when a caller other than an owner does something that concerns an owner; a key is never an owner. */
export function refuseUnlessOwner({ member }: Caller, ...concerned: (Role | undefined)[]): void {
  if (member?.role === 'owner' || !concerned.includes('owner')) return
  throw new ApiError('AUTH_INSUFFICIENT_PERMISSIONS', {
    message: 'Only a signed-in owner can decide who is an owner.',
  })
}

type Access = { role: Role; agentIds: string[] | null }

/**
 * Throws when a key would permit somebody more than before (`from`; null: nothing) and more than the key itself may do,
 * or for longer than the key works.
 */
export function refuseMoreThanKey({ key, scopes }: Caller, from: Access | null, to: Access): void {
  if (!key || !isMore(from, to)) return
  if (key.expiresAt !== null)
    throw new ApiError('AUTH_INSUFFICIENT_PERMISSIONS', {
      message:
        'An API key that expires cannot give access that lasts. Sign in as an owner or admin, or use a key that does not expire.',
    })
  const missing = scopesOf(to.role).filter((scope) => scopes !== null && !scopes.includes(scope))
  if (missing.length > 0)
    throw new ApiError('AUTH_INSUFFICIENT_PERMISSIONS', {
      message: `An API key cannot give more permissions than it has. The role ${to.role} includes ${missing.join(', ')}. Sign in as an owner or admin, or use a key with these scopes.`,
    })
}

/** Returns whether `to` permits something, or concerns an agent, that `from` does not. */
function isMore(from: Access | null, to: Access): boolean {
  if (from === null) return true
  const before = scopesOf(from.role)
  const hasMoreScopes = scopesOf(to.role).some((scope) => !before.includes(scope))
  const limit = from.agentIds
  const hasMoreAgents =
    limit !== null && (to.agentIds === null || to.agentIds.some((id) => !limit.includes(id)))
  return hasMoreScopes || hasMoreAgents
}

/** Throws unless members with this role can be limited and the agents belong to the account. */
export async function checkLimit(
  db: Db,
  accountId: AccountId,
  role: Role,
  agentIds: string[] | null,
): Promise<void> {
  if (agentIds === null) return
  if (!canBeLimited(role)) throw invalidField('agentIds', `The role ${role} cannot be limited to agents.`)
  const found = await db
    .selectFrom('agents')
    .select('id')
    .where('account_id', '=', accountId)
    .where('id', 'in', agentIds)
    .execute()
  if (found.length < agentIds.length) throw new ApiError('AGENT_NOT_FOUND')
}

type Change = { name?: string; role?: Role; agentIds?: string[] | null }

/** Changes a member's name, role and the agents that the member is limited to. */
export const changeMember = (db: Db, caller: Caller, id: string, change: Change): Promise<void> =>
  transact(db, async (trx) => {
    const { account, actor } = caller
    const member = await lockedMember(trx, account.id, id)
    const role = change.role ?? member.role
    refuseUnlessOwner(caller, member.role, role)
    const kept = canBeLimited(role) ? member.agent_ids : null
    const agentIds = change.agentIds === undefined ? kept : change.agentIds
    refuseMoreThanKey(caller, { role: member.role, agentIds: member.agent_ids }, { role, agentIds })
    await checkLimit(trx, account.id, role, change.agentIds ?? null)
    if (role !== 'owner') await refuseLastOwner(trx, member)
    await changeMemberRow(trx, account.id, id, { role, agentIds })
    if (change.name !== undefined) await renameMember(trx, account.id, id, change.name)
    if (!scopesOf(role).includes('members:write')) await dropInvitationsBy(trx, account.id, `member:${id}`)
    await recordAudit(trx, {
      accountId: account.id,
      actor,
      action: 'member.update',
      target: id,
      detail: {
        ...(role === member.role ? {} : { from: member.role, role }),
        ...(isDeepStrictEqual(agentIds, member.agent_ids) ? {} : { agentIds }),
        ...(change.name === undefined || change.name.trim() === member.name
          ? {}
          : { name: change.name.trim() }),
      },
    })
  })

/** Removes a member together with all sessions. Returns how many keys that the member has made still work. */
export const dropMember = (db: Db, caller: Caller, id: string): Promise<{ activeKeys: number }> =>
  transact(db, async (trx) => {
    const { account, actor } = caller
    const member = await lockedMember(trx, account.id, id)
    refuseUnlessOwner(caller, member.role)
    await refuseLastOwner(trx, member)
    await removeMember(trx, account.id, id)
    await dropInvitationsBy(trx, account.id, `member:${id}`)
    await recordAudit(trx, { accountId: account.id, actor, action: 'member.remove', target: id })
    return { activeKeys: (await activeKeysBy(trx, account.id, `member:${id}`)).length }
  })

async function lockedMember(trx: Trx, accountId: AccountId, id: string): Promise<MemberRow> {
  await lockMembers(trx, accountId)
  return requireMemberById(trx, accountId, id)
}
