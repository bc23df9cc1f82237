import type { MailAddress } from './mail-address.ts'

export type MailFile = { name: string; mediaType: string; bytes: Uint8Array }

/** A mail as it was read, with everything bounded. */
export type ParsedMail = {
  /** With its angle brackets; a hash of the mail where it has none. */
  messageId: string
  bodyHash: string
  /** null: nobody that could be answered. */
  from: MailAddress | null
  replyTo: MailAddress | null
  /** To, Cc and where it was delivered, in lower case. */
  recipients: string[]
  subject: string
  /** Message-IDs: what it answers, then what it goes back to, the nearest first. */
  answers: string[]
  /** The server that took it doubts that it is from whom it says (RFC 8601). */
  isDoubtful: boolean
  /** Written by no person, or for many. */
  automatic: boolean
  bounce: Bounce | null
  /** Without what it quotes and without a signature. */
  text: string
  files: MailFile[]
}

/** A report that mails did not arrive. */
export type Bounce = { messageIds: string[]; reason: string }
