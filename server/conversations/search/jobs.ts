import type { Context } from '../../context.ts'
import { withLowPriority } from '../../platform/db/connections/lanes.ts'
import { POLL_MS, type RecurringJob } from '../../platform/jobs/recurring-jobs.ts'

/** The most batches in one run, which keeps shutdown short; the next run continues. */
const BATCHES = 20

export const searchRecurringJobs = ({ db, indexer }: Pick<Context, 'db' | 'indexer'>): RecurringJob[] => [
  {
    what: 'the search index',
    everyMs: POLL_MS,
    soonMs: 2_000,
    processes: 'all',
    run: () => withLowPriority(() => indexer.run(db, BATCHES)),
  },
]
