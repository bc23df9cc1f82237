import { sql } from 'kysely'
import type { Db, Trx } from '../../../platform/db/database.ts'
import { json } from '../../../platform/db/statements/json.ts'
import { transact } from '../../../platform/db/statements/transact.ts'
import type { AccountId } from '../../../platform/db/tables/columns.ts'
import { recountQueued } from '../unanswered/recount-groups.ts'
import { computeDay } from './compute-day.ts'
import { foldQueue } from './fold-queue.ts'

/** A busy day changes all the time, so it is computed again at most this often, and a large one less often. */
const PAUSE_MS = 5_000
const SHARE_OF_TIME = 50
const AT_ONCE = 50

/**
 * Updates the figures: reads the queue, then computes stale days, each in one transaction. Any number of processes may
 * do so at the same time. Returns how many days were computed; `impatient` omits the pauses.
 */
export async function refreshDays(db: Db, { impatient = false } = {}): Promise<number> {
  await foldQueue(db)
  await recountQueued(db)
  for (let done = 0; ; done++) {
    if (done === AT_ONCE && !impatient) return done
    if (!(await transact(db, (trx) => refreshOne(trx, impatient)))) return done
  }
}

type Stale = { agent_id: string; day: string; account_id: AccountId }

/** Any later change of the day is queued, and reading the queue waits for the lock of this row. */
async function refreshOne(trx: Trx, impatient: boolean): Promise<boolean> {
  const started = performance.now()
  const { rows } = await sql<Stale>`
    select agent_id, to_char(day, 'YYYY-MM-DD') as day, account_id from insight_days
    where is_stale and (${impatient}::boolean or computed_at is null
      or computed_at + greatest(${PAUSE_MS}::integer, took_ms * ${SHARE_OF_TIME}::integer) * interval '1 millisecond'
        <= now())
    order by computed_at nulls first limit 1 for update skip locked`.execute(trx)
  const stale = rows[0]
  if (!stale) return false
  const { topics, sources, countries, outcomes, ...figures } = await computeDay(
    trx,
    { accountId: stale.account_id, agentId: stale.agent_id },
    stale.day,
  )
  await trx
    .updateTable('insight_days')
    .set({ ...figures, topics: json(topics), sources: json(sources), countries: json(countries) })
    .set({ outcomes: json(outcomes) })
    .set({ is_stale: false, computed_at: sql<Date>`now()`, took_ms: Math.round(performance.now() - started) })
    .where('account_id', '=', stale.account_id)
    .where('agent_id', '=', stale.agent_id)
    .where('day', '=', sql<string>`${stale.day}::date`)
    .execute()
  return true
}
