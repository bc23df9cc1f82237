import type { Context } from '../context.ts'
import type { RecurringJob } from '../platform/jobs/recurring-jobs.ts'
import { abandonIdleRuns } from './procedures/procedure-runs.ts'

export const actionRecurringJobs = ({ db }: Pick<Context, 'db'>): RecurringJob[] => [
  { what: 'idle procedures', everyMs: 600_000, run: () => abandonIdleRuns(db) },
]
