import { type Selectable, sql } from 'kysely'
import type { Db } from '../../../platform/db/database.ts'
import { transact } from '../../../platform/db/statements/transact.ts'
import type { EmailConnectionsTable } from '../../../platform/db/tables/channels.ts'
import { MailFailure } from '../../../platform/mail/mail-failure.ts'

type ConnectionRow = Selectable<EmailConnectionsTable>

/** After this many failures in a row, which take about a quarter of an hour, another agent may read the mailbox. */
const MAX_READ_FAILURES = 5

type Reader = Pick<ConnectionRow, 'reader_since' | 'read_failures'>

/** Whether the agent is the reader of its mailbox. */
export const isReading = (row: Reader | undefined): boolean =>
  row !== undefined && row.reader_since !== null && row.read_failures < MAX_READ_FAILURES

/**
 * Makes the agent the reader of a mailbox that it has just opened. Throws MailFailure if another agent is, in whichever
 * account: both would answer each mail. Only those who know the password of the mailbox learn that there is another.
 */
export async function becomeReader(db: Db, row: ConnectionRow, uidValidity: bigint): Promise<void> {
  const { agent_id, account_id, imap } = row
  if (!imap) return
  const place = [imap.host.toLowerCase(), (imap.username ?? '').toLowerCase(), imap.mailbox]
  await transact(db, async (trx) => {
    await sql`select pg_advisory_xact_lock(hashtextextended(${`mailbox ${place.join(' ')}`}, 0))`.execute(trx)
    // Two servers of one name, such as behind two ports, number their mails differently.
    const { rows } = await sql`
      select from email_connections where agent_id <> ${agent_id} and reader_since is not null
        and read_failures < ${MAX_READ_FAILURES}
        and lower(imap ->> 'host') = ${place[0]} and lower(coalesce(imap ->> 'username', '')) = ${place[1]}
        and imap ->> 'mailbox' = ${place[2]} and coalesce(uid_validity = ${String(uidValidity)}, true)
      limit 1`.execute(trx)
    if (rows.length > 0)
      throw new MailFailure(
        'Another agent already reads this mailbox, and both would answer each mail. Disconnect it there first, or choose another folder.',
      )
    await trx
      .updateTable('email_connections')
      // It has opened the mailbox, so its failures before no longer make room for another agent.
      .set({ reader_since: sql`coalesce(reader_since, now())`, read_failures: 0 })
      .where('account_id', '=', account_id)
      .where('agent_id', '=', agent_id)
      .where('updated_at', '=', row.updated_at)
      .execute()
  })
}
