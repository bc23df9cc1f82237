import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { onPostgres } from '../database.ts'
import { inFaultWorld, isLong } from '../faults/fault-world.ts'
import { killOften } from '../faults/kill-often.ts'

const KILLS = isLong ? 40 : 8
/** The keys and conversations of a dead process are free within six seconds. */
const FREE_WITHIN_MS = 6_000

const kills = (t: TestContext, wanted: { embedded: boolean; processes: number }): Promise<void> =>
  inFaultWorld(wanted, async (world) => {
    const { turns, waits } = await killOften(world, KILLS)
    t.diagnostic(
      `${turns} messages; ${waits.length} cut off, the longest for ${Math.round(Math.max(...waits))} ms`,
    )
    assert.ok(waits.length > 0, 'no kill cut off an answer')
    assert.ok(Math.max(...waits) < FREE_WITHIN_MS, `somebody had to wait ${Math.max(...waits)} ms`)
  })

const NAME = 'lose and double no message, ask the model once, keep what was shown, and free what they held'

test(
  `kills of the only process, on the embedded database, ${NAME}`,
  {
    skip: onPostgres() && 'It runs when TEST_DATABASE_URL is not set.',
  },
  (t) => kills(t, { embedded: true, processes: 1 }),
)

test(
  `kills of one of two processes ${NAME}`,
  {
    skip: !onPostgres() && 'Two processes need PostgreSQL: set TEST_DATABASE_URL.',
  },
  (t) => kills(t, { embedded: false, processes: 2 }),
)

test(
  `kills of the only process, on PostgreSQL, ${NAME}`,
  {
    skip: !onPostgres() && 'It needs PostgreSQL: set TEST_DATABASE_URL.',
  },
  (t) => kills(t, { embedded: false, processes: 1 }),
)
