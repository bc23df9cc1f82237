import type { Context } from '../context.ts'
import type { TurnNeeds } from '../conversations/turn/turn.ts'
import type { Task } from '../platform/jobs/jobs.ts'
import type { RecurringJob } from '../platform/jobs/recurring-jobs.ts'
import { POLL_MS } from '../platform/jobs/recurring-jobs.ts'
import { WITHDRAW_PERMISSION, type WithdrawPermission } from './email/connection/withdraw-later.ts'
import { withdrawPermission } from './email/connection/withdraw-permission.ts'
import { KEEP_SENT, type KeepSent, keepSent } from './email/outbound/keep-sent.ts'
import { createMailReader } from './email/parse/mail-reader.ts'
import { ANSWER, type Answer, processInbound } from './inbound/process-inbound.ts'
import { PROCESS_INBOUND, type ProcessInbound } from './inbound/receive-message.ts'
import { messagingJobs } from './messaging/jobs.ts'
import { createSender } from './outbound/send-deliveries.ts'
import type { ChannelNeeds } from './registry/channel.ts'
import { channels } from './registry/channels.ts'
import { answerConversation } from './replies/answer-conversation.ts'
import { answerForgotten } from './replies/answer-forgotten.ts'
import { endIdle } from './replies/end-idle.ts'

const takingIn = (ctx: Pick<Context, 'db' | 'jobs' | 'notifier'>): Task<ProcessInbound> => ({
  name: PROCESS_INBOUND,
  concurrency: 2,
  retries: 10,
  run: (payload) => processInbound(ctx, payload),
})

const answering = (ctx: Parameters<typeof answerConversation>[0]): Task<Answer> => ({
  name: ANSWER,
  // A job may wait for a model that looks for spam.
  concurrency: 4,
  retries: 4,
  run: async (payload) => {
    await answerConversation(ctx, payload)
  },
})

const keepingSent = (ctx: Parameters<typeof keepSent>[0]): Task<KeepSent> => ({
  name: KEEP_SENT,
  concurrency: 1,
  share: 1,
  // With the growing delays between them, the retries take more than an hour.
  retries: 12,
  run: (payload, { signal }) => keepSent(ctx, payload, signal),
})

const withdrawing = (ctx: Parameters<typeof withdrawPermission>[0]): Task<WithdrawPermission> => ({
  name: WITHDRAW_PERMISSION,
  concurrency: 1,
  retries: 1,
  run: (payload) => withdrawPermission(ctx, payload),
})

export const channelJobs = (
  ctx: TurnNeeds & Pick<Context, 'fetcher' | 'filesDir' | 'jobs' | 'limiter' | 'notifier'>,
): Task<never>[] => [
  takingIn(ctx),
  answering(ctx),
  ...messagingJobs(ctx),
  keepingSent(ctx) as Task<never>,
  withdrawing(ctx) as Task<never>,
]

export function channelRecurringJobs(
  ctx: ChannelNeeds & Parameters<typeof createMailReader>[0],
): RecurringJob[] {
  const sender = createSender(ctx, channels)
  const mailboxes = createMailReader(ctx)
  return [
    {
      what: 'deliveries',
      everyMs: POLL_MS,
      soonMs: 1_000,
      processes: 'all',
      run: () => sender.tick(),
      close: () => sender.idle(),
    },
    { what: 'mailboxes', everyMs: POLL_MS, run: () => mailboxes.tick(), close: () => mailboxes.close() },
    { what: 'unanswered customers', everyMs: 20_000, run: () => answerForgotten(ctx) },
    { what: 'idle conversations', everyMs: 60_000, run: () => endIdle(ctx.db) },
  ]
}
