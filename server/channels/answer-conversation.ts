import { accountOf } from '../accounts/accounts.ts'
import { type AgentRow, requireAgent } from '../agents/find-agent.ts'
import type { Context } from '../context.ts'
import { chatAgentOf, startChat } from '../conversations/chat.ts'
import type { ConversationRow } from '../conversations/queries.ts'
import { WIDGET } from '../conversations/sources.ts'
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
 * Starts the agent's answer to what a conversation of a channel holds unanswered. One that is being answered is looked
 * at again later, and so is a failed one; when nobody can answer, a ticket is opened, because the customer waits. Spam
 * is not answered.
 */
export async function answerConversation(ctx: Context, { conversationId }: Answer): Promise<void> {
  const { db } = ctx
  const conversation = await db
    .selectFrom('conversations')
    .selectAll()
    .where('id', '=', conversationId)
    .executeTakeFirst()
  if (conversation?.status !== 'ongoing') return
  const account = await accountOf(db, conversation.account_id)
  if ((await failedTries(db, conversation)) >= MOST_TRIES) {
    await askPeople(ctx, conversation, 'The agent could not answer: its model did not respond.')
    return
  }
  const agent = await requireAgent(db, account.id, conversation.agent_id)
  if (await screenSpam(ctx, agent, conversation)) return
  const later = () => ctx.jobs.enqueue<Answer>(db, ANSWER, { conversationId }, LATER_SECONDS)
  try {
    const live = await startChat(ctx, requestOf(account, agent, conversation))
    live.answer.catch((error: unknown) => {
      // A takeover ends it, too; the next look sees that.
      ctx.log.info({ err: error, conversation: conversationId }, 'a channel got no answer yet')
      later().catch((failure: unknown) => ctx.log.error({ err: failure }, 'answering a channel again'))
    })
  } catch (error) {
    const code = error instanceof ApiError ? error.code : null
    if (code === 'CHAT_NOTHING_TO_CONTINUE' || code === 'CHAT_CONVERSATION_NOT_ONGOING') return
    if (code === 'CHAT_CONVERSATION_BUSY') await later()
    else if (code === 'CHAT_CREDITS_EXHAUSTED' || code === 'CHAT_AGENT_CREDITS_EXHAUSTED') {
      await askPeople(ctx, conversation, 'The agent could not answer: the credits are used up.')
    } else throw error
  }
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

/** Replies to the customer's newest message that came to nothing. */
async function failedTries(db: Db, { account_id, id }: ConversationRow): Promise<number> {
  const newest = await db
    .selectFrom('messages')
    .select('id')
    .where('account_id', '=', account_id)
    .where('conversation_id', '=', id)
    .where('role', '=', 'user')
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (!newest) return 0
  const { tries } = await db
    .selectFrom('generations')
    .select((eb) => eb.fn.countAll<number>().as('tries'))
    .where('account_id', '=', account_id)
    .where('conversation_id', '=', id)
    .where('user_message_id', '=', newest.id)
    .where('status', 'in', ['failed', 'interrupted'])
    .where('message_state', '=', 'none')
    .executeTakeFirstOrThrow()
  return tries
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
