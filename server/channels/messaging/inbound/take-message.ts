import type { Selectable } from 'kysely'
import type { Context } from '../../../context.ts'
import { enqueueDelivery } from '../../../inbox/deliveries/enqueue-delivery.ts'
import { normalPhone } from '../../../people/records/phone-number.ts'
import type { Trx } from '../../../platform/db/database.ts'
import { json } from '../../../platform/db/statements/json.ts'
import { transact } from '../../../platform/db/statements/transact.ts'
import type { ChannelThreadsTable } from '../../../platform/db/tables/channels.ts'
import { ensureThread, lockThread, receiveMessage } from '../../inbound/receive-message.ts'
import type { MessagingAccount } from '../connection/connection.ts'
import type { WebhookEvent } from '../connection/provider-adapter.ts'
import { readPress } from '../outbound/pieces.ts'
import { readWord } from './opt-out-words.ts'

export const FETCH_FILES = 'fetch-messaging-files'

export type FetchFiles = { threadId: string; providerMessageId: string }

type Message = Extract<WebhookEvent, { kind: 'message' }>
type Thread = Selectable<ChannelThreadsTable>

/** The content of channel_threads.data for this channel. */
export type ThreadData = {
  /** The provider's id of the person, to which messages are sent. */
  recipient?: string
  /** The number that was dialled, if the provider uses another one for the person. */
  dialled?: string
  /** The time when the last word that opts in or out was sent. */
  wordAt?: string
}

/** Stores a message once, and applies a word that opts in or out. A job fetches its files. */
export async function takeMessage(
  ctx: Pick<Context, 'db' | 'jobs'>,
  { accountId, agentId }: MessagingAccount,
  { numberId, from, name, messageId, sentAt, content, words, pressed }: Message,
): Promise<void> {
  const phone = normalPhone(`+${from}`)
  const key = {
    accountId,
    agentId,
    channel: 'messaging' as const,
    connection: numberId,
    peer: phone,
    person: { phonenumber: phone, ...(name ? { name } : {}) },
  }
  const accepts = pressed === null ? null : readPress(pressed)
  const said = words === null ? null : readWord(words)
  await transact(ctx.db, async (trx) => {
    const thread = await lockThread(trx, accountId, await ensureThread(trx, key))
    const isOut = thread.opted_out_at !== null
    const silent = content.silent || isOut || said?.word === 'out'
    const { isNew } = await receiveMessage(ctx, trx, {
      ...key,
      providerMessageId: messageId,
      sentAt,
      content: { ...content, ...(silent ? { silent } : {}), ...(accepts ? { accepts } : {}) },
    })
    if (!isNew) return
    const { wordAt } = thread.data as ThreadData
    const counts = said !== null && (wordAt === undefined || Date.parse(wordAt) <= sentAt.getTime())
    await trx
      .updateTable('channel_threads')
      .set({
        data: json({ ...thread.data, recipient: from, ...(counts ? { wordAt: sentAt.toISOString() } : {}) }),
        ...(counts ? { opted_out_at: said.word === 'out' ? (thread.opted_out_at ?? sentAt) : null } : {}),
      })
      .where('account_id', '=', accountId)
      .where('id', '=', thread.id)
      .execute()
    if (counts && isOut !== (said.word === 'out')) await confirm(trx, thread, said.confirmation)
    if (content.awaited?.length) {
      await ctx.jobs.enqueue<FetchFiles>(trx, FETCH_FILES, {
        threadId: thread.id,
        providerMessageId: messageId,
      })
    }
  })
}

const confirm = (trx: Trx, thread: Thread, text: string): Promise<string> =>
  enqueueDelivery(trx, {
    accountId: thread.account_id,
    agentId: thread.agent_id,
    channel: 'messaging',
    threadId: thread.id,
    conversationId: null,
    ticketId: null,
    messageId: null,
    ticketMessageId: null,
    content: { text, evenOptedOut: true },
  })
