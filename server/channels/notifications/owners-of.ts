import type { Db } from '../../platform/db/database.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'

/** Returns the mail addresses of the owners of an account. */
export async function ownersOf(db: Db, accountId: AccountId): Promise<string[]> {
  const owners = await db
    .selectFrom('members')
    .select('email')
    .where('account_id', '=', accountId)
    .where('role', '=', 'owner')
    .execute()
  return owners.map(({ email }) => email)
}
