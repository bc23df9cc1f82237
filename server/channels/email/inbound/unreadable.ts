import { createHash } from 'node:crypto'
import type { MailFile, ParsedMail } from '../parse/parsed-mail.ts'

export const shortHash = (bytes: Uint8Array): string =>
  createHash('sha256').update(bytes).digest('hex').slice(0, 32)

export const UNREADABLE = '[This mail could not be read. It is attached as it came.]'

export const whole = (raw: Uint8Array): MailFile => ({
  name: 'message.eml',
  mediaType: 'message/rfc822',
  bytes: raw,
})

/** Returns a mail that could not be parsed. The whole mail becomes an attachment for people to look at. */
export const unreadable = (raw: Uint8Array): ParsedMail => ({
  messageId: `sha256:${shortHash(raw)}`,
  bodyHash: shortHash(raw),
  from: null,
  replyTo: null,
  recipients: [],
  to: [],
  cc: [],
  deliveredTo: [],
  subject: '',
  answers: [],
  inReplyTo: null,
  isDoubtful: true,
  isVerified: false,
  automatic: true,
  lists: null,
  hasWords: false,
  unread: 'unreadable',
  passedOnAt: null,
  bounce: null,
  html: null,
  text: UNREADABLE,
  files: [whole(raw)],
})
