import type { Context } from '../../../context.ts'
import { enqueueDelivery, type ThreadRow } from '../../../inbox/deliveries/enqueue-delivery.ts'
import type { Trx } from '../../../platform/db/database.ts'
import { ownRow } from '../../../platform/db/refs.ts'
import { json } from '../../../platform/db/statements/json.ts'
import { transact } from '../../../platform/db/statements/transact.ts'
import type { InboundContent } from '../../../platform/db/tables/channels.ts'
import { receiveMessage } from '../../inbound/receive-message.ts'
import type { MessagingAccount } from '../connection/connection.ts'
import type { WebhookEvent } from '../connection/provider-adapter.ts'
import { readPress } from '../outbound/pieces.ts'
import { noteUnreadable } from './note-unreadable.ts'
import { readWord } from './opt-out-words.ts'
import {
  type Place,
  recipientOf,
  type ThreadData,
  threadAfterReplacement,
  threadOfSender,
} from './person-thread.ts'

export const FETCH_FILES = 'fetch-messaging-files'

export type FetchFiles = { threadId: string; providerMessageId: string }

type Deps = Pick<Context, 'db' | 'jobs'>
type EventOf<K extends WebhookEvent['kind']> = Extract<WebhookEvent, { kind: K }>

export const placeOf = (
  { accountId, agentId, businessAccountId }: MessagingAccount,
  { numberId }: Pick<WebhookEvent, 'numberId'>,
): Place => ({ accountId, agentId, businessAccountId, numberId })

/** Stores a message once, and applies a word that opts in or out. A job fetches its files. */
export async function takeMessage(
  ctx: Deps,
  account: MessagingAccount,
  event: EventOf<'message'>,
): Promise<void> {
  const { from, messageId, sentAt, content, words, pressed } = event
  const accepts = pressed === null ? null : readPress(pressed)
  await transact(ctx.db, async (trx) => {
    const thread = await threadOfSender(trx, placeOf(account, event), from, messageId)
    await storeMessage(ctx, trx, thread, {
      providerMessageId: messageId,
      recipient: recipientOf(from),
      sentAt,
      words,
      content: { ...content, ...(accepts ? { accepts } : {}) },
    })
  })
}

/** Takes the new ids of a person. The thread gets a line about it, which the agent does not answer. */
export async function takeReplacement(
  ctx: Deps,
  account: MessagingAccount,
  event: EventOf<'replacement'>,
): Promise<void> {
  const { from, now, messageId, sentAt, content } = event
  await transact(ctx.db, async (trx) => {
    const place = placeOf(account, event)
    const thread = await threadAfterReplacement(trx, place, { from, now, statedBy: messageId })
    if (thread)
      await storeMessage(ctx, trx, thread, {
        providerMessageId: messageId,
        recipient: recipientOf(now),
        sentAt,
        words: null,
        content: { ...content, silent: true },
      })
  })
}

type Stored = {
  providerMessageId: string
  recipient: string | null
  sentAt: Date
  words: string | null
  content: InboundContent
}

/** Stores a message in its locked thread, unless it is there already. */
export async function storeMessage(
  ctx: Deps,
  trx: Trx,
  thread: ThreadRow,
  { providerMessageId, recipient, sentAt, words, content }: Stored,
): Promise<void> {
  const { account_id: accountId, agent_id: agentId } = thread
  const said = words === null ? null : readWord(words)
  const isOut = thread.opted_out_at !== null
  const silent = content.silent || isOut || said?.word === 'out'
  const { isNew } = await receiveMessage(ctx, trx, {
    accountId,
    agentId,
    channel: 'messaging',
    connection: thread.connection,
    peer: thread.peer,
    person: {},
    providerMessageId,
    sentAt,
    content: { ...content, ...(silent ? { silent } : {}) },
  })
  if (!isNew) return
  if (content.unreadable !== undefined)
    await noteUnreadable(
      trx,
      { accountId, agentId },
      {
        what: 'type',
        detail: content.unreadable,
        isMessage: true,
        reference: providerMessageId,
        threadId: thread.id,
      },
    )
  await applyWord(trx, thread, { said, sentAt, recipient })
  if (content.awaited?.length)
    await ctx.jobs.enqueue<FetchFiles>(trx, FETCH_FILES, { threadId: thread.id, providerMessageId })
}

/** Remembers where the person can be reached, and whether the message is a word that opts in or out. */
export async function applyWord(
  trx: Trx,
  thread: ThreadRow,
  { said, sentAt, recipient }: { said: ReturnType<typeof readWord>; sentAt: Date; recipient: string | null },
): Promise<void> {
  const data: ThreadData = thread.data
  const counts = said !== null && (data.wordAt === undefined || Date.parse(data.wordAt) <= sentAt.getTime())
  await trx
    .updateTable('channel_threads')
    .set({
      data: json({
        ...data,
        ...(recipient === null ? {} : { recipient }),
        ...(counts ? { wordAt: sentAt.toISOString() } : {}),
      }),
      ...(counts ? { opted_out_at: said.word === 'out' ? (thread.opted_out_at ?? sentAt) : null } : {}),
    })
    .where(ownRow(thread.account_id, thread.id))
    .execute()
  const isOut = thread.opted_out_at !== null
  if (counts && isOut !== (said.word === 'out')) await confirm(trx, thread, said.confirmation)
}

const confirm = (trx: Trx, thread: ThreadRow, text: string): Promise<string> =>
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
