import type { Context } from '../../../context.ts'
import type { DeliveryRow } from '../../../inbox/deliveries/claim-delivery.ts'
import { threadOf } from '../../../inbox/deliveries/enqueue-delivery.ts'
import { answeredByAgent } from '../../../inbox/deliveries/mail-people.ts'
import { ownRow } from '../../../platform/db/refs.ts'
import type { AccountId } from '../../../platform/db/tables/columns.ts'
import { describeMailError, MailFailure } from '../../../platform/mail/mail-failure.ts'
import { type ConnectionRow, imapLogin, markKeyOf, recordSent, rowOf } from '../connection/connection.ts'
import { messageIdOf } from '../connection/thread-marks.ts'
import { withImap } from '../inbound/imap.ts'
import { mailOf, mailOfForward } from './mail-of-delivery.ts'
import { type MailThread, mailThreadOf } from './mail-threads.ts'

export const KEEP_SENT = 'keep-sent-mail'
export type KeepSent = { accountId: AccountId; deliveryId: string }

const MAX_MS = 120_000

/**
 * Puts a mail that was sent into the mailbox's folder for them, unless it is there: the provider may have done it, or an
 * attempt before whose result was lost. Throws when it has to be tried again; the connection then says why.
 */
export async function keepSent(
  ctx: Pick<Context, 'config' | 'db' | 'fetcher' | 'filesDir' | 'secrets'>,
  { accountId, deliveryId }: KeepSent,
  signal: AbortSignal,
): Promise<void> {
  const delivery = await ctx.db
    .selectFrom('deliveries')
    .selectAll()
    .where(ownRow(accountId, deliveryId))
    .executeTakeFirst()
  const row = delivery && (await rowOf(ctx.db, { accountId, agentId: delivery.agent_id }))
  if (!delivery || !row?.keeps_sent || !row.imap) return
  try {
    await keep(ctx, row, delivery, signal)
    await recordSent(ctx.db, row, null)
  } catch (error) {
    if (signal.aborted) throw error
    const failure = describeMailError(error, row.imap.host)
    await recordSent(ctx.db, row, failure.message)
    throw failure
  }
}

async function keep(
  ctx: Pick<Context, 'config' | 'db' | 'fetcher' | 'filesDir' | 'secrets'>,
  row: ConnectionRow,
  delivery: DeliveryRow,
  signal: AbortSignal,
): Promise<void> {
  const login = await imapLogin(ctx, row)
  const mail = login && (await mailSent(ctx, row, delivery))
  // What it was made of is gone, so it cannot be made again.
  if (!mail || typeof mail === 'string') return
  const ids = [mail.messageId, delivery.provider_message_id ?? '']
  await withImap(login, ctx.config.allowedPrivateHosts, { maxMs: MAX_MS, signal }, async (client) => {
    const folders = await client.list()
    const folder = folders.find(({ specialUse }) => specialUse === '\\Sent')
    if (!folder) throw new MailFailure('The mailbox has no folder for sent mails (special use \\Sent).')
    await client.mailboxOpen(folder.path, { readOnly: true })
    for (const id of ids.filter(Boolean)) {
      const found = await client.search({ header: { 'message-id': id } }, { uid: true })
      if (!Array.isArray(found)) throw new MailFailure('The folder of sent mails could not be searched.')
      if (found.length > 0) return
    }
    const kept = await client.append(folder.path, mail.raw, ['\\Seen'], delivery.updated_at)
    if (!kept) throw new MailFailure('The mail could not be put into the folder of sent mails.')
  })
}

/** Returns the mail as it was sent, or null if it can no longer be written. */
async function mailSent(
  ctx: Pick<Context, 'db' | 'filesDir' | 'secrets'>,
  row: ConnectionRow,
  delivery: DeliveryRow,
): Promise<Awaited<ReturnType<typeof mailOf>> | null> {
  if (delivery.content.isForward) return mailOfForward(ctx, row, delivery)
  const thread = await threadOf(ctx.db, row.account_id, delivery.thread_id)
  const mailThread = thread && mailThreadOf(thread)
  const people = thread && (delivery.content.people ?? answeredByAgent(thread))
  if (!thread || !mailThread || !people) return null
  const domain = row.address.slice(row.address.lastIndexOf('@') + 1)
  const ids = [
    messageIdOf(await markKeyOf(ctx, row), delivery.id, thread.peer, domain),
    delivery.provider_message_id ?? '',
  ]
  return mailOf(ctx, row, delivery, { peer: thread.peer, thread: asSent(mailThread, ids), people })
}

/** Returns the thread as it was when the mail was sent: without this mail and what came after it. */
function asSent(thread: MailThread, ids: string[]): MailThread {
  const at = thread.references.findIndex((id) => ids.includes(id))
  if (at < 0) return thread
  const references = thread.references.slice(0, at)
  const isEarlier = thread.lastReceived !== null && references.includes(thread.lastReceived)
  return {
    ...thread,
    references,
    lastReceived: isEarlier ? thread.lastReceived : (references.at(-1) ?? null),
  }
}
