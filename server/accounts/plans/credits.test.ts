import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { freshDatabase, onPostgres } from '../../../test/database.ts'
import { waitingForLock } from '../../../test/until.ts'
import type { Trx } from '../../platform/db/database.ts'
import { newId } from '../../platform/db/ids.ts'
import { migrate } from '../../platform/db/upkeep/migrate.ts'
import { createAccount } from '../records/accounts.ts'
import { creditsUsed, limitsOf, monthOf, releaseCredits, reserving } from './credits.ts'

test('releases and reservations of credits do not block each other', {
  skip: !onPostgres() && 'the embedded database does one thing at a time',
}, async () => {
  const { database, drop } = await freshDatabase()
  const { db } = database
  try {
    await migrate(db)
    const accountId = await createAccount(db, 'Account')
    const agentId = 'agent'
    const generationId = newId()
    const limits = limitsOf({ accountId, plan: 'standard', agentId, agentLimit: 9 })
    const reply = sql`select ${newId()}::uuid as "entryId", ${generationId}::uuid as "generationId",
      1 as credits, 'usage' as "entryKind"`
    await sql`with ${reserving(limits, reply)} select * from reserved`.execute(db)
    const raise = (trx: Trx, owner: string) =>
      trx
        .updateTable('credit_usage')
        .set({ used: 5 })
        .where('owner_id', '=', owner)
        .where('month', '=', monthOf(new Date()))
        .execute()

    const releasing = await db.transaction().execute(async (trx) => {
      await raise(trx, agentId)
      const released = db.transaction().execute((other) => releaseCredits(other, accountId, generationId))
      await waitingForLock(db)
      await raise(trx, accountId)
      return { released }
    })
    await releasing.released
    assert.deepEqual(
      [await creditsUsed(db, accountId, agentId), await creditsUsed(db, accountId, accountId)],
      [4, 4],
    )
  } finally {
    await database.close()
    await drop()
  }
})
