import type { Static } from 'typebox'
import type { Db } from '../../platform/db/database.ts'
import { isId } from '../../platform/db/ids.ts'
import type { ConversationRef } from '../../platform/db/refs.ts'
import { ApiError } from '../../platform/http/errors.ts'
import type { MadeOf } from '../playground/schema.ts'
import { epochSeconds, metadataOf, presentedOutcome } from '../records/present.ts'
import type { Addresses } from '../records/source-address.ts'
import type { explainAnswer as contract } from './contract.ts'

type Explanation = Static<(typeof contract)['success']['schema']>['data']

/** Explains an answer of the agent. Throws RESOURCE_MESSAGE_NOT_FOUND and RESOURCE_MESSAGE_NOT_ASSISTANT. */
export async function explainAnswer(
  db: Db,
  { accountId, agentId, conversationId }: ConversationRef,
  messageId: string,
  addresses: Addresses,
): Promise<Explanation> {
  const row = isId(messageId)
    ? await db
        .selectFrom('messages')
        .leftJoin('playground_runs', 'playground_runs.message_id', 'messages.id')
        .selectAll('messages')
        .select('playground_runs.made_of')
        .where('messages.account_id', '=', accountId)
        .where('messages.agent_id', '=', agentId)
        .where('messages.conversation_id', '=', conversationId)
        .where('messages.id', '=', messageId)
        .executeTakeFirst()
    : undefined
  if (!row) throw new ApiError('RESOURCE_MESSAGE_NOT_FOUND')
  const {
    model = null,
    score = null,
    sources = [],
    ungrounded,
    finishReason = null,
    author,
    outcome,
    forbiddenTopic,
    isHeld,
    heldOutcome,
  } = metadataOf(row)
  if (row.role !== 'assistant' || author) throw new ApiError('RESOURCE_MESSAGE_NOT_ASSISTANT')
  const madeOf = row.made_of as Static<typeof MadeOf> | null
  return {
    messageId: row.id,
    conversationId,
    createdAt: epochSeconds(row.created_at),
    model,
    finishReason,
    score,
    outcome: presentedOutcome(outcome),
    ...(forbiddenTopic ? { forbiddenTopic } : {}),
    ...(ungrounded ? { ungrounded } : {}),
    ...(isHeld ? { held: true as const } : {}),
    ...(heldOutcome ? { heldOutcome } : {}),
    sources: addresses.sources(row, sources),
    dollars: dollarsOf(madeOf),
    madeOf,
  }
}

/** Returns what all calls of models cost; null if the price of one is not known. */
function dollarsOf(madeOf: Static<typeof MadeOf> | null): number | null {
  const costs = (madeOf?.steps ?? []).map(({ dollars = null }) => dollars)
  if (costs.length === 0) return null
  return costs.reduce((sum, cost) => (sum === null || cost === null ? null : sum + cost), 0)
}
