import { type Selectable, sql } from 'kysely'
import type { Db, Trx } from '../../platform/db/database.ts'
import { isId, newId } from '../../platform/db/ids.ts'
import { ownRow } from '../../platform/db/refs.ts'
import { json } from '../../platform/db/statements/json.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import type { MembersTable, Presence, Role } from '../../platform/db/tables/accounts.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import { ApiError } from '../../platform/http/errors.ts'
import { requireRow } from '../../platform/http/require-row.ts'
import { planOf } from '../plans/plans.ts'

export type MemberRow = Selectable<MembersTable>

/** After this many minutes without a report, a member's presence counts as offline. */
export const PRESENCE_MINUTES = 15

type NewMember = { email: string; name: string; role?: Role; agentIds?: string[] | null }

/**
 * Adds a member. Returns `taken` when the account already has a member with this address, and `full` when the plan
 * allows no more members.
 */
export const createMember = (
  db: Db,
  account: { id: AccountId; plan: string },
  wanted: NewMember,
): Promise<{ id: string } | 'taken' | 'full'> =>
  transact(db, async (trx) => {
    await lockMembers(trx, account.id)
    const { email, name, role = 'support', agentIds = null } = wanted
    const { members: most } = planOf(account.plan)
    const there = await trx
      .selectFrom('members')
      .select('email')
      .where('account_id', '=', account.id)
      .execute()
    if (there.some((member) => member.email.toLowerCase() === email.toLowerCase())) return 'taken'
    if (most !== null && there.length >= most) return 'full'
    const id = newId()
    await trx
      .insertInto('members')
      .values({ id, account_id: account.id, email, name, role, agent_ids: json(agentIds) })
      .execute()
    return { id }
  })

/**
 * Locks the account's row, so that other transactions that change its members or their roles wait for the end of this
 * one.
 */
export async function lockMembers(trx: Trx, accountId: AccountId): Promise<void> {
  await trx.selectFrom('accounts').select('id').where('id', '=', accountId).forNoKeyUpdate().execute()
}

/** Returns the account's member with this id. Throws RESOURCE_NOT_FOUND when there is none. */
export async function requireMemberById(db: Db, accountId: AccountId, id: string): Promise<MemberRow> {
  return requireRow(
    db.selectFrom('members').selectAll().where('account_id', '=', accountId),
    id,
    'The team member does not exist.',
  )
}

/** Throws LAST_OWNER when the member is the account's only owner. The caller must hold the lock of lockMembers. */
export async function refuseLastOwner(trx: Trx, { account_id, id, role }: MemberRow): Promise<void> {
  if (role !== 'owner') return
  const other = await trx
    .selectFrom('members')
    .select('id')
    .where('account_id', '=', account_id)
    .where('role', '=', 'owner')
    .where('id', '<>', id)
    .executeTakeFirst()
  if (!other) throw new ApiError('LAST_OWNER')
}

/**
 * Removes a member. Open tickets of the member lose their assignee, and conversations that the member had taken over
 * wait for another member. Returns null when there is no member with this id.
 */
export async function removeMember(
  trx: Trx,
  accountId: AccountId,
  memberId: string,
): Promise<MemberRow | null> {
  if (!isId(memberId)) return null
  const removed = trx.deleteFrom('members').where(ownRow(accountId, memberId)).returningAll()
  return (await removed.executeTakeFirst()) ?? null
}

/** Returns the account's members in the order in which they were added. */
export async function membersOf(db: Db, accountId: AccountId): Promise<MemberRow[]> {
  return db.selectFrom('members').selectAll().where('account_id', '=', accountId).orderBy('id').execute()
}

/** Returns the presence that a member last reported, or `offline` once that is stale. */
export function presenceOf({ presence, last_seen_at }: MemberRow, now = new Date()): Presence {
  const isStale = !last_seen_at || now.getTime() - last_seen_at.getTime() >= PRESENCE_MINUTES * 60_000
  return isStale ? 'offline' : presence
}

/** Stores a member's presence. `before` is the presence until then. Returns null when there is no such member. */
export async function setPresence(
  trx: Trx,
  accountId: AccountId,
  memberId: string,
  presence: Presence,
): Promise<{ member: MemberRow; before: Presence } | null> {
  if (!isId(memberId)) return null
  const found = await trx
    .selectFrom('members')
    .selectAll()
    .where(ownRow(accountId, memberId))
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (!found) return null
  const member = await trx
    .updateTable('members')
    .set({ presence, last_seen_at: sql<Date>`clock_timestamp()` })
    .where(ownRow(accountId, memberId))
    .returningAll()
    .executeTakeFirstOrThrow()
  return { member, before: presenceOf(found) }
}

/** Changes a member's role and the agents that the member is limited to, and the name if there is one. */
export async function changeMemberRow(
  trx: Trx,
  accountId: AccountId,
  id: string,
  { name, role, agentIds }: { name?: string; role: Role; agentIds: string[] | null },
): Promise<void> {
  await trx
    .updateTable('members')
    .set({ role, agent_ids: json(agentIds), ...(name === undefined ? {} : { name }) })
    .where(ownRow(accountId, id))
    .execute()
}

/** Records when the member was last given a ticket, which decides who gets the next one. */
export async function noteAssignment(trx: Trx, accountId: AccountId, memberId: string): Promise<void> {
  await trx
    .updateTable('members')
    .set({ last_assigned_at: sql<Date>`clock_timestamp()` })
    .where(ownRow(accountId, memberId))
    .execute()
}

export async function setMemberName(
  trx: Trx,
  accountId: AccountId,
  memberId: string,
  name: string,
): Promise<void> {
  await trx.updateTable('members').set({ name }).where(ownRow(accountId, memberId)).execute()
}
