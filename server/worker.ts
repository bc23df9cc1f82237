import { agentTasks } from './agents/tasks.ts'
import type { Context } from './context.ts'
import type { Task } from './jobs/jobs.ts'
import { knowledgeTasks } from './knowledge/tasks.ts'

/** All background work, one line a feature. */
export const tasks = (ctx: Context): Task<never>[] => [...agentTasks(ctx), ...knowledgeTasks(ctx)]
