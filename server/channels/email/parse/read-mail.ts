import PostalMime, { type Address, type Attachment, type Email } from 'postal-mime'
import { safeName } from '../../../conversations/attachments/attachments.ts'
import { storable } from '../../../platform/http/bodies/storable.ts'
import { type MailAddress, mailAddress, oneLine } from '../../../platform/mail/mail-address.ts'
import { isByProgram, listsOf } from '../inbound/automatic-mail.ts'
import { isForwarded } from '../inbound/known-clients.ts'
import { type Context, ownWords, stripQuoted } from '../inbound/strip-quoted.ts'
import { shortHash, UNREADABLE, unreadable, whole as wholeMail } from '../inbound/unreadable.ts'
import { fittingFiles } from '../outbound/fitting-files.ts'
import { readBounce } from './bounce.ts'
import { htmlText } from './html-text.ts'
import { isVerified } from './is-verified.ts'
import type { MailFile, ParsedMail } from './parsed-mail.ts'
import { meantText, repaired, withLosslessCharsets, withReadableHead } from './repair-charsets.ts'

const LIMITS = { maxNestingDepth: 50, maxHeadersSize: 512 * 1024, forceRfc822Attachments: true }
const MAX_SUBJECT_LENGTH = 500
/** The most characters of HTML that are read. */
const MAX_HTML_LENGTH = 2_000_000
/** The most characters of a message. The whole text of a longer mail becomes a file. */
const MAX_TEXT_LENGTH = 100_000
/** The most characters of HTML that are kept for the eyes of the team. */
const MAX_ORIGINAL_LENGTH = 300_000
const MAX_IDS = 60
const MAX_RECIPIENTS = 200
const MAX_ID_LENGTH = 500

/**
 * Parses a mail. It never throws because of the content: a mail that cannot be parsed becomes a file and a text that
 * says so. `cut` is the size of the mail if the bytes are only its beginning.
 */
export async function readMail(raw: Uint8Array, cut: { bytes: number } | null = null): Promise<ParsedMail> {
  const email = await parse(withReadableHead(raw)).catch(() => null)
  return email ? parsedFrom(email, raw, cut) : unreadable(raw)
}

async function parse(raw: Uint8Array): Promise<Email> {
  const email = await PostalMime.parse(raw, LIMITS)
  const lossless = withLosslessCharsets(raw, `${email.text ?? ''}${email.html ?? ''}`)
  if (!lossless) return email
  // Only its texts are used: mails that are attached to it stay as they are.
  const bytes = await PostalMime.parse(lossless.raw, LIMITS)
  const { plain, html } = lossless.labels
  if (email.text !== undefined) email.text = repaired(email.text, bytes.text ?? '', plain)
  if (email.html !== undefined) email.html = repaired(email.html, bytes.html ?? '', html)
  return email
}

