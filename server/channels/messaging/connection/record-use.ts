import type { Db } from '../../../platform/db/database.ts'
import { ofAgent } from '../../../platform/db/refs.ts'
import type { MessagingAccount } from './connection.ts'

/** An unchanged state is stored again after this time. */
const FRESH_MS = 60_000

/**
 * Stores whether the account worked when it was last used. It never throws: what the provider has accepted would be
 * sent again.
 */
export async function recordUse(db: Db, account: MessagingAccount, error: string | null): Promise<void> {
  const { checkedAt } = account
  const isFresh = checkedAt !== null && Date.now() - checkedAt.getTime() < FRESH_MS
  if (isFresh && account.error === error) return
  account.error = error
  account.checkedAt = new Date()
  await db
    .updateTable('messaging_accounts')
    .set({ error, checked_at: account.checkedAt })
    .where(ofAgent(account))
    .where('business_account_id', '=', account.businessAccountId)
    // A request of the connection before says nothing about this one.
    .where('access_token', '=', account.sealedToken)
    .execute()
    .catch(() => {})
}
