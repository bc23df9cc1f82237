import type { Context } from '../../../context.ts'
import { quotaProblem, senderOf } from '../../../conversations/attachments/attachment-quota.ts'
import { keepAttachment } from '../../../conversations/attachments/attachments.ts'
import type { ThreadRow } from '../../../inbox/deliveries/enqueue-delivery.ts'
import type { Db, Trx } from '../../../platform/db/database.ts'
import { transact } from '../../../platform/db/statements/transact.ts'
import type { AttachmentNote } from '../../../platform/db/tables/attachments.ts'
import { isSameMailbox, type MailAddress } from '../../../platform/mail/mail-address.ts'
import { receiveMessage } from '../../inbound/receive-message.ts'
import { type ConnectionRow, markKeyOf } from '../connection/connection.ts'
import { newPeer, readMessageId } from '../connection/thread-marks.ts'
import { changeMailThread, type MailThread, mailThreadOf, withReference } from '../outbound/mail-threads.ts'
import { giveToTeam } from '../outbound/mail-ticket.ts'
import type { ParsedMail } from '../parse/parsed-mail.ts'
import { findThread } from './find-thread.ts'
import { exceedsMailRate } from './mail-rate.ts'
import { recordBounce } from './record-bounce.ts'

/** The sender of mails that have none. Such mails are stored all the same. */
const NOBODY: MailAddress = { address: 'unknown@invalid', name: null }

type NewMail = {
  raw: Uint8Array
  receivedAt: Date
  /** The size of the mail, if the bytes are only its beginning. */
  cut?: { bytes: number }
}

type Deps = Pick<Context, 'db' | 'secrets' | 'jobs' | 'notifier' | 'filesDir' | 'mailParser'>

/**
 * Stores a mail once; a repetition returns `known`. `within` runs in the same transaction, so that the position in
 * the mailbox always matches what was stored.
 */
export async function takeMail(
  ctx: Deps,
  row: ConnectionRow,
  mail: NewMail,
  within: (trx: Trx) => Promise<void> = async () => {},
): Promise<'taken' | 'known'> {
  const parsed = await ctx.mailParser.read(row.account_id, mail.raw, mail.cut)
  const { messageId, bodyHash, bounce } = parsed
  // A bounce that is read again must not mark a mail that has been sent again since.
  const returned =
    bounce && !(await isStored(ctx.db, row, parsed))
      ? await recordBounce(ctx, row, await markKeyOf(ctx, row), bounce)
      : null
  return transact(ctx.db, async (trx) => {
    await within(trx)
    // A process that stores the same mail at the same time waits here for this transaction.
    const first = await trx
      .insertInto('email_messages')
      .values({
        agent_id: row.agent_id,
        account_id: row.account_id,
        message_id: messageId,
        body_hash: bodyHash,
        thread_id: null,
      })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirst()
    if (!first.numInsertedOrUpdatedRows) return 'known'
    const key = await markKeyOf(ctx, row, trx)
    const isOwn = parsed.from !== null && isSameMailbox(parsed.from.address, row.address)
    // This is a copy of a mail that we have sent.
    if (isOwn && readMessageId(key, messageId)) return 'known'
    const { receivedAt } = mail
    const threadId = await store(ctx, trx, row, { key, parsed, returned, receivedAt, isOwn })
    await trx
      .updateTable('email_messages')
      .set({ thread_id: threadId })
      .where('account_id', '=', row.account_id)
      .where('agent_id', '=', row.agent_id)
      .where('message_id', '=', messageId)
      .where('body_hash', '=', bodyHash)
      .execute()
    return 'taken'
  })
}

async function isStored(db: Db, row: ConnectionRow, { messageId, bodyHash }: ParsedMail): Promise<boolean> {
  const stored = await db
    .selectFrom('email_messages')
    .select('message_id')
    .where('account_id', '=', row.account_id)
    .where('agent_id', '=', row.agent_id)
    .where('message_id', '=', messageId)
    .where('body_hash', '=', bodyHash)
    .executeTakeFirst()
  return stored !== undefined
}