function parsedFrom(email: Email, raw: Uint8Array, cut: { bytes: number } | null): ParsedMail {
  const headersOf = (name: string): string[] =>
    email.headers.filter(({ key }) => key === name).map(({ value }) => value)
  const from = personOf([email.from ?? email.sender ?? []].flat())
  const replyTo = personOf(email.replyTo ?? [])
  const subject = oneLine(storable(meantText(email.subject ?? '')), MAX_SUBJECT_LENGTH)
  const attached = cut ? [] : filesOf(email)
  const ids = idsOf(email, raw)
  const [to, cc] = [peopleOf(email.to), peopleOf(email.cc)]
  const deliveredTo = deliveredOf(headersOf)
  const named = [...to, ...cc].map(({ address }) => address)
  const recipients = [...new Set([...named, ...deliveredTo])].slice(0, MAX_RECIPIENTS)
  const context = {
    isForward: isForwarded(subject),
    isReply: ids.answers.length > 0,
    recipients: recipients.map(withoutMark),
    subject,
  }
  const whole = wholeText(email, context, attached)
  const words = stripQuoted(whole, context)
  const isEmpty = words === '' && attached.length === 0
  // The mail is not empty, but the parser has found neither text nor file.
  const isUnread = isEmpty && !cut && email.text === undefined && email.html === undefined && hasBody(raw)
  if (isEmpty && subject === '' && !from) return unreadable(raw)
  const long = words.length > MAX_TEXT_LENGTH
  if (long)
    attached.unshift({
      name: 'message.txt',
      mediaType: 'text/plain',
      bytes: Buffer.from(email.text ?? words),
    })
  const { files, note } = fittingFiles(attached)
  // The mail itself is the only content, so its size does not matter.
  if (isUnread) files.push(wholeMail(raw))
  const remark = cut ? leftOutNote(cut.bytes) : isUnread ? UNREADABLE : note
  const text = long
    ? `${words.slice(0, MAX_TEXT_LENGTH).toWellFormed()}\n\n[The whole text is in message.txt.]`
    : words
  const answerTo = (replyTo ?? from)?.address ?? null
  const headerNames = email.headers.map(({ key }) => key)
  const byProgram = isByProgram(headerNames, headersOf, answerTo) || email.attachments.some(isOfCalendar)
  const results = headersOf('authentication-results')
  const lists = byProgram ? null : listsOf(headersOf, ids.answers.length > 0)
  return {
    ...ids,
    from,
    replyTo,
    recipients,
    to,
    cc,
    deliveredTo,
    subject,
    isDoubtful: results.some((value) => /\bdmarc\s*=\s*fail\b/i.test(value)),
    isVerified: isVerified(results, from?.address ?? null),
    automatic: byProgram || lists !== null,
    lists,
    unread: isUnread ? 'unreadable' : isEncrypted(email, words) ? 'encrypted' : null,
    hasWords: /[\p{L}\p{N}\p{Extended_Pictographic}]/u.test(ownWords(whole, context)),
    passedOnAt: newestOf(headersOf('received')),
    bounce: readBounce(headersOf('content-type')[0] ?? '', files),
    html: originalOf(email),
    text: [text, remark].filter(Boolean).join('\n\n'),
    files,
  }
}

function originalOf({ html = '' }: Email): string | null {
  const original = storable(html)
  return original.trim() === '' || original.length > MAX_ORIGINAL_LENGTH ? null : original
}

const leftOutNote = (bytes: number): string =>
  `[The mail has ${Math.ceil(bytes / 1_048_576)} MB: its attachments were left out.]`

/** Answers of calendars (RFC 5546) are sent by the program at the press of a button. */
const isOfCalendar = ({ method }: Attachment): boolean =>
  method !== undefined && /^(reply|counter|declinecounter|refresh|cancel)$/i.test(method)

const ENCRYPTED = /^application\/(?:x-)?(?:pkcs7-mime|pgp-encrypted)$/i

const isEncrypted = ({ attachments }: Email, words: string): boolean =>
  attachments.some(({ mimeType }) => ENCRYPTED.test(mimeType)) ||
  words.includes('-----BEGIN PGP MESSAGE-----')

/** Returns the newest time of the `Received` headers. */
function newestOf(received: string[]): Date | null {
  const times = received.map((value) => Date.parse(value.slice(value.lastIndexOf(';') + 1)))
  const known = times.filter((time) => !Number.isNaN(time))
  return known.length > 0 ? new Date(Math.max(...known)) : null
}

/** A quotation shows an address without what was added to it for the thread. */
const withoutMark = (address: string): string => address.replace(/\+[^@]*@/, '@')

/** Returns the text that the sender's program shows, chosen from the plain and the HTML version. */
function wholeText(email: Email, context: Context, files: MailFile[]): string {
  const { isForward = false, isReply = false } = context
  const plain = withoutPictures(storable(email.text ?? ''), files)
  const html = storable((email.html ?? '').slice(0, MAX_HTML_LENGTH))
  if (plain.trim() === '' || html === '')
    return plain.trim() === '' ? htmlText(html, { isForward, isReply }) : plain
  const shown = htmlText(html, { isForward: true })
  if (shown === '') return plain
  const own = isForward ? shown : htmlText(html, { isReply })
  if (!isSameText(plain, shown)) return own
  // The marks of the HTML tell what is quoted where the plain version does not.
  const isMarked = own.length < shown.length
  const isLeft = ownWords(plain, context).length > ownWords(own, context).length * 1.2 + 20
  return isMarked && isLeft ? own : plain
}

/** Some programs put a remark about HTML into the plain version in place of the text. */
function isSameText(plain: string, shown: string): boolean {
  const wordsIn = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  const known = new Set(wordsIn(shown))
  const words = wordsIn(plain)
  return words.length > 0 && words.filter((word) => known.has(word)).length >= words.length / 2
}

