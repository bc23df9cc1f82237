import type { MailAddress } from '../../../platform/mail/mail-address.ts'

/** `isPartOfMail`: a picture of its HTML or its signature, which nobody attached. */
export type MailFile = {
  name: string
  mediaType: string
  bytes: Uint8Array
  isPartOfMail?: true
  /** By which its HTML refers to it. */
  contentId?: string
}

/** A parsed mail. Everything in it is limited in size. */
export type ParsedMail = {
  /** With angle brackets. A mail without one has a hash instead. */
  messageId: string
  bodyHash: string
  /** null if there is no address that could be answered. */
  from: MailAddress | null
  replyTo: MailAddress | null
  /** The addresses of To, Cc and the delivery headers, in lower case. */
  recipients: string[]
  /** The people whom To and Cc name. */
  to: MailAddress[]
  cc: MailAddress[]
  /** The addresses of the delivery headers, which are those of the mailbox. */
  deliveredTo: string[]
  subject: string
  /** The Message-IDs of the mail that it answers and of the earlier ones, the nearest first. */
  answers: string[]
  /** The Message-ID of the mail that it answers. */
  inReplyTo: string | null
  /** The receiving server could not authenticate the sender (RFC 8601). */
  isDoubtful: boolean
  /** The receiving server could authenticate the sender. */
  isVerified: boolean
  /** It was sent by a program or to a list. */
  automatic: boolean
  /** Set if it is automatic only because it came through a list: the names of the list. */
  lists: string[] | null
  /** Set if its text cannot be read here, so that a person has to look at it. */
  unread: 'encrypted' | 'unreadable' | 'unfetched' | null
  /** Whether the sender has written anything besides a signature. */
  hasWords: boolean
  bounce: Bounce | null
  /** What the sender's program shows, unless it is too long. */
  html: string | null
  /** Without quotations and signature. */
  text: string
  /** The time of the newest server that passed it on, if its headers tell. */
  passedOnAt: Date | null
  files: MailFile[]
}

/** Set if the mail reports that other mails did not arrive. */
export type Bounce = { messageIds: string[]; reason: string }
