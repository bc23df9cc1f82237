import type { Db, Trx } from '../../../platform/db/database.ts'
import { type AgentRef, ofAgent } from '../../../platform/db/refs.ts'
import { transact } from '../../../platform/db/statements/transact.ts'
import { compareRuns, isFall } from './compare-runs.ts'
import { type RunRow, requireRun, resultsOf, scheduledRunBefore } from './runs.ts'
import { noteAlert, scheduleOf } from './schedule/schedules.ts'

/** Ends a run that is still running. The end of a scheduled one may be an alert. */
export async function endRun(
  db: Db,
  ref: AgentRef,
  id: string,
  status: 'finished' | 'canceled' | 'stopped',
  problem: string | null = null,
): Promise<void> {
  await transact(db, async (trx) => {
    const ended = await trx
      .updateTable('answer_runs')
      .set({ status, problem, finished_at: new Date() })
      .where(ofAgent(ref))
      .where('id', '=', id)
      .where('status', '=', 'running')
      .returning('id')
      .executeTakeFirst()
    if (!ended || status === 'canceled') return
    const schedule = await scheduleOf(trx, ref)
    if (schedule?.last_run_id !== id) return
    const run = await requireRun(trx, ref, id)
    await noteAlert(trx, ref, await alertOf(trx, ref, run, schedule.settings.alertBelow))
  })
}

/** Returns why people are told of a scheduled run: it stopped, too few tests passed, or it fell against the one before. */
async function alertOf(
  trx: Trx,
  ref: AgentRef,
  run: RunRow,
  alertBelow: number | null,
): Promise<string | null> {
  const { status, problem, done, passed, failed } = run
  if (status === 'stopped') return `The scheduled test stopped before its end. ${problem ?? ''}`.trim()
  const reasons: string[] = []
  if (alertBelow !== null && passed < alertBelow * done) {
    const unknown = done - passed - failed
    reasons.push(
      `${passed} of ${done} scheduled tests passed, and ${failed} failed; at least ${Math.round(alertBelow * 100)} % were to pass.`,
      ...(unknown > 0 ? [`About ${unknown}, nobody could tell.`] : []),
    )
  }
  const earlier = await scheduledRunBefore(trx, ref, run)
  if (earlier) {
    const comparison = compareRuns(await resultsOf(trx, ref, earlier.id), await resultsOf(trx, ref, run.id))
    if (isFall(comparison)) reasons.push(`Compared with the scheduled test before: ${comparison.conclusion}`)
  }
  return reasons.length > 0 ? reasons.join(' ') : null
}
