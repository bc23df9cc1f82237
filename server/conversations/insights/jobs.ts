import type { Context } from '../../context.ts'
import { ASK_AGAIN, type AskAgain } from '../../knowledge/training/enqueue-ask-again.ts'
import { withLowPriority } from '../../platform/db/connections/lanes.ts'
import type { Task } from '../../platform/jobs/jobs.ts'
import { POLL_MS, type RecurringJob } from '../../platform/jobs/recurring-jobs.ts'
import { analyseConversations } from './analysis/analyse-conversations.ts'
import {
  ANALYSE_CONVERSATIONS,
  type AnalyseConversations,
  hastenFirst,
} from './analysis/claim-conversations.ts'
import { askAgain } from './asked-again/ask-again.ts'
import { refreshDays } from './days/refresh-days.ts'
import { purgeCandidates } from './topics/proposed-labels.ts'

const analysing = (ctx: Pick<Context, 'db' | 'log' | 'models'>): Task<AnalyseConversations> => ({
  name: ANALYSE_CONVERSATIONS,
  bulk: true,
  concurrency: 2,
  retries: 2,
  run: (payload, { signal }) => analyseConversations(ctx, payload, signal),
})

const askingAgain = (ctx: Pick<Context, 'db' | 'jobs' | 'knowledge'>): Task<AskAgain> => ({
  name: ASK_AGAIN,
  bulk: true,
  concurrency: 1,
  retries: 2,
  run: (payload, { signal }) => askAgain(ctx, payload, signal),
})

export const insightJobs = (
  ctx: Pick<Context, 'db' | 'jobs' | 'knowledge' | 'log' | 'models'>,
): Task<never>[] => [analysing(ctx), askingAgain(ctx)]

export const insightRecurringJobs = (ctx: Pick<Context, 'db' | 'jobs'>): RecurringJob[] => [
  { what: 'conversations to look at', everyMs: 10_000, run: () => withLowPriority(() => hastenFirst(ctx)) },
  {
    what: 'figures of days',
    everyMs: 2 * POLL_MS,
    soonMs: 2_000,
    processes: 'all',
    run: () => withLowPriority(() => refreshDays(ctx.db)),
  },
  { what: 'old candidates of topics', everyMs: 3_600_000, run: () => purgeCandidates(ctx.db) },
]
