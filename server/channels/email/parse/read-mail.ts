import PostalMime, { type Address, type Attachment, type Email } from 'postal-mime'
import { safeName } from '../../../conversations/attachments/attachments.ts'
import { storable } from '../../../platform/http/bodies/storable.ts'
import { type MailAddress, mailAddress, oneLine } from '../../../platform/mail/mail-address.ts'
import { isAutomatic } from '../inbound/automatic-mail.ts'
import { isForwarded, stripQuoted } from '../inbound/strip-quoted.ts'
import { shortHash, UNREADABLE, unreadable, whole } from '../inbound/unreadable.ts'
import { fittingFiles } from '../outbound/fitting-files.ts'
import { readBounce } from './bounce.ts'
import { htmlText } from './html-text.ts'
import type { MailFile, ParsedMail } from './parsed-mail.ts'

const LIMITS = { maxNestingDepth: 50, maxHeadersSize: 512 * 1024, forceRfc822Attachments: true }
const MAX_SUBJECT_LENGTH = 500
/** The most characters of HTML that are read. */
const MAX_HTML_LENGTH = 2_000_000
/** The most characters of a message. The whole text of a longer mail becomes a file. */
const MAX_TEXT_LENGTH = 100_000
const MAX_IDS = 60
const MAX_ID_LENGTH = 500

/**
 * Parses a mail. It never throws because of the content: a mail that cannot be parsed becomes a file and a text that
 * says so. `cut` is the size of the mail if the bytes are only its beginning.
 */
export async function readMail(raw: Uint8Array, cut: { bytes: number } | null = null): Promise<ParsedMail> {
  const email = await PostalMime.parse(raw, LIMITS).catch(() => null)
  return email ? parsedFrom(email, raw, cut) : unreadable(raw)
}

function parsedFrom(email: Email, raw: Uint8Array, cut: { bytes: number } | null): ParsedMail {
  const headersOf = (name: string): string[] =>
    email.headers.filter(({ key }) => key === name).map(({ value }) => value)
  const from = personOf([email.from ?? email.sender ?? []].flat())
  const replyTo = personOf(email.replyTo ?? [])
  const subject = oneLine(storable(email.subject ?? ''), MAX_SUBJECT_LENGTH)
  const attached = cut ? [] : filesOf(email.attachments)
  const words = wordsOf(email, isForwarded(subject))
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
  if (isUnread) files.push(whole(raw))
  const remark = cut ? leftOutNote(cut.bytes) : isUnread ? UNREADABLE : note
  const text = long
    ? `${words.slice(0, MAX_TEXT_LENGTH).toWellFormed()}\n\n[The whole text is in message.txt.]`
    : words
  return {
    ...idsOf(email, raw),
    from,
    replyTo,
    recipients: recipientsOf(email, headersOf),
    subject,
    isDoubtful: headersOf('authentication-results').some((value) => /\bdmarc\s*=\s*fail\b/i.test(value)),
    automatic: isAutomatic(headersOf, (replyTo ?? from)?.address ?? null),
    bounce: readBounce(headersOf('content-type')[0] ?? '', files),
    text: [text, remark].filter(Boolean).join('\n\n'),
    files,
  }
}

const leftOutNote = (bytes: number): string =>
  `[The mail has ${Math.ceil(bytes / 1_048_576)} MB: its attachments were left out.]`

function wordsOf(email: Email, isForward: boolean): string {
  const plain = storable(email.text ?? '')
  const isPlain = plain.trim() !== ''
  const text = isPlain
    ? plain
    : htmlText(storable((email.html ?? '').slice(0, MAX_HTML_LENGTH)), { isForward })
  return stripQuoted(text, { isForward })
}

function idsOf(email: Email, raw: Uint8Array): Pick<ParsedMail, 'messageId' | 'bodyHash' | 'answers'> {
  const [own] = messageIds(email.messageId ?? '')
  const answers = [...messageIds(email.inReplyTo ?? ''), ...messageIds(email.references ?? '').reverse()]
  return {
    messageId: own ?? `sha256:${shortHash(raw)}`,
    bodyHash: shortHash(bodyOf(raw)),
    answers: [...new Set(answers)].slice(0, MAX_IDS),
  }
}

const messageIds = (text: string): string[] =>
  (text.match(/<[^<>\s]+>/g) ?? []).filter((id) => id.length <= MAX_ID_LENGTH).map(storable)

const hasBody = (raw: Uint8Array): boolean => Buffer.from(bodyOf(raw)).toString('latin1').trim() !== ''

/** The headers change on the way, so they are not part of the hash. */
function bodyOf(raw: Uint8Array): Uint8Array {
  const text = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength)
  const ends = [text.indexOf('\r\n\r\n'), text.indexOf('\n\n')].filter((at) => at >= 0)
  return ends.length > 0 ? text.subarray(Math.min(...ends)) : text
}

const flat = (addresses: Address[]): { address: string; name: string }[] =>
  addresses.flatMap((entry) => entry.group ?? [entry])

function personOf(addresses: Address[]): MailAddress | null {
  for (const { address, name } of flat(addresses)) {
    const valid = mailAddress(address)
    if (valid) return { address: valid, name: oneLine(storable(name), 200) || null }
  }
  return null
}

function recipientsOf(email: Email, headersOf: (name: string) => string[]): string[] {
  const named = flat([...(email.to ?? []), ...(email.cc ?? [])]).map(({ address }) => address)
  const delivered = ['delivered-to', 'x-original-to', 'envelope-to'].flatMap(headersOf)
  const all = [...named, ...delivered].flatMap((text) => mailAddress(text.replace(/[<>]/g, '')) ?? [])
  return [...new Set(all)].slice(0, 200)
}

const filesOf = (attachments: Attachment[]): MailFile[] =>
  attachments.map(({ filename, mimeType, content }, index) => ({
    name: safeName(filename ?? nameFor(mimeType, index)),
    mediaType: /^[\w.+-]+\/[\w.+-]+$/.test(mimeType) ? mimeType.slice(0, 100) : 'application/octet-stream',
    bytes: typeof content === 'string' ? Buffer.from(content) : new Uint8Array(content),
  }))

function nameFor(mimeType: string, index: number): string {
  if (mimeType === 'message/rfc822') return `message-${index + 1}.eml`
  return `attachment-${index + 1}${mimeType.startsWith('text/') || mimeType.startsWith('message/') ? '.txt' : ''}`
}
