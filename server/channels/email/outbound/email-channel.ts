import type { Context } from '../../../context.ts'
import type { DeliveryRow } from '../../../inbox/deliveries/claim-delivery.ts'
import { type ThreadRow, threadOf } from '../../../inbox/deliveries/enqueue-delivery.ts'
import { answeredByAgent } from '../../../inbox/deliveries/mail-people.ts'
import { type Attempt, changeDelivery } from '../../../inbox/deliveries/settle-delivery.ts'
import { json } from '../../../platform/db/statements/json.ts'
import { transact } from '../../../platform/db/statements/transact.ts'
import type { MailPeople } from '../../../platform/db/tables/channels.ts'
import { describeMailError } from '../../../platform/mail/mail-failure.ts'
import { openSmtp, SendFailure } from '../../../platform/mail/smtp.ts'
import type { Channel } from '../../registry/channel.ts'
import { type ConnectionRow, recordRefusal, recordSmtp, rowOf, smtpLogin } from '../connection/connection.ts'
import { KEEP_SENT, type KeepSent } from './keep-sent.ts'
import { mailOf, mailOfForward } from './mail-of-delivery.ts'
import { changeMailThread, mailThreadOf, peopleAfter, withReference } from './mail-threads.ts'
import { threadOfTicket } from './ticket-thread.ts'

export const emailChannel: Channel = {
  name: 'email',
  async send(ctx, delivery, signal) {
    const row = await rowOf(ctx.db, { accountId: delivery.account_id, agentId: delivery.agent_id })
    if (!row) return { kind: 'refused', reason: 'No mailbox is connected to the agent.' }
    const { account_id, thread_id } = delivery
    if (delivery.content.isForward) {
      const mail = await mailOfForward(ctx, row, delivery)
      return typeof mail === 'string' ? { kind: 'refused', reason: mail } : hand(ctx, row, mail, signal)
    }
    const thread = thread_id
      ? await threadOf(ctx.db, account_id, thread_id)
      : await threadOfTicket(ctx, row, delivery)
    const mailThread = thread && mailThreadOf(thread)
    if (!thread || !mailThread) return { kind: 'refused', reason: 'There is no e-mail address to send to.' }
    const people = delivery.content.people ?? answeredByAgent(thread)
    if (!people) return { kind: 'refused', reason: 'There is no e-mail address to send to.' }
    const mail = await mailOf(ctx, row, delivery, { peer: thread.peer, thread: mailThread, people })
    if (typeof mail === 'string') return { kind: 'refused', reason: mail }
    const attempt = await hand(ctx, row, mail, signal)
    if (attempt.kind === 'sent') {
      const seen = { messageId: mail.messageId, serverMessageId: attempt.providerMessageId, people }
      await noteSent(ctx, thread, delivery, seen).catch((error: unknown) =>
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

/**
 * Answers refer to our Message-ID or to the one that the server has replaced it with. Whom the agent's own mail went
 * to is only known now; the recipients that a person chose are also those of the next answers.
 */
async function noteSent(
  { db }: Pick<Context, 'db'>,
  thread: ThreadRow,
  delivery: DeliveryRow,
  {
    messageId,
    serverMessageId,
    people,
  }: { messageId: string; serverMessageId: string | null; people: MailPeople },
): Promise<void> {
  const seen = serverMessageId ?? messageId
  const { content } = delivery
  const isChosen = content.people !== undefined && delivery.ticket_message_id !== null
  await transact(db, async (trx) => {
    await changeMailThread(
      trx,
      thread.account_id,
      thread.id,
      (known) =>
        known && {
          ...known,
          ...(isChosen ? peopleAfter(known, people) : {}),
          references: withReference(known.references, seen),
        },
    )
    if (content.people === undefined)
      await changeDelivery(trx, delivery, { content: json({ ...content, people }) })
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
