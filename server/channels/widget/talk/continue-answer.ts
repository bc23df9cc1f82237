import { accountOf } from '../../../accounts/records/accounts.ts'
import type { AgentRow } from '../../../agents/records/find-agent.ts'
import { chatChannel } from '../../../agents/settings/chat-channel.ts'
import { type ConversationRow, WIDGET } from '../../../conversations/records/queries.ts'
import { chatAgentOf, startChat } from '../../../conversations/turn/start.ts'
import type { TurnNeeds } from '../../../conversations/turn/turn.ts'
import { ApiError } from '../../../platform/http/errors.ts'

/** Errors whose reason the visitor sees anyway: the page still owes a result, or a person has taken over. */
const NOT_NOW = [
  'CHAT_NOTHING_TO_CONTINUE',
  'CHAT_CONVERSATION_NOT_ONGOING',
  'CHAT_CREDITS_EXHAUSTED',
  'CHAT_AGENT_CREDITS_EXHAUSTED',
  'CHAT_MODEL_NOT_ALLOWED',
]

/**
 * The most continuations in a row, because each costs the owner credits and is requested by the visitor's browser.
 */
const MAX_CONTINUATIONS = 8

/**
 * Continues the agent's answer after the results of the page's actions. Returns true when an answer is being
 * generated. Returns false as well when it has been continued so often since the visitor's last message that it would
 * not end.
 */
export async function continueAnswer(
  ctx: TurnNeeds,
  agent: AgentRow,
  { id: conversationId, has_voice, continuations }: ConversationRow,
): Promise<boolean> {
  if (continuations >= MAX_CONTINUATIONS) return false
  const account = await accountOf(ctx.db, agent.account_id)
  try {
    const live = await startChat(ctx, {
      account,
      agent: chatAgentOf(agent),
      source: WIDGET,
      channel: chatChannel(agent),
      isSpoken: has_voice,
      conversationId,
      ask: { kind: 'continue' },
      idempotency: null,
    })
    // Readers get the error from the stream.
    live.answer.catch(() => {})
    return true
  } catch (error) {
    const code = error instanceof ApiError ? error.code : ''
    if (code === 'CHAT_CONVERSATION_BUSY') return true
    if (NOT_NOW.includes(code)) return false
    throw error
  }
}
