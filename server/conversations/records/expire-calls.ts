import { sql } from 'kysely'
import type { Db } from '../../platform/db/database.ts'
import { ownRow } from '../../platform/db/refs.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import { ignoreWaitingCalls } from './parts.ts'

const AT_ONCE = 200

/** Closes calls that nobody has answered in time, one conversation at a time. */
export async function expireCalls(db: Db): Promise<void> {
  const found = await db
    .selectFrom('tool_calls')
    .select(['account_id', 'conversation_id'])
    .distinct()
    .where('status', '=', 'pending')
    .where('expires_at', '<=', sql<Date>`now()`)
    .limit(AT_ONCE)
    .execute()
  for (const { account_id, conversation_id } of found) {
    await transact(db, async (trx) => {
      await trx
        .selectFrom('conversations')
        .select('id')
        .where(ownRow(account_id, conversation_id))
        .forNoKeyUpdate()
        .execute()
      await ignoreWaitingCalls(trx, account_id, conversation_id, { expiredOnly: true })
    })
  }
}
