import type { ImapFlow } from 'imapflow'
import { MailFailure } from '../../../platform/mail/mail-failure.ts'
import type { NewMail } from './take-mail.ts'

/** Only the beginning of a larger mail is read, which contains its text. */
const MAX_BYTES = 60 * 1024 * 1024
const BEGINNING_BYTES = 2 * 1024 * 1024
/** After so many failures of the whole mail, its beginning is tried, then its head, then nothing more. */
const TRIES = 3

/**
 * Returns null when the mail has been removed meanwhile. `tries` is how often it could not be fetched: a mail that
 * remains unfetched is returned with what is known of it, for the team.
 */
export async function fetchMail(client: ImapFlow, uid: number, tries: number): Promise<NewMail | null> {
  if (tries > TRIES + 1) return unfetched(uid)
  const isHead = tries === TRIES + 1
  const about = await client.fetchOne(
    String(uid),
    { size: true, internalDate: true, flags: true, ...(isHead ? { headers: true } : {}) },
    { uid: true },
  )
  requireOpen(client)
  if (!about) return null
  const received = new Date(about.internalDate ?? Date.now())
  const known = {
    receivedAt: received.getTime() > Date.now() ? new Date() : received,
    isAnswered: about.flags?.has('\\Answered') ?? false,
  }
  if (isHead) return about.headers ? { raw: about.headers, ...known, isUnfetched: true } : unfetched(uid)
  const bytes = about.size ?? 0
  const isCut = bytes > MAX_BYTES || tries === TRIES
  const source = isCut ? { start: 0, maxLength: BEGINNING_BYTES } : true
  const message = await client.fetchOne(String(uid), { source }, { uid: true })
  requireOpen(client)
  if (!message || message.source === undefined) return null
  const isWhole = message.source.byteLength >= bytes
  return { raw: message.source, ...known, ...(isCut && !isWhole ? { cut: { bytes } } : {}) }
}

const unfetched = (uid: number): NewMail => ({
  raw: Buffer.from(`Subject: Mail ${uid} of the mailbox\r\n\r\n`),
  receivedAt: new Date(),
  isUnfetched: true,
})

/** A client that has lost its connection also returns nothing. */
function requireOpen(client: ImapFlow): void {
  if (!client.usable || !client.mailbox) throw new MailFailure('The server closed the connection.')
}
