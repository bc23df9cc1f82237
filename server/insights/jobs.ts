import type { Context } from '../context.ts'
import type { Task } from '../jobs/jobs.ts'
import { analyseConversations } from './analysis/analyse-conversations.ts'
import { ANALYSE_CONVERSATIONS, type AnalyseConversations } from './analysis/claim-conversations.ts'

const analysing = (ctx: Context): Task<AnalyseConversations> => ({
  name: ANALYSE_CONVERSATIONS,
  concurrency: 2,
  retries: 2,
  run: (payload, { signal }) => analyseConversations(ctx, payload, signal),
})

export const insightTasks = (ctx: Context): Task<never>[] => [analysing(ctx) as Task<never>]
