import { sql } from 'kysely'
import { accountOf } from '../accounts/accounts.ts'
import { type AgentRow, requireAgent } from '../agents/find-agent.ts'
import type { Context } from '../context.ts'
import { chatAgentOf, startChat } from '../conversations/chat.ts'
import type { ConversationRow } from '../conversations/queries.ts'
import { WIDGET } from '../conversations/sources.ts'
import { newestAsked } from '../conversations/unanswered.ts'
import type { Db } from '../db/database.ts'
import { transact } from '../db/transact.ts'
import { openTicket } from '../helpdesk/open-ticket.ts'
import { ApiError } from '../http/errors.ts'
import { ANSWER, type Answer } from './channel-tasks.ts'
import { screenSpam } from './screen-spam.ts'

/** A reply that is being made is over by then, mostly; a model that failed has had a rest. */
const LATER_SECONDS = 2
/** Failed replies to one message before a person is asked. */
const MOST_TRIES = 4

/**
 * Starts the agent's answer to what a conversation of a channel holds unanswered; true when one is being made. One
 * that is being answered is looked at again later, and so is a failed one; when nobody can answer, a ticket is opened,
 * because the customer waits. Spam is not answered, nor what somebody has stopped the answer to, unless it was asked
 * again (`evenStopped`).
 */
export async function answerConversation(
  ctx: Context,
  { conversationId }: Answer,
  { evenStopped = false } = {},
): Promise<boolean> {
  const { db } = ctx
  const conversation = await db
    .selectFrom('conversations')
    .selectAll()
    .where('id', '=', conversationId)
    .executeTakeFirst()
  if (conversation?.status !== 'ongoing') return false
  const tries = await triesToAnswer(db, conversation)
  if (tries.stopped > 0 && !evenStopped) return false
  const account = await accountOf(db, conversation.account_id)
  if (tries.failed >= MOST_TRIES) {
    await askPeople(ctx, conversation, 'The agent could not answer: its model did not respond.')
    return false
  }
  const agent = await requireAgent(db, account.id, conversation.agent_id)
  if (await screenSpam(ctx, agent, conversation)) return false
  const later = () => ctx.jobs.enqueue<Answer>(db, ANSWER, { conversationId }, LATER_SECONDS)
  try {
    const live = await startChat(ctx, requestOf(account, agent, conversation))
    live.answer.catch((error: unknown) => {
      // A takeover ends it, too; the next look sees that.
      ctx.log.info({ err: error, conversation: conversationId }, 'a channel got no answer yet')
      later().catch((failure: unknown) => ctx.log.error({ err: failure }, 'answering a channel again'))
    })
    return true
  } catch (error) {
    const code = error instanceof ApiError ? error.code : null
    if (code === 'CHAT_NOTHING_TO_CONTINUE' || code === 'CHAT_CONVERSATION_NOT_ONGOING') return false
    if (code === 'CHAT_CONVERSATION_BUSY') {
      await later()
      return true
    }
    const reason = UNABLE[code ?? '']
    if (reason === undefined) throw error
    await askPeople(ctx, conversation, `The agent could not answer: ${reason}.`)
    return false
  }
}

/** Nothing that a later try would mend. */
const UNABLE: Record<string, string> = {
  CHAT_CREDITS_EXHAUSTED: 'the credits are used up',
  CHAT_AGENT_CREDITS_EXHAUSTED: 'the credits are used up',
  CHAT_MODEL_NOT_ALLOWED: 'its model is not in the plan of the account',
}

/** As the agent's channelInstructions and actions name it. */
const CHANNEL_OF: Record<string, string> = { [WIDGET]: 'chat_widget', Email: 'email' }

const requestOf = (
  account: Parameters<typeof startChat>[1]['account'],
  agent: AgentRow,
  { id, source, has_voice }: ConversationRow,
): Parameters<typeof startChat>[1] => ({
  account,
  agent: chatAgentOf(agent),
  source,
  channel: CHANNEL_OF[source] ?? 'messaging',
  isSpoken: has_voice,
  conversationId: id,
  pending: true,
  // Elsewhere there is no application that could run them.
  runsClientActions: source === WIDGET,
  idempotencyKey: null,
})

/** Replies to the customer's newest message that came to nothing, and those that somebody stopped before a word. */
async function triesToAnswer(
  db: Db,
  { account_id, id }: ConversationRow,
): Promise<{ failed: number; stopped: number }> {
  const { rows } = await sql<{ failed: number; stopped: number }>`
    select (count(*) filter (where stop_reason is null and status in ('failed', 'interrupted')))::int as failed,
      (count(*) filter (where stop_reason = 'stop'))::int as stopped
    from generations
    where account_id = ${account_id} and conversation_id = ${id} and message_state = 'none'
      and user_message_id = ${newestAsked(account_id, id)}`.execute(db)
  return rows[0] ?? { failed: 0, stopped: 0 }
}

/** Opens a ticket, once: an open one says already that somebody waits. */
async function askPeople(ctx: Context, conversation: ConversationRow, description: string): Promise<void> {
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
