import { sql } from 'kysely'
import type { Context } from '../../../context.ts'
import { readAttachment } from '../../../conversations/attachments/attachments.ts'
import type { DeliveryRow } from '../../../inbox/deliveries/claim-delivery.ts'
import { type ThreadRow, threadOf } from '../../../inbox/deliveries/enqueue-delivery.ts'
import type { Attempt } from '../../../inbox/deliveries/settle-delivery.ts'
import { isPhone } from '../../../people/records/phone-number.ts'
import type { Db } from '../../../platform/db/database.ts'
import type { Channel } from '../../registry/channel.ts'
import { clientOf } from '../connection/client-of.ts'
import { accountsOf, type MessagingAccount } from '../connection/connection.ts'
import { digitsOf, ownerOf } from '../connection/numbers.ts'
import type { Accepted, Addressed, ProviderClient } from '../connection/provider-adapter.ts'
import { ProviderFailure } from '../connection/provider-failure.ts'
import type { ThreadData } from '../inbound/person-thread.ts'
import { callbackOf, type Piece, piecesOf } from './pieces.ts'

/** The wait for a status that shows whether an uncertain message was accepted. After that it is sent again. */
const STATUS_WITHIN_MS = 60_000

/** Sends those messages of a delivery that are not known to be accepted. */
export const messagingChannel: Channel = { name: 'messaging', send }

async function send(
  ctx: Pick<Context, 'db' | 'fetcher' | 'filesDir' | 'log' | 'secrets'>,
  delivery: DeliveryRow,
  signal: AbortSignal,
): Promise<Attempt> {
  const { content } = delivery
  // The request that sends a template also settles it, so its process must have died.
  if (content.template)
    return { kind: 'refused', reason: 'The channel’s response was lost: the message may have been sent.' }
  const thread = await threadOf(ctx.db, delivery.account_id, delivery.thread_id)
  const account = thread && (await accountFor(ctx, thread))
  const refusal = await refusalOf(ctx.db, thread, account, content.evenOptedOut === true)
  if (!thread || !account || refusal !== null) return { kind: 'refused', reason: refusal ?? '' }
  const pieces = piecesOf(account.adapter, content)
  if (pieces.length === 0) return { kind: 'refused', reason: 'There is nothing to send.' }
  const client = clientOf(ctx, account, { signal })
  const to =
    (thread.data as ThreadData).recipient ?? (isPhone(thread.peer) ? digitsOf(thread.peer) : thread.peer)
  try {
    const taken = await takenPieces(ctx.db, delivery)
    let providerMessageId: string | null = null
    for (const [ordinal, piece] of pieces.entries()) {
      const addressed = { numberId: thread.connection, to, callback: callbackOf(delivery.id, ordinal) }
      providerMessageId =
        taken.get(ordinal) ?? (await sendPiece(ctx, client, delivery, addressed, piece, ordinal))
    }
    return { kind: 'sent', providerMessageId }
  } catch (error) {
    return attemptOf(ctx, delivery, error)
  }
}

async function accountFor(
  ctx: Pick<Context, 'db' | 'secrets'>,
  thread: ThreadRow,
): Promise<MessagingAccount | undefined> {
  const accounts = await accountsOf(ctx, thread.agent_id)
  // If the numbers of an account are unknown, it must be that account.
  return ownerOf(accounts, thread.connection) ?? accounts.find(({ numbers }) => numbers === null)
}

async function refusalOf(
  db: Db,
  thread: ThreadRow | null,
  account: MessagingAccount | null | undefined,
  evenOptedOut: boolean,
): Promise<string | null> {
  if (!thread) return 'The thread no longer exists.'
  if (!account) return 'The number is no longer connected.'
  if (thread.opted_out_at && !evenOptedOut) return 'The person has opted out.'
  const { replyWindow } = account.adapter
  return replyWindow && (await isLongAgo(db, thread.last_inbound_at, replyWindow.ms))
    ? replyWindow.refusal
    : null
}

/** Compares with the clock of the database, because a refusal is final and the clock of one process may be wrong. */
async function isLongAgo(db: Db, time: Date | null, ms: number): Promise<boolean> {
  if (time === null) return true
  const { rows } = await sql<{ is: boolean }>`
    select ${time}::timestamptz < now() - ${ms} * interval '1 millisecond' as is`.execute(db)
  return rows[0]?.is === true
}

/** Returns the provider's ids of the messages that it has accepted. */
async function takenPieces(db: Db, { account_id, id }: DeliveryRow): Promise<Map<number, string>> {
  const rows = await db
    .selectFrom('messaging_pieces')
    .select(['ordinal', 'provider_message_id'])
    .where('account_id', '=', account_id)
    .where('delivery_id', '=', id)
    .where('status', '<>', 'failed')
    .execute()
  return new Map(rows.map((row) => [row.ordinal, row.provider_message_id]))
}

async function sendPiece(
  ctx: Pick<Context, 'db' | 'filesDir'>,
  client: ProviderClient,
  { id, account_id, agent_id }: DeliveryRow,
  addressed: Addressed,
  piece: Piece,
  ordinal: number,
): Promise<string> {
  const owner = { accountId: account_id, agentId: agent_id }
  const { messageId } = await callFor(ctx, client, addressed, piece, owner)
  await ctx.db
    .insertInto('messaging_pieces')
    .values({
      delivery_id: id,
      ordinal,
      account_id,
      agent_id,
      provider_message_id: messageId,
      status: 'sent',
    })
    // A status may have arrived before the response. A message that had failed is sent again.
    .onConflict((conflict) =>
      conflict.columns(['delivery_id', 'ordinal']).doUpdateSet({
        provider_message_id: messageId,
        status: sql<'sent'>`case when messaging_pieces.provider_message_id = ${messageId}
          then messaging_pieces.status else 'sent' end`,
      }),
    )
    .execute()
  return messageId
}

async function callFor(
  ctx: Pick<Context, 'db' | 'filesDir'>,
  client: ProviderClient,
  addressed: Addressed,
  piece: Piece,
  owner: Parameters<typeof readAttachment>[2],
): Promise<Accepted> {
  if (piece.kind === 'text') {
    const { text, button } = piece
    return button ? client.sendButton(addressed, text, button) : client.sendText(addressed, text)
  }
  if (piece.kind === 'template') throw new Error('Templates are sent by the request that asks for it.')
  const { id, name, type } = piece.file
  const found = await readAttachment(ctx.filesDir, ctx.db, owner, id)
  if (!found) throw new ProviderFailure('gone', `The file ${name} no longer exists.`)
  return client.sendFile(addressed, { name, type, bytes: found.bytes })
}

function attemptOf(ctx: Pick<Context, 'log'>, delivery: DeliveryRow, error: unknown): Attempt {
  const unknown = (reason: string): Attempt => ({ kind: 'unknown', reason, afterMs: STATUS_WITHIN_MS })
  if (!(error instanceof ProviderFailure)) {
    ctx.log.error({ err: error, delivery: delivery.id }, 'a delivery failed with an unexpected error')
    return unknown('An error inside the service.')
  }
  const { code, message: reason, retryAfterMs, isPassing } = error
  ctx.log.info({ err: error, delivery: delivery.id }, 'the provider rejected a delivery')
  if (code === 'uncertain') return unknown(reason)
  if (!isPassing) return { kind: 'refused', reason }
  return {
    kind: 'retry',
    reason,
    ...(retryAfterMs === null ? {} : { afterMs: Math.max(1_000, retryAfterMs) }),
  }
}
