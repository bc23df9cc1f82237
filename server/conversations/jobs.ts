import type { Context } from '../context.ts'
import type { RecurringJob } from '../platform/jobs/recurring-jobs.ts'
import { dropOldPrompts } from './explanations/record-answer.ts'
import { startScheduledRuns } from './playground/answer-tests/schedule/schedules.ts'
import { expireCalls } from './records/expire-calls.ts'
import { releaseForgotten } from './records/reconcile-credits.ts'
import { purgeLog } from './stream/generation-log.ts'

const MINUTE = 60_000

export const conversationRecurringJobs = (
  ctx: Pick<Context, 'db' | 'jobs' | 'models' | 'orphans'>,
): RecurringJob[] => [
  {
    what: 'orphaned generations',
    everyMs: 5_000,
    processes: 'all',
    afterDeath: true,
    run: () => ctx.orphans.closeAll(),
    // With the embedded database, no other process can still be running what the last process left behind.
    atStart: () => ctx.orphans.closeAll(),
  },
  { what: 'forgotten reservations', everyMs: MINUTE, run: () => releaseForgotten(ctx.db) },
  { what: 'expired actions', everyMs: MINUTE, run: () => expireCalls(ctx.db) },
  { what: 'old prompts', everyMs: MINUTE, run: () => dropOldPrompts(ctx.db) },
  { what: 'scheduled tests of answers', everyMs: MINUTE, run: () => startScheduledRuns(ctx) },
  { what: 'old logs of generations', everyMs: 60 * MINUTE, run: () => purgeLog(ctx.db) },
]
