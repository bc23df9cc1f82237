import { type Selectable, sql } from 'kysely'
import type { Db, Trx } from '../db/database.ts'
import { isId, newId } from '../db/ids.ts'
import { json } from '../db/json.ts'
import type { AccountId, MembersTable, Presence, Role } from '../db/tables.ts'
import { transact } from '../db/transact.ts'
import { ApiError } from '../http/errors.ts'
import { planOf } from './plans.ts'

export type MemberRow = Selectable<MembersTable>

/** Who has said nothing for so long has left without a word. */
export const PRESENCE_MINUTES = 15

type Wanted = { email: string; name: string; role?: Role; agentIds?: string[] | null }

/** Adds a member; answers `taken` when the address is there already, `full` when the plan has no more place. */
export const createMember = (
  db: Db,
  account: { id: AccountId; plan: string },
  wanted: Wanted,
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

/** Makes whoever else changes who is a member of the account, and as what, wait for the end of the transaction. */
export async function lockMembers(trx: Trx, accountId: AccountId): Promise<void> {
  await trx.selectFrom('accounts').select('id').where('id', '=', accountId).forNoKeyUpdate().execute()
}

/** The account's member; RESOURCE_NOT_FOUND when it has none with this id. */
export async function requireMemberById(db: Db, accountId: AccountId, id: string): Promise<MemberRow> {
  const row = isId(id)
    ? await db
        .selectFrom('members')
        .selectAll()
        .where('account_id', '=', accountId)
        .where('id', '=', id)
        .executeTakeFirst()
    : undefined
  if (!row) throw new ApiError('RESOURCE_NOT_FOUND', { message: 'The team member does not exist.' })
  return row
}

/** Throws LAST_OWNER when the member is the account's only owner; under lockMembers. */
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
 * Removes a member: open tickets have no assignee then, and what they had taken over waits for another member. Null
 * when there is none with this id.
 */
export async function removeMember(trx: Trx, memberId: string): Promise<MemberRow | null> {
  if (!isId(memberId)) return null
  const removed = trx.deleteFrom('members').where('id', '=', memberId).returningAll()
  return (await removed.executeTakeFirst()) ?? null
}

/** Every member of the account, in the order of their coming. */
export async function membersOf(db: Db, accountId: AccountId): Promise<MemberRow[]> {
  return db.selectFrom('members').selectAll().where('account_id', '=', accountId).orderBy('id').execute()
}

/** What a member has said of being there, as long as it holds. */
export function presenceOf({ presence, last_seen_at }: MemberRow, now = new Date()): Presence {
  const isStale = !last_seen_at || now.getTime() - last_seen_at.getTime() >= PRESENCE_MINUTES * 60_000
  return isStale ? 'offline' : presence
}

/** Notes that a member is there, away or gone; `before` is what held until then. null: no such member. */
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
    .where('account_id', '=', accountId)
    .where('id', '=', memberId)
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (!found) return null
  const member = await trx
    .updateTable('members')
    .set({ presence, last_seen_at: sql<Date>`clock_timestamp()` })
    .where('account_id', '=', accountId)
    .where('id', '=', memberId)
    .returningAll()
    .executeTakeFirstOrThrow()
  return { member, before: presenceOf(found) }
}

/** Whoever may not invite any more must not come back by an invitation that was made before. */
export async function forgetInvitations(trx: Db, accountId: AccountId, createdBy: string): Promise<void> {
  await trx
    .deleteFrom('login_links')
    .where('account_id', '=', accountId)
    .where('kind', '=', 'invitation')
    .where('created_by', '=', createdBy)
    .execute()
}
