import type { Context } from '../../../context.ts'
import { readAttachment } from '../../../conversations/attachments/attachments.ts'
import { MAX_BYTES } from '../../../conversations/attachments/limits.ts'
import type { DeliveryRow } from '../../../inbox/deliveries/claim-delivery.ts'
import { type ThreadRow, threadOf } from '../../../inbox/deliveries/enqueue-delivery.ts'
import { peopleOfThread } from '../../../inbox/deliveries/mail-people.ts'
import type { Attempt } from '../../../inbox/deliveries/settle-delivery.ts'
import { transact } from '../../../platform/db/statements/transact.ts'
import type { MailPeople } from '../../../platform/db/tables/channels.ts'
import { describeMailError } from '../../../platform/mail/mail-failure.ts'
import { openSmtp, SendFailure } from '../../../platform/mail/smtp.ts'
import type { Channel } from '../../registry/channel.ts'
import {
  type ConnectionRow,
  markKeyOf,
  recordRefusal,
  recordSmtp,
  rowOf,
  smtpLogin,
} from '../connection/connection.ts'
import type { MailFile } from '../parse/parsed-mail.ts'
import { composeMail } from './compose-mail.ts'
import { changeMailThread, mailThreadOf, peopleAfter, withReference } from './mail-threads.ts'
import { threadOfTicket } from './ticket-thread.ts'

export const emailChannel: Channel = {
  name: 'email',
  async send(ctx, delivery, signal) {
    const row = await rowOf(ctx.db, { accountId: delivery.account_id, agentId: delivery.agent_id })
    if (!row) return { kind: 'refused', reason: 'No mailbox is connected to the agent.' }
    const { account_id, thread_id } = delivery
    const thread = thread_id
      ? await threadOf(ctx.db, account_id, thread_id)
      : await threadOfTicket(ctx, row, delivery)
    const mailThread = thread && mailThreadOf(thread)
    if (!thread || !mailThread) return { kind: 'refused', reason: 'There is no e-mail address to send to.' }
    const files = await readFiles(ctx, delivery)
    if (typeof files === 'string') return { kind: 'refused', reason: files }
    const { text, html, linkHosts, notice, people: chosen } = delivery.content
    const people = chosen ?? peopleOfThread(thread)
    if (!people) return { kind: 'refused', reason: 'There is no e-mail address to send to.' }
    const mail = await composeMail({
      deliveryId: delivery.id,
      from: { address: row.address, name: row.from_name ?? (await agentName(ctx, row)) },
      key: await markKeyOf(ctx, row),
      plusAddressing: row.plus_addressing,
      peer: thread.peer,
      thread: mailThread,
      people,
      text,
      html,
      linkHosts,
      notice,
      files,
      automatic: delivery.ticket_message_id === null,
    })
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
}

async function agentName({ db }: Context, { account_id, agent_id }: ConnectionRow): Promise<string | null> {
  const agent = await db
    .selectFrom('agents')
    .select('name')
    .where('account_id', '=', account_id)
    .where('id', '=', agent_id)
    .executeTakeFirst()
  return agent?.name ?? null
}

/** Returns the files of a delivery, or a sentence that says why they cannot be sent. */
async function readFiles(
  ctx: Pick<Context, 'db' | 'filesDir'>,
  delivery: DeliveryRow,
): Promise<MailFile[] | string> {
  const notes = delivery.content.attachments ?? []
  if (notes.reduce((sum, { size }) => sum + size, 0) > MAX_BYTES)
    return `The files have more than the ${MAX_BYTES / 1_048_576} MB that mail servers take.`
  const owner = { accountId: delivery.account_id, agentId: delivery.agent_id }
  const files: MailFile[] = []
  for (const { id, name } of notes) {
    const file = await readAttachment(ctx.filesDir, ctx.db, owner, id)
    if (!file) return `The file ${name} no longer exists.`
    files.push({ name: file.row.name, mediaType: file.row.media_type, bytes: file.bytes })
  }
  return files
}

type Mail = { raw: Buffer; envelope: { from: string; to: string[] }; messageId: string }

/** Gives a mail to the sending server. After a problem with the connection it is tried again. */
async function hand(
  ctx: Pick<Context, 'config' | 'db' | 'secrets'>,
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
