import type { Db } from '../db/database.ts'
import { newId } from '../db/ids.ts'
import type { AccountId } from '../db/tables.ts'
import { planOf } from './plans.ts'

/** Adds a member; answers `taken` when the address is there already, `full` when the plan has no more place. */
export async function createMember(
  db: Db,
  account: { id: AccountId; plan: string },
  { email, name }: { email: string; name: string },
): Promise<{ id: string } | 'taken' | 'full'> {
  return db.transaction().execute(async (trx) => {
    await trx.selectFrom('accounts').select('id').where('id', '=', account.id).forUpdate().execute()
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