type Received = {
  key: Buffer
  parsed: ParsedMail
  /** If this mail is a bounce, the thread of the mail that could not be delivered. */
  returned: ThreadRow | null
  receivedAt: Date
  isOwn: boolean
}

async function store(
  ctx: Deps,
  trx: Trx,
  row: ConnectionRow,
  { key, parsed, returned, receivedAt, isOwn }: Received,
): Promise<string> {
  const { bounce, subject, from, replyTo } = parsed
  const thread = returned ?? (await findThread(trx, row, key, parsed))
  const person = replyTo ?? from ?? NOBODY
  const owner = { accountId: row.account_id, agentId: row.agent_id }
  const files: AttachmentNote[] = []
  const leftOut: string[] = []
  const sender = senderOf(from?.address ?? NOBODY.address)
  for (const file of parsed.files) {
    const problem = await quotaProblem(trx, owner, file.bytes.byteLength, sender)
    if (problem === null) files.push(await keepAttachment(ctx.filesDir, trx, owner, file, { sender }))
    else leftOut.push(`[${file.name} was left out. ${problem}]`)
  }
  // The subject of the first mail is often an essential part of the message.
  const text = [thread ? '' : subject, parsed.text, ...leftOut].filter(Boolean).join('\n\n')
  const isNobodys =
    parsed.automatic ||
    bounce !== null ||
    isOwn ||
    from === null ||
    // Many senders may name one address for the answers.
    (await exceedsMailRate(trx, row, [from.address, person.address]))
  // The answer would go to somebody who has not written, so a person of the team decides.
  const isForged = parsed.isDoubtful && !isNobodys
  const silent = isNobodys || isForged
  const { threadId } = await receiveMessage(ctx, trx, {
    accountId: row.account_id,
    agentId: row.agent_id,
    channel: 'email',
    connection: thread?.connection ?? row.address,
    peer: thread?.peer ?? newPeer(),
    person: { email: person.address, ...(person.name ? { name: person.name } : {}) },
    providerMessageId: `${parsed.messageId} ${parsed.bodyHash}`,
    sentAt: receivedAt,
    content: {
      text: text || (files.length > 0 ? '' : '[The mail is empty.]'),
      attachments: files,
      ...(silent ? { silent } : {}),
    },
  })
  await changeMailThread(trx, row.account_id, threadId, (known) =>
    threadWith(known ?? newMailThread(row, parsed, person), parsed),
  )
  if (isForged || (row.mode === 'tickets' && !isForeignCopy(thread, isOwn)))
    await giveToTeam(ctx, trx, row.account_id, threadId, { subject, text, person })
  return threadId
}

/** A mail from our own address that belongs to no thread is a loop. */
const isForeignCopy = (thread: ThreadRow | null, isOwn: boolean): boolean =>
  isOwn && !(thread && mailThreadOf(thread))

function newMailThread(
  row: ConnectionRow,
  { subject, from, recipients }: ParsedMail,
  to: MailAddress,
): MailThread {
  const named = [to.address, ...(from ? [from.address] : []), ...recipients]
  return {
    subject: /^\s*(re|aw|antwort)\s*:/i.test(subject) ? subject : `Re: ${subject}`.trim(),
    to,
    participants: [...new Set(named)].filter((address) => !isSameMailbox(address, row.address)),
    references: [],
    lastReceived: null,
    alsoTo: null,
  }
}

function threadWith(thread: MailThread, { messageId, from, automatic }: ParsedMail): MailThread {
  const references = withReference(thread.references, messageId)
  // An automatic mail is not answered, and its sender is not a recipient of answers.
  if (automatic && thread.lastReceived !== null) return { ...thread, references }
  const isOther =
    from !== null && from.address !== thread.to.address && thread.participants.includes(from.address)
  const isFirst = thread.lastReceived === null
  return { ...thread, references, lastReceived: messageId, alsoTo: isOther && !isFirst ? from.address : null }
}
