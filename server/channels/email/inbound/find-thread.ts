import type { ThreadRow } from '../../../inbox/deliveries/enqueue-delivery.ts'
import type { Trx } from '../../../platform/db/database.ts'
import type { ConnectionRow } from '../connection/connection.ts'
import { peerOfAddress, readMessageId } from '../connection/thread-marks.ts'
import { mailThreadOf } from '../outbound/mail-threads.ts'
import type { ParsedMail } from '../parse/parsed-mail.ts'

/**
 * Returns the thread of a mail: by our mark in the address it was sent to, or by a mail of the thread that it
 * answers. Only participants of the thread are assigned to it. Anybody else who knows a mark or a Message-ID begins
 * a new thread, and so does a mail that has only the sender and the subject in common with another.
 */
export async function findThread(
  trx: Trx,
  row: ConnectionRow,
  key: Buffer,
  {
    recipients,
    answers,
    from,
    isDoubtful,
  }: Pick<ParsedMail, 'recipients' | 'answers' | 'from' | 'isDoubtful'>,
): Promise<ThreadRow | null> {
  if (!from || isDoubtful) return null
  const peers = [
    ...recipients.map((address) => peerOfAddress(key, address)),
    ...answers.map((id) => readMessageId(key, id)?.peer ?? null),
  ].filter((peer) => peer !== null)
  const known = answers.length > 0 ? await threadsOf(trx, row, answers) : new Map<string, string>()
  const ids = answers.flatMap((id) => known.get(id) ?? [])
  const found = await threadsBy(trx, row, peers, ids)
  const inOrder = [
    ...peers.map((peer) => found.find((thread) => thread.peer === peer)),
    ...ids.map((id) => found.find((thread) => thread.id === id)),
  ]
  const isPart = (thread: ThreadRow | undefined): boolean =>
    thread !== undefined && (mailThreadOf(thread)?.participants.includes(from.address) ?? false)
  return inOrder.find(isPart) ?? null
}

/** Message-ID → thread */
async function threadsOf(trx: Trx, row: ConnectionRow, messageIds: string[]): Promise<Map<string, string>> {
  const rows = await trx
    .selectFrom('email_messages')
    .select(['message_id', 'thread_id'])
    .where('account_id', '=', row.account_id)
    .where('agent_id', '=', row.agent_id)
    .where('message_id', 'in', messageIds)
    .where('thread_id', 'is not', null)
    .execute()
  return new Map(rows.map(({ message_id, thread_id }) => [message_id, thread_id ?? '']))
}

async function threadsBy(trx: Trx, row: ConnectionRow, peers: string[], ids: string[]): Promise<ThreadRow[]> {
  if (peers.length === 0 && ids.length === 0) return []
  return trx
    .selectFrom('channel_threads')
    .selectAll()
    .where('account_id', '=', row.account_id)
    .where('agent_id', '=', row.agent_id)
    .where('channel', '=', 'email')
    .where((eb) =>
      eb.or([
        ...(peers.length > 0 ? [eb('peer', 'in', peers)] : []),
        ...(ids.length > 0 ? [eb('id', 'in', ids)] : []),
      ]),
    )
    .execute()
}
