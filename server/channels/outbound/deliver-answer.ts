import { CHANNEL_NAMES } from '../../agents/settings/channel-names.ts'
import { textOf } from '../../conversations/records/parts.ts'
import type { GenerationIds } from '../../conversations/stream/live-generation.ts'
import type { StoredMessage } from '../../conversations/turn/end-statements.ts'
import type { Trx } from '../../db/database.ts'
import type { AgentRef } from '../../db/refs.ts'
import { enqueueDelivery, threadOf } from '../../deliveries/enqueue-delivery.ts'
import { withoutMarkers } from '../../knowledge/search/answering/citations.ts'
import { linkHostsOf } from '../../knowledge/sources/link-hosts.ts'
import { hostOf } from '../../text/safety/foreign-links.ts'

/**
 * Returns a function that sends the reply, or null if it does not belong on a channel. A conversation of an application
 * may have a thread as well, once its ticket was answered by mail; there, only replies to messages of the thread are
 * sent.
 */
export async function deliverAnswer(
  trx: Trx,
  { accountId, agentId }: AgentRef,
  { conversationId, messageId, userMessageId }: GenerationIds,
  { threadId, source }: { threadId: string; source: string },
): Promise<((message: StoredMessage | null) => Promise<void>) | null> {
  const thread = await threadOf(trx, accountId, threadId)
  if (!thread) return null
  const isHeldThere = source === CHANNEL_NAMES[thread.channel].source
  if (!isHeldThere && !(await cameIn(trx, accountId, userMessageId))) return null
  return async (message) => {
    // Channels do not show sources, so the markers are removed.
    const text = withoutMarkers(textOf(message ?? { parts: [] }))
    if (text.trim() === '') return
    await enqueueDelivery(trx, {
      accountId,
      agentId,
      channel: thread.channel,
      threadId,
      conversationId,
      ticketId: null,
      messageId,
      ticketMessageId: null,
      content: { text, linkHosts: await leadsTo(trx, { accountId, agentId }, message) },
    })
  }
}

/** The hosts that an answer may link to: the owner's websites and those of its sources. */
async function leadsTo(
  trx: Trx,
  { accountId, agentId }: AgentRef,
  message: StoredMessage | null,
): Promise<string[]> {
  const cited = (message?.metadata.sources ?? []).flatMap(({ url }) => hostOf(url) ?? [])
  return [...new Set([...(await linkHostsOf(trx, { accountId, agentId })), ...cited])]
}

async function cameIn(trx: Trx, accountId: AgentRef['accountId'], messageId: string): Promise<boolean> {
  const inbound = await trx
    .selectFrom('inbound_messages')
    .select('id')
    .where('account_id', '=', accountId)
    .where('message_id', '=', messageId)
    .executeTakeFirst()
  return inbound !== undefined
}
