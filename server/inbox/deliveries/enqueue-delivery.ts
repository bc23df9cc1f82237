import { type Selectable, sql } from 'kysely'
import type { Db, Trx } from '../../platform/db/database.ts'
import { newId } from '../../platform/db/ids.ts'
import { ownRow } from '../../platform/db/refs.ts'
import { json } from '../../platform/db/statements/json.ts'
import type { ChannelName, ChannelThreadsTable } from '../../platform/db/tables/channels.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import type { DeliveryContent } from '../../platform/db/tables/deliveries.ts'

type NewDelivery = {
  id?: string
  accountId: AccountId
  agentId: string
  channel: ChannelName
  /** null if the ticket has no thread yet. The channel creates one when it sends. */
  threadId: string | null
  conversationId: string | null
  ticketId: string | null
  messageId: string | null
  ticketMessageId: string | null
  content: DeliveryContent
}

/**
 * Queues a delivery after all others of the same thread or ticket. Several transactions may do it at once. Returns
 * its id.
 */
export async function enqueueDelivery(trx: Trx, wanted: NewDelivery): Promise<string> {
  const lane = wanted.threadId ?? wanted.ticketId
  if (lane === null) throw new Error('A delivery belongs to a thread or to a ticket.')
  await holdLane(trx, lane)
  const { id = newId() } = wanted
  await trx
    .insertInto('deliveries')
    .values({
      id,
      account_id: wanted.accountId,
      agent_id: wanted.agentId,
      channel: wanted.channel,
      lane,
      ordinal: sql<number>`(select coalesce(max(ordinal), 0) + 1 from deliveries
        where account_id = ${wanted.accountId} and lane = ${lane})`,
      thread_id: wanted.threadId,
      conversation_id: wanted.conversationId,
      ticket_id: wanted.ticketId,
      message_id: wanted.messageId,
      ticket_message_id: wanted.ticketMessageId,
      content: json(wanted.content),
      provider_message_id: null,
      error: null,
    })
    .execute()
  return id
}

/** Callers hold different locks (conversation, ticket or thread), so the lane needs a lock of its own. */
async function holdLane(trx: Trx, lane: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${lane}, 0))`.execute(trx)
}

/**
 * Returns whether the notice that an AI system answers was sent in the thread or is about to be. Until the transaction
 * ends, nobody else queues one.
 */
export async function hasNotice(trx: Trx, accountId: AccountId, threadId: string): Promise<boolean> {
  await holdLane(trx, threadId)
  const row = await trx
    .selectFrom('deliveries')
    .select('id')
    .where('account_id', '=', accountId)
    .where('thread_id', '=', threadId)
    .where('status', '<>', 'failed')
    .where(sql<boolean>`content -> 'notice' is not null`)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Returns an answer with the notice before or after it. */
export function withNotice(answer: string, notice: DeliveryContent['notice']): string {
  if (!notice) return answer
  return notice.place === 'before' ? `${notice.text}\n\n${answer}` : `${answer}\n\n${notice.text}`
}

export type ThreadRow = Selectable<ChannelThreadsTable>

/** Returns the thread of a delivery or of a conversation on a channel, or null for others. */
export async function threadOf(
  db: Db,
  accountId: AccountId,
  threadId: string | null,
): Promise<ThreadRow | null> {
  if (threadId === null) return null
  const row = await db
    .selectFrom('channel_threads')
    .selectAll()
    .where(ownRow(accountId, threadId))
    .executeTakeFirst()
  return row ?? null
}
