import type { Context } from '../../../context.ts'
import type { DeliveryRow } from '../../../inbox/deliveries/claim-delivery.ts'
import { type ThreadRow, threadOf } from '../../../inbox/deliveries/enqueue-delivery.ts'
import { answeredByAgent } from '../../../inbox/deliveries/mail-people.ts'
import type { Attempt } from '../../../inbox/deliveries/settle-delivery.ts'
import { transact } from '../../../platform/db/statements/transact.ts'
import type { MailPeople } from '../../../platform/db/tables/channels.ts'
import { describeMailError } from '../../../platform/mail/mail-failure.ts'
import { openSmtp, SendFailure } from '../../../platform/mail/smtp.ts'
import type { Channel, ChannelNeeds } from '../../registry/channel.ts'
import {
  type ConnectionRow,
  markKeyOf,
  recordRefusal,
  recordSmtp,
  rowOf,
  smtpLogin,
} from '../connection/connection.ts'
import { peerFrom } from '../connection/thread-marks.ts'
import { KEEP_SENT, type KeepSent } from './keep-sent.ts'
import { mailOf } from './mail-of-delivery.ts'
import { changeMailThread, mailThreadOf, peopleAfter, withReference } from './mail-threads.ts'
import { threadOfTicket } from './ticket-thread.ts'

export const emailChannel: Channel = {
  name: 'email',
  async send(ctx, delivery, signal) {
    const row = await rowOf(ctx.db, { accountId: delivery.account_id, agentId: delivery.agent_id })
    if (!row) return { kind: 'refused', reason: 'No mailbox is connected to the agent.' }
    const { account_id, thread_id } = delivery
    if (delivery.content.isForward) return forward(ctx, row, delivery, signal)
    const thread = thread_id
      ? await threadOf(ctx.db, account_id, thread_id)
      : await threadOfTicket(ctx, row, delivery)
    const mailThread = thread && mailThreadOf(thread)
    if (!thread || !mailThread) return { kind: 'refused', reason: 'There is no e-mail address to send to.' }
    const { people: chosen } = delivery.content
    const people = chosen ?? answeredByAgent(thread)
    if (!people) return { kind: 'refused', reason: 'There is no e-mail address to send to.' }
    const mail = await mailOf(ctx, row, delivery, { peer: thread.peer, thread: mailThread, people })
    if (typeof mail === 'string') return { kind: 'refused', reason: mail }
    const attempt = await hand(ctx, row, mail, signal)
    if (attempt.kind === 'sent') {
      await noteSent(ctx, thread, mail.messageId, attempt.providerMessageId, chosen ?? null).catch(
        (error: unknown) =>
          ctx.log.error(
            { err: error, delivery: delivery.id },
            'a sent mail could not be recorded in its thread',
          ),
      )
    }
    return attempt
  },
  async afterSent({ jobs }, trx, delivery) {
    const row = await rowOf(trx, { accountId: delivery.account_id, agentId: delivery.agent_id })
    if (row?.keeps_sent && row.imap)
      await jobs.enqueue<KeepSent>(trx, KEEP_SENT, {
        accountId: delivery.account_id,
        deliveryId: delivery.id,
      })
  },
}

/** An answer to it belongs to no thread, so it goes out without one. */
async function forward(
  ctx: ChannelNeeds,
  row: ConnectionRow,
  delivery: DeliveryRow,
  signal: AbortSignal,
): Promise<Attempt> {
  const { subject = '', people } = delivery.content
  const [first] = people?.to ?? []
  if (!people || !first) return { kind: 'refused', reason: 'There is no e-mail address to send to.' }
  const mail = await mailOf(ctx, row, delivery, {
    peer: peerFrom(await markKeyOf(ctx, row), `forward ${delivery.id}`),
    thread: { subject, to: first, participants: [], references: [], lastReceived: null, alsoTo: null },
    people,
  })
  return typeof mail === 'string' ? { kind: 'refused', reason: mail } : hand(ctx, row, mail, signal)
}

type Mail = { raw: Buffer; envelope: { from: string; to: string[] }; messageId: string }

/** Gives a mail to the sending server. After a problem with the connection it is tried again. */
async function hand(
  ctx: Pick<Context, 'config' | 'db' | 'fetcher' | 'secrets'>,
  row: ConnectionRow,
  mail: Mail,
  signal: AbortSignal,
): Promise<Attempt> {
  const { allowedPrivateHosts } = ctx.config
  try {
    const smtp = await openSmtp(await smtpLogin(ctx, row), {
      address: row.address,
      allowedPrivateHosts,
      signal,
    })
    try {
      const { serverMessageId, rejectedErrors = [] } = await smtp.send(mail.envelope, mail.raw)
      await recordSmtp(ctx.db, row, null)
      const missed = rejectedErrors.map(
        (error) =>
          `Not to ${error.recipient ?? 'one address'}: ${describeMailError(error, row.smtp.host).message}`,
      )
      return {
        kind: 'sent',
        providerMessageId: serverMessageId ?? mail.messageId,
        ...(missed.length > 0 ? { reason: missed.join(' ') } : {}),
      }
    } finally {
      smtp.close()
    }
  } catch (error) {
    const failure = describeMailError(error, row.smtp.host)
    const reason = failure.message
    const isOfConnection = !(failure instanceof SendFailure) || failure.isOfConnection
    if (isOfConnection) await recordSmtp(ctx.db, row, reason)
    else if (failure.kind === 'refused') await recordRefusal(ctx.db, row, reason)
    return { kind: failure instanceof SendFailure ? failure.kind : 'retry', reason }
  }
}

/** Answers refer to our Message-ID or to the one that the server has replaced it with. */
async function noteSent(
  { db }: Pick<Context, 'db'>,
  thread: ThreadRow,
  messageId: string,
  serverMessageId: string | null,
  chosen: MailPeople | null,
): Promise<void> {
  const seen = serverMessageId ?? messageId
  await transact(db, async (trx) => {
    await changeMailThread(
      trx,
      thread.account_id,
      thread.id,
      (known) =>
        known && {
          ...known,
          ...(chosen ? peopleAfter(known, chosen) : {}),
          references: withReference(known.references, seen),
        },
    )
    if (seen === messageId) return
    await trx
      .insertInto('email_messages')
      .values({
        agent_id: thread.agent_id,
        account_id: thread.account_id,
        message_id: seen,
        body_hash: '',
        thread_id: thread.id,
      })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
  })
}
