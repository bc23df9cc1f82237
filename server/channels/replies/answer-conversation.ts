import { accountOf } from '../../accounts/records/accounts.ts'
import { type AgentRow, requireAgent } from '../../agents/records/find-agent.ts'
import { CHANNEL_NAMES } from '../../agents/settings/channel-names.ts'
import { chatChannel } from '../../agents/settings/chat-channel.ts'
import type { Context } from '../../context.ts'
import { type ConversationRow, WIDGET } from '../../conversations/records/queries.ts'
import { runningGeneration } from '../../conversations/stream/generation-log.ts'
import { MAX_STARTS } from '../../conversations/turn/plan-turn.ts'
import { BUDGET_USED_UP, chatAgentOf, startChat } from '../../conversations/turn/start.ts'
import type { TurnNeeds } from '../../conversations/turn/turn.ts'
import { threadOf } from '../../inbox/deliveries/enqueue-delivery.ts'
import { openTicket } from '../../inbox/tickets/open-ticket.ts'
import type { Db } from '../../platform/db/database.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import { ApiError } from '../../platform/http/errors.ts'
import { ANSWER, type Answer } from '../inbound/process-inbound.ts'
import { screenSpam } from '../inbound/screen-spam.ts'

/** The delay before the next attempt, in seconds. By then, a running reply has usually ended. */
const LATER_SECONDS = 2
/** The number of failed replies to one message after which a person is asked. */
const MAX_TRIES = 4

/**
 * Starts the agent's answer to the unanswered messages of a conversation. Returns true when an answer is being made.
 * A conversation that is being answered is checked again later, and so is one whose answer failed. If nobody can
 * answer, a ticket is opened, because the customer is waiting. Spam is not answered, nor are messages whose answer
 * somebody has stopped, unless the visitor asks again. In that case `again` must admit it first; it throws when the
 * visitor has asked too often.
 */
export async function answerConversation(
  ctx: TurnNeeds & Pick<Context, 'jobs' | 'limiter' | 'notifier'>,
  { conversationId }: Answer,
  again: (() => Promise<unknown>) | null = null,
): Promise<boolean> {
  const { db } = ctx
  const conversation = await db
    .selectFrom('conversations')
    .selectAll()
    .where('id', '=', conversationId)
    .executeTakeFirst()
  if (conversation?.status !== 'ongoing') return false
  if (conversation.answer_starts >= MAX_STARTS || (conversation.answer_stopped && !again)) return false
  const account = await accountOf(db, conversation.account_id)
  if (conversation.answer_tries >= MAX_TRIES) {
    await askPeople(ctx, conversation, 'The agent could not answer: its model did not respond.')
    return false
  }
  const agent = await requireAgent(db, { accountId: account.id, agentId: conversation.agent_id })
  if (again && (await isBeingAnswered(ctx, conversation))) return true
  const isAnswered = conversation.asked_seq <= conversation.answered_seq
  if (again && isAnswered) return false
  await again?.()
  const later = (seconds = LATER_SECONDS) => ctx.jobs.enqueue<Answer>(db, ANSWER, { conversationId }, seconds)
  const pause = isAnswered ? 0 : await pauseOf(ctx, agent, conversation)
  if (pause > 0) {
    await later(pause)
    return true
  }
  if (await screenSpam(ctx, agent, conversation)) return false
  try {
    const channel = await channelOf(db, agent, conversation)
    const live = await startChat(ctx, requestOf(account, agent, channel, conversation))
    const retry = (error?: unknown): void => {
      // A takeover ends the reply, too, which the next attempt notices.
      ctx.log.info(
        { err: error, conversation: conversationId },
        'a conversation on a channel could not be answered yet',
      )
      later().catch((failure: unknown) =>
        ctx.log.error({ err: failure }, 'the retry of an answer could not be queued'),
      )
    }
    // An answer that broke off was not sent.
    live.answer.then(({ metadata }) => metadata.finishReason === 'error' && retry(), retry)
    return true
  } catch (error) {
    const code = error instanceof ApiError ? error.code : null
    if (code === 'CHAT_NOTHING_TO_CONTINUE' || code === 'CHAT_CONVERSATION_NOT_ONGOING') return false
    if (code === 'CHAT_CONVERSATION_BUSY') {
      await later()
      return true
    }
    const isBudget = error instanceof ApiError && error.message === BUDGET_USED_UP
    const reason = isBudget ? 'its budget for the month is used up' : UNABLE[code ?? '']
    if (reason === undefined) throw error
    await askPeople(ctx, conversation, `The agent could not answer: ${reason}.`)
    return false
  }
}

