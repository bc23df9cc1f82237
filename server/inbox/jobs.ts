import type { Context } from '../context.ts'
import type { Task } from '../platform/jobs/jobs.ts'
import type { RecurringJob } from '../platform/jobs/recurring-jobs.ts'
import { flagBreaches } from './clocks/flag-breaches.ts'
import { repairTimes } from './clocks/repair-times.ts'
import { wakeTickets } from './clocks/wake-tickets.ts'
import { purgeEvents } from './live/event-queries.ts'
import { SEND_HELD, SEND_HELD_MAIL, type SendHeld, sendHeld } from './mail/held-replies.ts'

const sending = (name: string, ctx: Pick<Context, 'db' | 'jobs' | 'notifier'>): Task<SendHeld> => ({
  name,
  concurrency: 4,
  retries: 10,
  run: (payload) => sendHeld(ctx, payload),
})

export const helpdeskJobs = (ctx: Pick<Context, 'db' | 'jobs' | 'notifier'>): Task<never>[] => [
  sending(SEND_HELD, ctx),
  sending(SEND_HELD_MAIL, ctx),
]

export const helpdeskRecurringJobs = (ctx: Pick<Context, 'db' | 'log' | 'notifier'>): RecurringJob[] => [
  { what: 'targets of tickets', everyMs: 20_000, run: () => flagBreaches(ctx) },
  { what: 'snoozed tickets', everyMs: 20_000, run: () => wakeTickets(ctx) },
  { what: 'waiting times of tickets', everyMs: 3_600_000, run: () => repairTimes(ctx.db) },
  { what: 'old events of help desks', everyMs: 600_000, run: () => purgeEvents(ctx.db) },
]
