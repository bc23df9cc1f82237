import { type Selectable, sql } from 'kysely'
import { normalPhone } from '../../contacts/phone-number.ts'
import { titleFromWords } from '../../conversations/title.ts'
import type { Trx } from '../../db/database.ts'
import { newId } from '../../db/ids.ts'
import { json } from '../../db/json.ts'
import type { ChannelThreadsTable, ConversationsTable } from '../../db/tables.ts'
import type { DeliveryRow } from '../../deliveries/claim-delivery.ts'
import { newConversation } from '../take-in.ts'
import { lockThread, type ThreadData } from './take-message.ts'
import { threadOfPeer } from './template-thread.ts'

type Thread = Selectable<ChannelThreadsTable>
type Conversation = Selectable<ConversationsTable>

export type Taken = { messageId: string; recipient: string | null }

/**
 * Puts a template that the channel has taken into the conversation with its recipient, or a new one, once; when that
 * is taken over or has ended it is left as it is. Answers the conversation.
 */
export async function settleTemplate(
  trx: Trx,
  deliveryId: string,
  { messageId, recipient }: Taken,
): Promise<{ conversationId: string }> {
  const delivery = await trx
    .selectFrom('deliveries')
    .selectAll()
    .where('id', '=', deliveryId)
    .forUpdate()
    .executeTakeFirstOrThrow()
  const { content, conversation_id, thread_id } = delivery
  if (!content.template || !thread_id) throw new Error('Only a template of a thread is settled so.')
  if (content.template.isSettled && conversation_id) return { conversationId: conversation_id }
  const thread = await threadFor(trx, await lockThread(trx, thread_id), recipient)
  const conversation =
    (await newestOf(trx, thread)) ?? (await newConversation(trx, thread, titleFromWords(content.text), null))
  const isOpen = conversation.status === 'ongoing' || conversation.status === 'paused'
  const appended = isOpen ? await append(trx, conversation, delivery) : null
  // One that the channel itself has reported as failed stays so.
  const { status, provider_message_id: reported } = delivery
  const isUnsent = status === 'sending' || status === 'queued' || (status === 'failed' && reported === null)
  await trx
    .updateTable('deliveries')
    .set({
      thread_id: thread.id,
      conversation_id: conversation.id,
      message_id: appended,
      provider_message_id: messageId,
      content: json({ ...content, template: { ...content.template, isSettled: true } }),
      updated_at: new Date(),
      ...(isUnsent ? { status: 'sent' as const, lease_until: null, error: null } : {}),
    })
    .where('id', '=', deliveryId)
    .execute()
  return { conversationId: conversation.id }
}

/** The channel may name the person by another number than the one that was dialled: replies come from that one. */
async function threadFor(trx: Trx, thread: Thread, recipient: string | null): Promise<Thread> {
  const data: ThreadData = thread.data
  const peer = recipient === null ? thread.peer : normalPhone(`+${recipient}`)
  if (recipient === null || (data.recipient === recipient && peer === thread.peer)) return thread
  const isOther = peer !== thread.peer
  const other = isOther ? await threadOfPeer(trx, thread, peer) : undefined
  const known = { ...data, recipient, ...(isOther && !other ? { dialled: thread.peer } : {}) }
  await trx
    .updateTable('channel_threads')
    .set({ data: json(known), ...(other ? {} : { peer }) })
    .where('id', '=', thread.id)
    .execute()
  return other ? lockThread(trx, other) : { ...thread, peer, data: known }
}

function newestOf(trx: Trx, thread: Thread): Promise<Conversation | undefined> {
  return trx
    .selectFrom('conversations')
    .selectAll()
    .where('account_id', '=', thread.account_id)
    .where('thread_id', '=', thread.id)
    .orderBy('created_at', 'desc')
    .limit(1)
    .forNoKeyUpdate()
    .executeTakeFirst()
}

async function append(trx: Trx, { id }: Conversation, delivery: DeliveryRow): Promise<string> {
  const { account_id, agent_id, content } = delivery
  const { last_seq } = await trx
    .updateTable('conversations')
    .set({ last_seq: sql<number>`last_seq + 1`, updated_at: new Date() })
    .where('account_id', '=', account_id)
    .where('id', '=', id)
    .returning('last_seq')
    .executeTakeFirstOrThrow()
  const messageId = newId()
  await trx
    .insertInto('messages')
    .values({
      id: messageId,
      account_id,
      agent_id,
      conversation_id: id,
      seq: last_seq,
      role: 'assistant',
      parts: json([{ type: 'text', text: content.text }]),
      metadata: json({ template: content.template?.name }),
    })
    .execute()
  return messageId
}