/** Returns whether an answer is already running. Generations of dead processes are closed. */
async function isBeingAnswered(
  { db, orphans }: Pick<Context, 'db' | 'orphans'>,
  { id, account_id }: ConversationRow,
): Promise<boolean> {
  if (!(await runningGeneration(db, account_id, id))) return false
  return !(await orphans.closeIfOrphaned(account_id, { conversationId: id }))
}

/**
 * Returns the seconds until the sender may be answered again: the limit is that of one address of the widget. Messages
 * that arrive meanwhile are answered together. Those of widget visitors were counted when they were sent.
 */
async function pauseOf(
  { limiter }: Pick<Context, 'limiter'>,
  { id, ip_rate_limits: { limit, timeframe } }: AgentRow,
  { source, contact_id, thread_id }: ConversationRow,
): Promise<number> {
  if (source === WIDGET) return 0
  const window = { limit, windowMs: timeframe * 1_000 }
  const { allowed, resetAt } = await limiter.take(`sender ${id} ${contact_id ?? thread_id}`, window)
  return allowed ? 0 : Math.max(1, Math.ceil((resetAt - Date.now()) / 1_000))
}

/** Errors that a retry cannot solve. */
const UNABLE: Record<string, string> = {
  CHAT_CREDITS_EXHAUSTED: 'the credits are used up',
  CHAT_AGENT_CREDITS_EXHAUSTED: 'the credits are used up',
  CHAT_MODEL_NOT_ALLOWED: 'its model is not in the plan of the account',
}

/**
 * Returns the channel over which the answer goes, by the name that the agent's channelInstructions and actions use.
 * Outside of the widget, that is the channel of the conversation's thread, wherever the conversation began.
 */
async function channelOf(
  db: Db,
  agent: AgentRow,
  { account_id, source, thread_id }: ConversationRow,
): Promise<string> {
  if (source === WIDGET) return chatChannel(agent)
  const thread = await threadOf(db, account_id, thread_id)
  return thread ? CHANNEL_NAMES[thread.channel].settings : 'api'
}

const requestOf = (
  account: Parameters<typeof startChat>[1]['account'],
  agent: AgentRow,
  channel: string,
  { id, source, has_voice }: ConversationRow,
): Parameters<typeof startChat>[1] => ({
  account,
  agent: chatAgentOf(agent),
  source,
  channel,
  isSpoken: has_voice,
  conversationId: id,
  ask: { kind: 'pending' },
  // On other channels, no application could run them.
  runsClientActions: source === WIDGET,
  idempotency: null,
})

/** Opens a ticket unless there is an open one, which already shows that somebody is waiting. */
async function askPeople(
  ctx: Pick<Context, 'db' | 'log' | 'notifier'>,
  conversation: ConversationRow,
  description: string,
): Promise<void> {
  ctx.log.warn({ conversation: conversation.id }, description)
  await transact(ctx.db, (trx) =>
    openTicket(ctx, trx, {
      accountId: conversation.account_id,
      agentId: conversation.agent_id,
      conversationId: conversation.id,
      subject: conversation.title,
      description,
      customer: { id: conversation.user_id, name: null, email: null, phoneNumber: null },
      assigneeId: null,
    }),
  )
}
