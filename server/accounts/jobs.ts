import type { Context } from '../context.ts'
import { purgeKeys } from '../platform/http/idempotency/idempotency.ts'
import type { RecurringJob } from '../platform/jobs/recurring-jobs.ts'

const MINUTE = 60_000

export const accountRecurringJobs = ({ db }: Pick<Context, 'db'>): RecurringJob[] => [
  { what: 'old idempotency keys', everyMs: 60 * MINUTE, run: () => purgeKeys(db) },
]
