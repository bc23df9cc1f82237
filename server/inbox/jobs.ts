import type { Context } from '../context.ts'
import type { RecurringJob } from '../platform/jobs/recurring-jobs.ts'
import { flagBreaches } from './clocks/flag-breaches.ts'
import { purgeEvents } from './live/event-queries.ts'

export const helpdeskRecurringJobs = (ctx: Pick<Context, 'db' | 'notifier'>): RecurringJob[] => [
  { what: 'targets of tickets', everyMs: 20_000, run: () => flagBreaches(ctx) },
  { what: 'old events of help desks', everyMs: 600_000, run: () => purgeEvents(ctx.db) },
]