/** Removes the marks of the places where pictures are shown. */
const withoutPictures = (text: string, files: MailFile[]): string =>
  text.replace(/\[([^[\]\n]{1,500})\]/g, (mark: string, inside: string) =>
    /^cid:/i.test(inside) || files.some(({ name }) => inside.includes(name)) ? '' : mark,
  )

function idsOf(
  email: Email,
  raw: Uint8Array,
): Pick<ParsedMail, 'messageId' | 'bodyHash' | 'answers' | 'inReplyTo'> {
  const [own] = messageIds(email.messageId ?? '')
  const replied = messageIds(email.inReplyTo ?? '')
  const answers = [...replied, ...messageIds(email.references ?? '').reverse()]
  return {
    inReplyTo: replied[0] ?? null,
    messageId: own ?? `sha256:${shortHash(raw)}`,
    bodyHash: shortHash(bodyOf(raw)),
    answers: [...new Set(answers)].slice(0, MAX_IDS),
  }
}

/** Some programs leave out the angle brackets. */
const messageIds = (text: string): string[] =>
  (text.match(/<[^<>\s]+>|[^<>\s,;()"]+@[^<>\s,;()"]+/g) ?? [])
    .map((id) => storable(id.startsWith('<') ? id : `<${id}>`))
    .filter((id) => id.length <= MAX_ID_LENGTH)

const hasBody = (raw: Uint8Array): boolean => {
  const body = bodyOf(raw)
  // A mail of which the end of the head is missing has nothing else.
  return body.length < raw.length && Buffer.from(body).toString('latin1').trim() !== ''
}

/** The headers change on the way, so they are not part of the hash. */
function bodyOf(raw: Uint8Array): Uint8Array {
  const text = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength)
  const ends = [text.indexOf('\r\n\r\n'), text.indexOf('\n\n')].filter((at) => at >= 0)
  return ends.length > 0 ? text.subarray(Math.min(...ends)) : text
}

const flat = (addresses: Address[]): { address: string; name: string }[] =>
  addresses.flatMap((entry) => entry.group ?? [entry])

/** Returns each address once. */
function peopleOf(addresses: Address[] = []): MailAddress[] {
  const found = new Map<string, MailAddress>()
  for (const { address, name } of flat(addresses)) {
    const valid = mailAddress(address)
    if (valid && !found.has(valid))
      found.set(valid, { address: valid, name: oneLine(storable(meantText(name)), 200) || null })
  }
  return [...found.values()].slice(0, MAX_RECIPIENTS)
}

const personOf = (addresses: Address[]): MailAddress | null => peopleOf(addresses)[0] ?? null

const deliveredOf = (headersOf: (name: string) => string[]): string[] =>
  ['delivered-to', 'x-original-to', 'envelope-to']
    .flatMap(headersOf)
    .flatMap((text) => mailAddress(text.replace(/[<>]/g, '')) ?? [])

const SIGNATURE = /^application\/(?:(?:x-)?pkcs7-signature|pgp-signature|pgp-keys)$/i

const filesOf = ({ attachments, html = '' }: Email): MailFile[] =>
  attachments.map((part, index) => {
    const { filename, mimeType, content, contentId, related } = part
    const id = contentId?.replace(/^<|>$/g, '')
    const isShown = related || (id !== undefined && html.includes(`cid:${id}`))
    return {
      name: safeName(filename ?? nameFor(mimeType, index)),
      mediaType: /^[\w.+-]+\/[\w.+-]+$/.test(mimeType) ? mimeType.slice(0, 100) : 'application/octet-stream',
      bytes: typeof content === 'string' ? Buffer.from(content) : new Uint8Array(content),
      ...(isShown || SIGNATURE.test(mimeType) ? { isPartOfMail: true } : {}),
      ...(isShown && id !== undefined ? { contentId: id.slice(0, MAX_ID_LENGTH) } : {}),
    }
  })

function nameFor(mimeType: string, index: number): string {
  if (mimeType === 'message/rfc822') return `message-${index + 1}.eml`
  if (mimeType === 'text/calendar') return 'invitation.ics'
  const [kind, subtype = ''] = mimeType.split('/')
  if (kind === 'message' || subtype === 'rfc822-headers') return `${subtype.replace(/[^\w-]/g, '')}.txt`
  return `attachment-${index + 1}${kind === 'text' ? '.txt' : ''}`
}
