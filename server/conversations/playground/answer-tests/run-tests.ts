import { planOf } from '../../../accounts/plans/plans.ts'
import { accountOf } from '../../../accounts/records/accounts.ts'
import type { Context } from '../../../context.ts'
import type { Db } from '../../../platform/db/database.ts'
import { type AgentRef, ofAgent } from '../../../platform/db/refs.ts'
import { json } from '../../../platform/db/statements/json.ts'
import { transact } from '../../../platform/db/statements/transact.ts'
import { storableJson } from '../../../platform/http/bodies/storable.ts'
import { ApiError } from '../../../platform/http/errors.ts'
import type { RateWindow } from '../../../platform/http/limits/rate-limit.ts'
import type { Task } from '../../../platform/jobs/jobs.ts'
import type { TurnNeeds } from '../../turn/turn.ts'
import { withoutErased } from './cases/origins.ts'
import { endRun } from './end-run.ts'
import { runCase } from './run-case.ts'
import {
  caseOfRun,
  enqueueTest,
  findRun,
  RUN_ANSWER_TESTS,
  type RunAnswerTests,
  type RunRow,
  snapshotOfRun,
} from './runs.ts'
import { answersOf, type CaseOfRun } from './schema.ts'

/** The most answers an hour that an account with a limit of credits may test for nothing. */
const ANSWERS: RateWindow = { limit: 300, windowMs: 3_600_000 }

type Needs = TurnNeeds & Pick<Context, 'jobs' | 'limiter'>

/**
 * Runs the next test of a run. Each test is a job that enqueues the next one together with its result, so that runs take
 * turns, and go on where their process was when it ended.
 */
export const runAnswerTests = (ctx: Needs): Task<RunAnswerTests> => ({
  name: RUN_ANSWER_TESTS,
  concurrency: 2,
  share: 1,
  retries: 8,
  async run(test, { isLast, signal }) {
    try {
      await runNext(ctx, test, signal)
    } catch (error) {
      // Nobody would end it, and the agent could not be tested any more.
      if (!signal.aborted && isLast(error)) {
        const isPlain = error instanceof ApiError
        if (!isPlain) ctx.log.error({ err: error, runId: test.runId }, 'a test of answers could not be run')
        const why = isPlain ? error.message : 'The service failed; its log says why.'
        await endRun(ctx.db, test, test.runId, 'stopped', `A test could not be run. ${why}`)
      }
      throw error
    }
  },
})

async function runNext(ctx: Needs, test: RunAnswerTests, signal: AbortSignal): Promise<void> {
  const { runId, done, ...ref } = test
  const { db, jobs } = ctx
  const run = await findRun(db, ref, runId)
  // The job has run before, and its successor goes on.
  if (run?.status !== 'running' || run.done !== done) return
  const { settings } = run
  const asked = await caseOfRun(db, ref, runId, done % settings.cases)
  if (!asked || done >= settings.cases * settings.repeats) return endRun(db, ref, runId, 'finished')
  const reached = reachedLimit(run, asked)
  if (reached) return endRun(db, ref, runId, 'stopped', reached)
  const waitSeconds = await secondsUntilRoom(ctx, ref, asked)
  if (waitSeconds > 0) return transact(db, (trx) => enqueueTest(trx, jobs, test, waitSeconds))
  const repetition = Math.floor(done / settings.cases) + 1
  const snapshot = await snapshotOfRun(db, ref, runId)
  const watch = watchRun(ctx, ref, runId)
  const stop = AbortSignal.any([signal, watch.ended])
  const result = await runCase(ctx, ref, { ...settings, snapshot }, asked, repetition, stop)
    .catch((error: unknown) => {
      if (!watch.ended.aborted) throw error
      return null
    })
    .finally(watch.close)
  if (!result) return
  await transact(db, async (trx) => {
    const kept = await withoutErased(trx, ref, runId, done % settings.cases, asked, result)
    // Whoever has ended the run, or erased a person, has nothing stored afterwards.
    if (!(await isRunning(trx, ref, runId, 'hold'))) return
    const stored = await trx
      .insertInto('answer_results')
      .values({
        run_id: runId,
        place: done % settings.cases,
        repetition,
        account_id: ref.accountId,
        result: json(storableJson(kept)),
      })
      .onConflict((conflict) => conflict.doNothing())
      .returning('run_id')
      .executeTakeFirst()
    if (stored) await enqueueTest(trx, jobs, { ...test, done: done + 1 })
  })
}

/** Whether the run is still running. With `hold`, it is until the end of the transaction. */
async function isRunning(db: Db, ref: AgentRef, runId: string, hold?: 'hold'): Promise<boolean> {
  const run = await db
    .selectFrom('answer_runs')
    .select('status')
    .where(ofAgent(ref))
    .where('id', '=', runId)
    .$if(hold !== undefined, (query) => query.forShare())
    .executeTakeFirst()
  return run?.status === 'running'
}

const LOOK_MS = 2_000

/** Looks from time to time whether a run is still running, and aborts `ended` when it is not. */
function watchRun({ db, log }: Pick<Needs, 'db' | 'log'>, ref: AgentRef, runId: string) {
  const ended = new AbortController()
  const look = (): Promise<void> =>
    isRunning(db, ref, runId).then(
      (isGoingOn) => (isGoingOn ? undefined : ended.abort()),
      (error: unknown) => log.warn({ err: error }, 'a run of tests could not be looked at'),
    )
  const timer = setInterval(() => void look(), LOOK_MS)
  return { ended: ended.signal, close: () => clearInterval(timer) }
}

/** Returns why another test would pass a limit of the run; null if it does not. */
function reachedLimit(
  { settings, credits, spent, isUnpriced, done }: RunRow,
  asked: CaseOfRun,
): string | null {
  const { maxCredits, maxDollars, creditsOfAnswer } = settings
  if (maxDollars !== undefined && isUnpriced)
    return `What a call has cost is not known, so the limit of $${maxDollars} cannot be kept.`
  if (maxCredits !== undefined && credits + answersOf(asked) * creditsOfAnswer > maxCredits)
    return `The limit of ${maxCredits} credits’ worth was reached.`
  if (maxDollars !== undefined && done > 0 && spent + spent / done > maxDollars)
    return `The limit of $${maxDollars} was reached.`
  return null
}

/** Tests are free, so those of an account whose plan limits its credits have a limit of their own. */
async function secondsUntilRoom(
  { db, limiter }: Pick<Needs, 'db' | 'limiter'>,
  { accountId }: AgentRef,
  asked: CaseOfRun,
): Promise<number> {
  const { plan } = await accountOf(db, accountId)
  if (planOf(plan).creditsPerMonth === null) return 0
  for (let n = 0; n < answersOf(asked); n++) {
    const { allowed, resetAt } = await limiter.take(`answer tests of ${accountId}`, ANSWERS)
    if (!allowed) return Math.max(1, Math.ceil((resetAt - Date.now()) / 1_000))
  }
  return 0
}
