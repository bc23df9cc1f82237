import type { Selectable } from 'kysely'
import { appendMessage } from '../../../conversations/records/append-message.ts'
import type { DeliveryRow } from '../../../inbox/deliveries/claim-delivery.ts'
import { changeDelivery } from '../../../inbox/deliveries/settle-delivery.ts'
import { normalPhone } from '../../../people/records/phone-number.ts'
import type { Trx } from '../../../platform/db/database.ts'
import { ownRow } from '../../../platform/db/refs.ts'
import { json } from '../../../platform/db/statements/json.ts'
import type { ChannelThreadsTable } from '../../../platform/db/tables/channels.ts'
import { openOrNew } from '../../inbound/process-inbound.ts'
import { lockThread } from '../../inbound/receive-message.ts'
import type { ThreadData } from '../inbound/person-thread.ts'
import { threadOfPeer } from './template-thread.ts'

type Thread = Selectable<ChannelThreadsTable>

type AcceptedTemplate = { messageId: string; recipient: string | null }

/** The delivery of a template that has been added to a conversation. */
type Settled = DeliveryRow & { conversation_id: string }

/**
 * Adds an accepted template once to the conversation in which the replies of its recipient will arrive, unless a person
 * has taken it over, or it follows one that has ended and still waits for the first reply. The caller has locked the
 * delivery.
 */
export async function settleTemplate(
  trx: Trx,
  delivery: DeliveryRow,
  { messageId, recipient }: AcceptedTemplate,
): Promise<Settled> {
  const { content, conversation_id, thread_id } = delivery
  if (!content.template || !thread_id) throw new Error('Only a template of a thread is settled so.')
  if (content.template.isSettled && conversation_id) return { ...delivery, conversation_id }
  const thread = await threadFor(trx, await lockThread(trx, delivery.account_id, thread_id), recipient)
  const conversation = await openOrNew(trx, thread, content.text)
  const { status: state, parent_conversation_id: parent, last_seq } = conversation
  const waitsForReply = parent !== null && last_seq === 0
  const appended =
    (state === 'ongoing' || state === 'paused') && !waitsForReply
      ? await appendMessage(trx, conversation, {
          role: 'assistant',
          parts: [{ type: 'text', text: content.text }],
          metadata: { template: content.template.name },
        })
      : null
  // A delivery that the provider has reported as failed stays failed.
  const { status, provider_message_id: reported } = delivery
  const isUnsent = status === 'sending' || status === 'queued' || (status === 'failed' && reported === null)
  const changes = {
    thread_id: thread.id,
    conversation_id: conversation.id,
    message_id: appended,
    provider_message_id: messageId,
    updated_at: new Date(),
    ...(isUnsent ? { status: 'sent' as const, lease_until: null, error: null } : {}),
  }
  const settled = { ...content, template: { ...content.template, isSettled: true } }
  await changeDelivery(trx, delivery, { ...changes, content: json(settled) })
  return { ...delivery, ...changes, content: settled }
}

/** The provider may use another number for the person than the one that was dialled. Replies come from that number. */
async function threadFor(trx: Trx, thread: Thread, recipient: string | null): Promise<Thread> {
  const data: ThreadData = thread.data
  // An id that is no number is learned from the same status.
  const isNumber = recipient !== null && /^\d+$/.test(recipient)
  const peer = isNumber ? normalPhone(`+${recipient}`) : thread.peer
  if (recipient === null || (data.recipient === recipient && peer === thread.peer)) return thread
  const isOther = peer !== thread.peer
  const other = isOther ? await threadOfPeer(trx, thread, peer) : undefined
  const known = { ...data, recipient, ...(isOther && !other ? { dialled: thread.peer } : {}) }
  await trx
    .updateTable('channel_threads')
    .set({ data: json(known), ...(other ? {} : { peer }) })
    .where(ownRow(thread.account_id, thread.id))
    .execute()
  return other ? lockThread(trx, thread.account_id, other) : { ...thread, peer, data: known }
}
