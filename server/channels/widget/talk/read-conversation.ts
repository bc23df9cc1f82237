import type { Static } from 'typebox'
import type { Context } from '../../../context.ts'
import { messagesBackwards } from '../../../conversations/records/queries.ts'
import { addressesOf } from '../../../conversations/records/source-address.ts'
import { runningGeneration } from '../../../conversations/stream/generation-log.ts'
import { ApiError } from '../../../platform/http/errors.ts'
import { requireOwnConversation, type Visit } from '../visitors/visitor.ts'
import { helpOf, readStates } from './conversation-state.ts'
import { pendingCalls } from './queries.ts'
import type { VisibleConversation } from './schema.ts'
import { visibleMessage, visibleSummary } from './visible.ts'

const NEWEST_MESSAGES = 100

/** Returns a conversation as its visitor sees it. Throws RESOURCE_NOT_FOUND. */
export async function readConversation(
  ctx: Pick<Context, 'db' | 'secrets' | 'config'>,
  visit: Visit,
  conversationId: string,
): Promise<Static<typeof VisibleConversation>> {
  const { db } = ctx
  const accountId = visit.agent.account_id
  const row = await requireOwnConversation(db, visit, conversationId)
  // Read the version first, so that a later change results in another version.
  const [state] = await readStates(db, [row.id])
  if (!state) throw new ApiError('RESOURCE_NOT_FOUND', { message: 'The conversation does not exist.' })
  // Read this before the messages: an answer that ends in between then appears as still running and not as missing.
  const running = await runningGeneration(db, accountId, row.id)
  const [messages, pending] = await Promise.all([
    messagesBackwards(db, accountId, row.id, { limit: NEWEST_MESSAGES - 1, beforeSeq: null }),
    pendingCalls(db, accountId, row.id),
  ])
  return {
    ...visibleSummary(row),
    version: state.version,
    help: await helpOf(db, visit, state),
    answering: running !== undefined,
    messages: messages.reverse().map((message) => visibleMessage(message, pending, addressesOf(ctx))),
  }
}
