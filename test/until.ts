import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Db } from '../server/platform/db/database.ts'
import type { Service } from './start.ts'

type Nothing = null | undefined | false

/**
 * Calls `look` until it returns a value and returns that value. Fails after about two minutes. It looks often at first,
 * because most of what tests wait for happens at once.
 */
export async function until<T>(what: string, look: () => T | Nothing | Promise<T | Nothing>): Promise<T> {
  for (let looks = 0; looks < 2_400; looks++) {
    const found = await look()
    if (found) return found
    await wait(looks < 20 ? 5 : 50)
  }
  assert.fail(`${what} never came`)
}

/** Waits until a source is trained. It reads the database, because API requests count towards the rate limit. */
export async function trained({ ctx }: Service, sourceId: string): Promise<void> {
  await until('the end of the training', async () => {
    const { status, error } = await ctx.db
      .selectFrom('sources')
      .select(['status', 'error'])
      .where('id', '=', sourceId)
      .executeTakeFirstOrThrow()
    assert.notEqual(status, 'failed', String(error))
    return status === 'trained'
  })
}

/** Waits until a statement with this text waits for a lock of another transaction (PostgreSQL only). */
export async function waitingForLock(db: Db, text = ''): Promise<void> {
  await until('a statement that waits for a lock', async () => {
    const { rows } = await sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
        and query ilike ${`%${text}%`}`.execute(db)
    return rows.length > 0
  })
}
