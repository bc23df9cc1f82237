import { type Selectable, sql } from 'kysely'
import type { Db, Trx } from '../db/database.ts'
import { isId, newId } from '../db/ids.ts'
import type { AccountId, MembersTable, Presence } from '../db/tables.ts'
import { planOf } from './plans.ts'

export type MemberRow = Selectable<MembersTable>

/** Who has said nothing for so long has left without a word. */
export const PRESENCE_MINUTES = 15

/** Adds a member; answers `taken` when the address is there already, `full` when the plan has no more place. */
export async function createMember(
  db: Db,
  account: { id: AccountId; plan: string },
  { email, name }: { email: string; name: string },
): Promise<{ id: string } | 'taken' | 'full'> {
  return db.transaction().execute(async (trx) => {
    await trx.selectFrom('accounts').select('id').where('id', '=', account.id).forNoKeyUpdate().execute()
    const { members: most } = planOf(account.plan)
    const there = await trx
      .selectFrom('members')
      .select('email')
      .where('account_id', '=', account.id)
      .execute()
    if (there.some((member) => member.email.toLowerCase() === email.toLowerCase())) return 'taken'
    if (most !== null && there.length >= most) return 'full'
    const id = newId()
    await trx.insertInto('members').values({ id, account_id: account.id, email, name }).execute()
    return { id }
  })
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
