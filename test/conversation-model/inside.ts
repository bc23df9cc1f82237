import { CompiledQuery } from 'kysely'
import { createKey } from '../../server/accounts/keys/keys.ts'
import { createAccount } from '../../server/accounts/records/accounts.ts'
import { createMember } from '../../server/accounts/records/members.ts'
import { expireCalls } from '../../server/conversations/records/expire-calls.ts'
import { type Balance, reconcile } from '../../server/conversations/records/reconcile-credits.ts'
import type { Db } from '../../server/platform/db/database.ts'

/** Operations that the test performs directly on the database, bypassing the service. */
export type Inside = {
  query<Row>(text: string, values?: unknown[]): Promise<Row[]>
  /** Creates an account with a key and two team members. */
  newAccount(): Promise<{ accountId: string; key: string; members: string[] }>
  expireCalls(): Promise<void>
  reconcile(): Promise<Balance>
}

export const insideOf = (db: Db): Inside => ({
  async query<Row>(text: string, values: unknown[] = []) {
    return (await db.executeQuery<Row>(CompiledQuery.raw(text, values))).rows
  },
  async newAccount() {
    const accountId = await createAccount(db, 'Model')
    const { key } = await createKey(db, accountId, { name: 'model' })
    const members: string[] = []
    for (const name of ['ann', 'bob']) {
      const account = { id: accountId, plan: 'unlimited' }
      const member = await createMember(db, account, { email: `${name}@example.com`, name })
      members.push((member as { id: string }).id)
    }
    return { accountId, key, members }
  },
  expireCalls: () => expireCalls(db),
  reconcile: () => reconcile(db),
})
