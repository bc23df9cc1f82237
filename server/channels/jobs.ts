import type { Context } from '../context.ts'
import type { Task } from '../jobs/jobs.ts'
import { TAKE_IN, type TakeIn } from './inbound/receive-message.ts'
import { ANSWER, type Answer, takeIn } from './inbound/take-in.ts'
import { messagingTasks } from './messaging/jobs.ts'
import { answerConversation } from './replies/answer-conversation.ts'

const takingIn = (ctx: Context): Task<TakeIn> => ({
  name: TAKE_IN,
  concurrency: 2,
  retries: 10,
  run: (payload) => takeIn(ctx, payload),
})

const answering = (ctx: Context): Task<Answer> => ({
  name: ANSWER,
  // A job may wait for a model that looks for spam.
  concurrency: 4,
  retries: 4,
  run: async (payload) => {
    await answerConversation(ctx, payload)
  },
})

export const channelTasks = (ctx: Context): Task<never>[] => [
  takingIn(ctx) as Task<never>,
  answering(ctx) as Task<never>,
  ...messagingTasks(ctx),
]
