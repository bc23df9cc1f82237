import { agentTasks } from './agents/tasks.ts'
import { channelTasks } from './channels/tasks.ts'
import type { Context } from './context.ts'
import { insightTasks } from './insights/tasks.ts'
import type { Task } from './jobs/jobs.ts'
import { knowledgeTasks } from './knowledge/tasks.ts'
import { notificationTasks } from './notifications/send-mail.ts'
import { privacyTasks } from './privacy/tasks.ts'
import { signInTasks } from './sign-in/tasks.ts'

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
