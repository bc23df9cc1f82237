import { sql } from 'kysely'
import type { Context } from '../../../context.ts'
import { quotaProblem, senderOf } from '../../../conversations/attachments/attachment-quota.ts'
import { keepAttachment } from '../../../conversations/attachments/attachments.ts'
import type { ThreadRow } from '../../../inbox/deliveries/enqueue-delivery.ts'
import type { Db, Trx } from '../../../platform/db/database.ts'
import { isId } from '../../../platform/db/ids.ts'
import { transact } from '../../../platform/db/statements/transact.ts'
import type { AttachmentNote } from '../../../platform/db/tables/attachments.ts'
import type { SilentReason } from '../../../platform/db/tables/channels.ts'
import { isSameMailbox, type MailAddress } from '../../../platform/mail/mail-address.ts'
import { receiveMessage } from '../../inbound/receive-message.ts'
import { type ConnectionRow, markKeyOf } from '../connection/connection.ts'
import { isOwnReference, newPeer, readMessageId } from '../connection/thread-marks.ts'
import { keepOriginal } from '../original/originals.ts'
import { changeMailThread, type MailThread, withReference } from '../outbound/mail-threads.ts'
import { giveToTeam } from '../outbound/mail-ticket.ts'
import type { ParsedMail } from '../parse/parsed-mail.ts'
import { findThread } from './find-thread.ts'
import { answeredOthers, otherPeople } from './other-people.ts'
import { recordBounce } from './record-bounce.ts'
import { repetitionOf } from './repetitive-mail.ts'
import { withoutSent } from './sent-text.ts'
import { silentReason } from './silent-reason.ts'

/** The sender of mails that have none. Such mails are stored all the same. */
const NOBODY: MailAddress = { address: 'unknown@invalid', name: null }

const UNFETCHED =
  '[This mail could not be fetched from its server, although it was tried several times. Open it in a mail client.]'

/** A person may have written such mails, so they are tickets where mails become tickets. */
const REQUESTS: ReadonlySet<SilentReason> = new Set(['noSender', 'tooMany', 'repetitive'])

/** The most people whose mails belong to one thread. */
const MAX_PEOPLE = 300

