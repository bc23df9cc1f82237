import { sql } from 'kysely'
import type { Db, Trx } from '../../../db/database.ts'
import { newId } from '../../../db/ids.ts'
import type { ConnectionRow } from './connection.ts'

/** Longer than one mail takes; renewed with every one. */
const LEASE_SECONDS = 180
const PAUSE_SECONDS = 20
const LONGEST_PAUSE_SECONDS = 300

export type ClaimedMailbox = ConnectionRow & { lease_id: string }

/**
 * Visits at once for one account, in all processes together: silent servers of one hold back nobody else. Processes
 * that claim in the same moment may go beyond it by one each.
 */
const MOST_UNDER_WAY = 2

/** Takes a mailbox that is to be read, for this process alone; null when there is none. */
export async function claimMailbox(db: Db): Promise<ClaimedMailbox | null> {
  const { rows } = await sql<ClaimedMailbox>`
    with busy as materialized (
      select account_id from email_connections where lease_until >= now()
      group by account_id having count(*) >= ${MOST_UNDER_WAY}
    )
    update email_connections set lease_id = ${newId()}, lease_until = now() + ${LEASE_SECONDS} * interval '1 second'
    where agent_id = (
      select agent_id from email_connections
      where imap is not null and next_read_at <= now() and (lease_until is null or lease_until < now())
        and account_id not in (select account_id from busy)
      order by next_read_at limit 1
      for update skip locked
    )
    returning *`.execute(db)
  return rows[0] ?? null
}

/** Another process has the mailbox by now, or it was connected anew. */
export class LostLease extends Error {
  override name = 'LostLease'
}

/** Notes how far the mailbox was read and keeps it; throws LostLease. */
export async function noteRead(
  trx: Trx | Db,
  { agent_id, account_id, lease_id }: ClaimedMailbox,
  { uidValidity, lastUid }: { uidValidity: bigint; lastUid: number },
): Promise<void> {
  const changed = await trx
    .updateTable('email_connections')
    .set({
      uid_validity: String(uidValidity),
      last_uid: lastUid,
      lease_until: sql<Date>`now() + ${LEASE_SECONDS} * interval '1 second'`,
    })
    .where('account_id', '=', account_id)
    .where('agent_id', '=', agent_id)
    .where('lease_id', '=', lease_id)
    .executeTakeFirst()
  if (changed.numUpdatedRows === 0n) throw new LostLease('Another process reads the mailbox.')
}

/** Lets go of the mailbox until it is read again: soon, at once when there is `more`, later after each failure. */
export async function releaseMailbox(
  db: Db,
  { agent_id, account_id, lease_id, read_failures }: ClaimedMailbox,
  { error, more }: { error: string | null; more: boolean },
): Promise<void> {
  const failures = error === null ? 0 : read_failures + 1
  const wait = more ? 0 : Math.min(LONGEST_PAUSE_SECONDS, PAUSE_SECONDS * 2 ** Math.min(failures, 10))
  await db
    .updateTable('email_connections')
    .set({
      lease_id: null,
      lease_until: null,
      imap_error: error,
      imap_checked_at: new Date(),
      read_failures: failures,
      next_read_at: sql<Date>`now() + ${wait} * interval '1 second'`,
    })
    .where('account_id', '=', account_id)
    .where('agent_id', '=', agent_id)
    .where('lease_id', '=', lease_id)
    .execute()
}

/** Lets go of a mailbox whose visit was broken off; whoever comes next reads it at once. */
export async function giveBackMailbox(
  db: Db,
  { agent_id, account_id, lease_id }: ClaimedMailbox,
): Promise<void> {
  await db
    .updateTable('email_connections')
    .set({ lease_id: null, lease_until: null })
    .where('account_id', '=', account_id)
    .where('agent_id', '=', agent_id)
    .where('lease_id', '=', lease_id)
    .execute()
}
