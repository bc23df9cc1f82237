import { accountOf } from '../accounts/accounts.ts'
import { chatChannel } from '../agents/chat-channel.ts'
import type { AgentRow } from '../agents/find-agent.ts'
import type { Context } from '../context.ts'
import { chatAgentOf, startChat } from '../conversations/chat.ts'
import type { ConversationRow } from '../conversations/queries.ts'
import { WIDGET } from '../conversations/sources.ts'
import { ApiError } from '../http/errors.ts'

/** Not now, for a reason that the visitor sees anyway: the page still owes a result, or a person has taken over. */
const NOT_NOW = [
  'CHAT_NOTHING_TO_CONTINUE',
  'CHAT_CONVERSATION_NOT_ONGOING',
  'CHAT_CREDITS_EXHAUSTED',
  'CHAT_AGENT_CREDITS_EXHAUSTED',
  'CHAT_MODEL_NOT_ALLOWED',
]

/** Each costs the owner credits, and it is the visitor's browser that asks for it. */
const MOST_CONTINUATIONS = 8

/**
 * Has the agent go on from what the page's actions answered; true when an answer is being made. False, too, when it has
 * gone on so often since the visitor last wrote that it would not end.
 */
export async function continueAnswer(
  ctx: Context,
  agent: AgentRow,
  { id: conversationId, has_voice, continuations }: ConversationRow,
): Promise<boolean> {
  if (continuations >= MOST_CONTINUATIONS) return false
  const account = await accountOf(ctx.db, agent.account_id)
  try {
    const live = await startChat(ctx, {
      account,
      agent: chatAgentOf(agent),
      source: WIDGET,
      channel: chatChannel(agent),
      isSpoken: has_voice,
      conversationId,
      idempotency: null,
    })
    // Its readers are told by the stream.
    live.answer.catch(() => {})
    return true
  } catch (error) {
    const code = error instanceof ApiError ? error.code : ''
    if (code === 'CHAT_CONVERSATION_BUSY') return true
    if (NOT_NOW.includes(code)) return false
    throw error
  }
}
