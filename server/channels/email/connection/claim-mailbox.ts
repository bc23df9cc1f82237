import { type RawBuilder, sql } from 'kysely'
import type { Db, Trx } from '../../../platform/db/database.ts'
import { newId } from '../../../platform/db/ids.ts'
import type { ConnectionRow } from './connection.ts'

/** Longer than one mail takes. The lease is renewed with every mail. */
const LEASE_SECONDS = 180
const PAUSE_SECONDS = 20
const MAX_PAUSE_SECONDS = 300

export type ClaimedMailbox = ConnectionRow & { lease_id: string }

/**
 * The most mailboxes of one account that are read at once, in all processes together, so that servers that do not
 * answer delay nobody else. Processes that claim at the same moment may exceed it by one each.
 */
const MAX_UNDER_WAY = 2

/**
 * Whether a time has passed, or is later than it can have been set, because the clock of the database has been set back
 * since.
 */
const isOver = (time: RawBuilder<Date>, longestSeconds: number): RawBuilder<boolean> =>
  sql`(${time} <= now() or ${time} > now() + ${longestSeconds + 1} * interval '1 second')`

/** Claims a mailbox that is due for this process. Returns null when there is none. */
export async function claimMailbox(db: Db): Promise<ClaimedMailbox | null> {
  const { rows } = await sql<ClaimedMailbox>`
    with busy as materialized (
      select account_id from email_connections where not ${isOver(sql`lease_until`, LEASE_SECONDS)}
        -- Those that only wait for news have been read.
        and ${isOver(sql`next_read_at`, MAX_PAUSE_SECONDS)}
      group by account_id having count(*) >= ${MAX_UNDER_WAY}
    )
    update email_connections set lease_id = ${newId()}, lease_until = now() + ${LEASE_SECONDS} * interval '1 second'
    where agent_id = (
      select agent_id from email_connections
      where imap is not null and ${isOver(sql`next_read_at`, MAX_PAUSE_SECONDS)}
        and (lease_until is null or ${isOver(sql`lease_until`, LEASE_SECONDS)})
        and account_id not in (select account_id from busy)
      order by next_read_at limit 1
      for update skip locked
    )
    returning *`.execute(db)
  return rows[0] ?? null
}

/** Thrown when another process has claimed the mailbox, or it has been reconnected. */
export class LostLease extends Error {
  override name = 'LostLease'
}

/** Stores how far the mailbox was read and renews the lease. Throws LostLease. */
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

/** Counts that a mail could not be fetched. */
export async function noteStuck(
  db: Db,
  { agent_id, account_id, lease_id }: ClaimedMailbox,
  uid: number,
): Promise<void> {
  await db
    .updateTable('email_connections')
    .set({
      stuck_uid: uid,
      stuck_tries: sql<number>`case when stuck_uid = ${uid} then stuck_tries else 0 end + 1`,
    })
    .where('account_id', '=', account_id)
    .where('agent_id', '=', agent_id)
    .where('lease_id', '=', lease_id)
    .execute()
}

/** Stores that a mailbox was read and that this process waits for news of it. Throws LostLease. */
export async function noteWaiting(db: Db, { agent_id, account_id, lease_id }: ClaimedMailbox): Promise<void> {
  const lease = sql<Date>`now() + ${LEASE_SECONDS} * interval '1 second'`
  const changed = await db
    .updateTable('email_connections')
    .set({
      imap_error: null,
      imap_checked_at: new Date(),
      read_failures: 0,
      lease_until: lease,
      next_read_at: lease,
    })
    .where('account_id', '=', account_id)
    .where('agent_id', '=', agent_id)
    .where('lease_id', '=', lease_id)
    .executeTakeFirst()
  if (changed.numUpdatedRows === 0n) throw new LostLease('The mailbox was connected anew.')
}

/**
 * Releases the mailbox until it is read again: at once when there is `more`, otherwise soon, and later after each
 * failure.
 */
export async function releaseMailbox(
  db: Db,
  { agent_id, account_id, lease_id, read_failures }: ClaimedMailbox,
  { error, more }: { error: string | null; more: boolean },
): Promise<void> {
  const failures = error === null ? 0 : read_failures + 1
  const wait = more ? 0 : Math.min(MAX_PAUSE_SECONDS, PAUSE_SECONDS * 2 ** Math.min(failures, 10))
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

/** Releases a mailbox whose reading was aborted, so that the next process reads it at once. */
export async function giveBackMailbox(
  db: Db,
  { agent_id, account_id, lease_id }: ClaimedMailbox,
): Promise<void> {
  await db
    .updateTable('email_connections')
    .set({ lease_id: null, lease_until: null, next_read_at: new Date() })
    .where('account_id', '=', account_id)
    .where('agent_id', '=', agent_id)
    .where('lease_id', '=', lease_id)
    .execute()
}
