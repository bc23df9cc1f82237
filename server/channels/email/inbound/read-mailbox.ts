import type { ImapFlow } from 'imapflow'
import type { Context } from '../../../context.ts'
import { MailFailure } from '../../../platform/mail/mail-failure.ts'
import { type ClaimedMailbox, noteRead, noteStuck, noteWaiting } from '../connection/claim-mailbox.ts'
import { imapLogin } from '../connection/connection.ts'
import { becomeReader, isReading } from '../connection/one-reader.ts'
import { MAX_SESSION_MS, newsOf, waitForMail } from '../connection/wait-for-mail.ts'
import { fetchMail } from './fetch-mail.ts'
import { withImap } from './imap.ts'
import { SKEW_MS } from './silent-reason.ts'
import { takeMail } from './take-mail.ts'

/** After this time, other mailboxes are read. */
const MAX_MAILS = 50
const MAX_TURN_MS = 10_000

/**
 * Stores the mails that arrived since the last time, each in a transaction. Returns whether there are more. If
 * the server tells of new mails and `mayWait` allows it, the session waits for the next one. It
 * changes nothing in the mailbox. Throws LostLease, and what withImap throws.
 */
export async function readMailbox(
  ctx: Pick<
    Context,
    'config' | 'db' | 'fetcher' | 'filesDir' | 'jobs' | 'mailParser' | 'notifier' | 'secrets'
  >,
  row: ClaimedMailbox,
  { mayWait, ...limits }: { maxMs: number; signal: AbortSignal; mayWait: () => boolean },
): Promise<boolean> {
  const login = await imapLogin(ctx, row)
  if (!login) return false
  const until = performance.now() + MAX_TURN_MS
  const tries = (uid: number): number => (Number(row.stuck_uid) === uid ? row.stuck_tries : 0)
  let fetching: number | null = null
  return withImap(login, ctx.config.allowedPrivateHosts, limits, async (client, giveTime) => {
    const mailbox = await client.mailboxOpen(login.mailbox, { readOnly: true })
    const news = newsOf(client)
    const { uidValidity, uidNext } = mailbox
    if (!isReading(row)) await becomeReader(ctx.db, row, uidValidity)
    const isSame = row.uid_validity !== null && String(row.uid_validity) === String(uidValidity)
    const after = isSame ? Number(row.last_uid) : 0
    const uids = await uidsAfter(client, after, isSame ? null : row.reads_from)
    for (const uid of uids.slice(0, MAX_MAILS)) {
      if (performance.now() > until) return true
      fetching = uid
      const mail = await fetchMail(client, uid, tries(uid))
      fetching = null
      const note = { uidValidity, lastUid: uid }
      const isEarlier = mail !== null && mail.receivedAt.getTime() < row.reads_from.getTime() - SKEW_MS
      if (mail === null || (isEarlier && !isSame)) await noteRead(ctx.db, row, note)
      else await takeMail(ctx, row, mail, (trx) => noteRead(trx, row, note))
    }
    if (uids.length > MAX_MAILS) return true
    await noteRead(ctx.db, row, { uidValidity, lastUid: Math.max(after, uidNext - 1, uids.at(-1) ?? 0) })
    if (!client.capabilities.has('IDLE') || !mayWait()) return false
    giveTime(MAX_SESSION_MS)
    return waitForMail(client, news, () => noteWaiting(ctx.db, row))
  }).catch(async (error: unknown) => {
    // One mail that cannot be fetched must not keep the mailbox from being read.
    if (fetching !== null && !limits.signal.aborted) await noteStuck(ctx.db, row, fetching)
    throw error
  })
}

/** Returns the ids in ascending order. A mailbox that is new, or was created anew, is searched by date. */
async function uidsAfter(client: ImapFlow, after: number, since: Date | null): Promise<number[]> {
  const query = since ? { since: new Date(since.getTime() - 24 * 60 * 60_000) } : { uid: `${after + 1}:*` }
  const found = await client.search(query, { uid: true })
  // No match is an empty list. Anything else is an error, which must not count as "no mails".
  if (!Array.isArray(found)) throw new MailFailure('The mailbox could not be searched.')
  // `n:*` includes the last mail even if its number is below n.
  return found.filter((uid) => uid > after).sort((a, b) => a - b)
}
