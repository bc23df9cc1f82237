import type { Static } from 'typebox'
import { runningGeneration } from '../conversations/attach.ts'
import { messagesBackwards } from '../conversations/queries.ts'
import type { Db } from '../db/database.ts'
import { pendingCalls } from './queries.ts'
import type { VisibleConversation } from './schema.ts'
import { visibleMessage, visibleSummary } from './visible.ts'
import { requireOwnConversation, type Visit } from './visitor.ts'

const NEWEST_MESSAGES = 100

/** A conversation as its visitor sees it. Throws RESOURCE_NOT_FOUND. */
export async function readConversation(
  db: Db,
  visit: Visit,
  conversationId: string,
): Promise<Static<typeof VisibleConversation>> {
  const accountId = visit.agent.account_id
  const row = await requireOwnConversation(db, visit, conversationId)
  // Before the messages: an answer that ends meanwhile is then told as still coming, not as missing.
  const running = await runningGeneration(db, accountId, row.id)
  const [messages, pending] = await Promise.all([
    messagesBackwards(db, accountId, row.id, { limit: NEWEST_MESSAGES - 1, beforeSeq: null }),
    pendingCalls(db, accountId, row.id),
  ])
  return {
    ...visibleSummary(row),
    answering: running !== undefined,
    messages: messages.reverse().map((message) => visibleMessage(message, pending)),
  }
}
