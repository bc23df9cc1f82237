import { agentTasks } from './agents/jobs.ts'
import { channelTasks } from './channels/jobs.ts'
import type { Context } from './context.ts'
import { insightTasks } from './insights/jobs.ts'
import type { Task } from './jobs/jobs.ts'
import { knowledgeTasks } from './knowledge/jobs.ts'
import { notificationTasks } from './notifications/send-mail.ts'
import { privacyTasks } from './privacy/jobs.ts'
import { signInTasks } from './sign-in/jobs.ts'

/** Returns all background tasks, one line per feature. */
export const tasks = (ctx: Context): Task<never>[] => [
  ...agentTasks(ctx),
  ...knowledgeTasks(ctx),
  ...channelTasks(ctx),
  ...insightTasks(ctx),
  ...notificationTasks(ctx),
  ...privacyTasks(ctx),
  ...signInTasks(ctx),
]