export type NewMail = {
  raw: Uint8Array
  receivedAt: Date
  /** The size of the mail, if the bytes are only its beginning. */
  cut?: { bytes: number }
  /** Somebody has answered it in a mail client. */
  isAnswered?: boolean
  /** Its server does not give more of it than the head, if that. */
  isUnfetched?: boolean
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
  const read = asSentBy(await ctx.mailParser.read(row.account_id, mail.raw, mail.cut), row)
  const parsed: ParsedMail = mail.isUnfetched
    ? { ...read, text: UNFETCHED, files: [], unread: 'unfetched' }
    : read
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
    const { receivedAt, isAnswered = false } = mail
    const threadId = await store(ctx, trx, row, { key, parsed, returned, receivedAt, isAnswered, isOwn })
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

/** A form on a website sends from the address of the mailbox itself, for the person of the Reply-To. */
function asSentBy(parsed: ParsedMail, row: ConnectionRow): ParsedMail {
  const { from, replyTo } = parsed
  const isForm =
    from !== null &&
    isSameMailbox(from.address, row.address) &&
    replyTo !== null &&
    !isSameMailbox(replyTo.address, row.address)
  if (!isForm) return parsed
  const person = { ...replyTo, name: replyTo.name ?? from.name }
  return { ...parsed, from: person, replyTo: person }
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
  isAnswered: boolean
  isOwn: boolean
}

async function store(
  ctx: Deps,
  trx: Trx,
  row: ConnectionRow,
  { key, parsed, returned, receivedAt, isAnswered, isOwn }: Received,
): Promise<string> {
  const { subject, from, replyTo } = parsed
  const thread = returned ?? (await findThread(trx, row, key, parsed))
  const person = replyTo ?? from ?? NOBODY
  const owner = { accountId: row.account_id, agentId: row.agent_id }
  const files: AttachmentNote[] = []
  const leftOut: string[] = []
  const pictures: Record<string, string> = {}
  const sender = senderOf(from?.address ?? NOBODY.address)
  for (const file of parsed.files) {
    const problem = await quotaProblem(trx, owner, file.bytes.byteLength, sender)
    if (problem === null) {
      const note = await keepAttachment(ctx.filesDir, trx, owner, file, { sender })
      if (file.contentId !== undefined) pictures[file.contentId] = note.id
      files.push(file.isPartOfMail ? { ...note, isPartOfMail: true } : note)
    } else leftOut.push(`[${file.name} was left out. ${problem}]`)
  }
  // The subject of the first mail is often an essential part of the message.
  const heading = thread ? '' : subject
  const own = thread ? await withoutSent(trx, thread, parsed.text) : parsed.text
  const text = [heading, own, ...leftOut].filter(Boolean).join('\n\n')
  const addresses = [...(from ? [from.address] : []), person.address]
  const repetition = await repetitionOf(trx, row, { thread, from: addresses[0] ?? '', text, receivedAt })
  const silentBecause = await silentReason(trx, row, {
    parsed,
    receivedAt,
    isAnswered,
    isOwn,
    addresses,
    repetition,
  })
  // A mail that is no mail to the parser may be a request all the same.
  const isUnknown = parsed.unread === 'unreadable' || parsed.unread === 'unfetched'
  const mayAsk = silentBecause === null || (from === null && isUnknown)
  const forTeam = mayAsk ? await whyForTeam(trx, row, key, { parsed, thread, heading }) : null
  const providerMessageId = `${parsed.messageId} ${parsed.bodyHash}`
  const { threadId } = await receiveMessage(ctx, trx, {
    accountId: row.account_id,
    agentId: row.agent_id,
    channel: 'email',
    connection: thread?.connection ?? row.address,
    peer: thread?.peer ?? newPeer(),
    person: { email: person.address, ...(person.name ? { name: person.name } : {}) },
    providerMessageId,
    sentAt: receivedAt,
    content: {
      text: text || (files.length > 0 ? '' : '[The mail is empty.]'),
      attachments: files,
      mail: { from, to: parsed.to, cc: parsed.cc, ...(parsed.html === null ? {} : { hasHtml: true }) },
      ...(silentBecause !== null || forTeam !== null ? { silent: true } : {}),
      ...(silentBecause !== null && forTeam === null ? { silentBecause } : {}),
      ...(repetition.isRepetitive ? { isRepetitive: true } : {}),
    },
  })
  if (parsed.html !== null)
    await keepOriginal(trx, row, { threadId, providerMessageId }, { html: parsed.html, pictures })
  const others = await otherPeople(trx, row, parsed)
  const answered = await answeredOthers(trx, row, parsed, others)
  await changeMailThread(trx, row.account_id, threadId, (known) =>
    threadWith(known ?? newMailThread(row, parsed, person), parsed, { others, answered }),
  )
  const isRequest = silentBecause === null || REQUESTS.has(silentBecause)
  if (forTeam !== null || (row.mode === 'tickets' && isRequest))
    await giveToTeam(ctx, trx, row.account_id, threadId, { subject, text: forTeam ?? text, person })
  return threadId
}

/** Returns a sentence that says why a person has to look at a mail; null if the agent may answer it. */
async function whyForTeam(
  trx: Trx,
  row: ConnectionRow,
  key: Buffer,
  { parsed, thread, heading }: { parsed: ParsedMail; thread: ThreadRow | null; heading: string },
): Promise<string | null> {
  const { isDoubtful, unread, hasWords, text, inReplyTo, answers } = parsed
  const forwarded = thread === null ? await forwardedIn(trx, row, key, answers) : null
  if (forwarded !== null) return `It answers a mail that was forwarded from ticket #${forwarded}.\n\n${text}`
  // The answer would go to somebody who has not written.
  if (unread === 'unfetched') return UNFETCHED
  if (isDoubtful && unread !== 'unreadable') return text || 'The sender could not be verified.'
  if (unread === 'encrypted') return 'The mail is encrypted and cannot be read here.'
  if (unread === 'unreadable') return 'The mail could not be read. It is attached as it came.'
  if (!hasWords && !/[\p{L}\p{N}]/u.test(heading)) return 'The mail has no words.'
  // The server has replaced the Message-ID of our mail.
  const isRenamed = isOwnReference(answers[1] ?? '') && readMessageId(key, answers[1] ?? '') !== null
  const isStrange =
    thread !== null && inReplyTo !== null && readMessageId(key, inReplyTo) === null && !isRenamed
  if (isStrange && !(await isKnown(trx, row, inReplyTo)))
    return 'It answers a mail that a colleague has sent from a mail client.'
  return null
}

/** Returns the number of the ticket from which one of the mails was forwarded. */
async function forwardedIn(
  trx: Trx,
  row: ConnectionRow,
  key: Buffer,
  answers: string[],
): Promise<number | null> {
  const ids = answers.flatMap((id) => readMessageId(key, id)?.deliveryId ?? []).filter(isId)
  if (ids.length === 0) return null
  const found = await trx
    .selectFrom('deliveries')
    .innerJoin('tickets', 'tickets.id', 'deliveries.ticket_id')
    .select('tickets.number')
    .where('deliveries.account_id', '=', row.account_id)
    .where('tickets.account_id', '=', row.account_id)
    .where('deliveries.id', 'in', ids)
    .where(sql<boolean>`deliveries.content -> 'isForward' is not null`)
    .limit(1)
    .executeTakeFirst()
  return found?.number ?? null
}

async function isKnown(trx: Trx, row: ConnectionRow, messageId: string): Promise<boolean> {
  const known = await trx
    .selectFrom('email_messages')
    .select('message_id')
    .where('account_id', '=', row.account_id)
    .where('agent_id', '=', row.agent_id)
    .where('message_id', '=', messageId)
    .limit(1)
    .executeTakeFirst()
  return known !== undefined
}

function newMailThread(
  row: ConnectionRow,
  { subject, from, recipients, answers }: ParsedMail,
  to: MailAddress,
): MailThread {
  const named = [to.address, ...(from ? [from.address] : []), ...recipients]
  return {
    subject: /^\s*(re|aw|antwort)\s*:/i.test(subject) ? subject : `Re: ${subject}`.trim(),
    to,
    participants: [...new Set(named)].filter((address) => !isSameMailbox(address, row.address)),
    // The first answer refers to all that the mail refers to (RFC 5322, 3.6.4).
    references: answers.toReversed().slice(-10),
    lastReceived: null,
    alsoTo: null,
  }
}

function threadWith(
  thread: MailThread,
  { messageId, from, automatic }: ParsedMail,
  { others, answered }: { others: MailAddress[]; answered: MailAddress[] },
): MailThread {
  const references = withReference(thread.references, messageId)
  // An automatic mail is not answered, and its sender is not a recipient of answers.
  if (automatic && thread.lastReceived !== null) return { ...thread, references }
  const isOther =
    from !== null && from.address !== thread.to.address && thread.participants.includes(from.address)
  const isFirst = thread.lastReceived === null
  const cc = others.filter(({ address }) => address !== thread.to.address)
  return {
    ...thread,
    references,
    lastReceived: messageId,
    alsoTo: isOther && !isFirst ? from.address : null,
    cc,
    answersCc: answered.filter(({ address }) => address !== thread.to.address),
    participants: [...new Set([...thread.participants, ...cc.map(({ address }) => address)])].slice(
      0,
      MAX_PEOPLE,
    ),
  }
}
