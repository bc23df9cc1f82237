import { sql } from 'kysely'
import { FOLDING } from '../../../conversations/records/fold-counts.ts'
import type { Db } from '../../../platform/db/database.ts'
import { transact } from '../../../platform/db/statements/transact.ts'
import type { AccountId } from '../../../platform/db/tables/columns.ts'
import type { PersonNames } from '../../../platform/db/tables/privacy.ts'
import { ticketIds } from '../person/person-rows.ts'

/** A shorter name is part of too many keys of others. */
const MIN_LENGTH_IN_KEY = 4

/** Deletes what names the person, or belonged to a deleted reply, outside the person's own rows. */
export async function dropTraces(db: Db, accountId: AccountId, person: PersonNames): Promise<void> {
  await dropKeys(db, accountId, Object.values(person).flat())
  await dropHeldMails(db, accountId, person)
  // People on channels have an address or a number as their user id.
  await foldTotals(db, accountId, [...person.userIds, ...person.emails, ...person.phones])
  // A reply that ended while its conversation was being deleted may have logged its last events afterwards.
  await sql`delete from generation_log where not exists
    (select from generations where generations.id = generation_log.generation_id)`.execute(db)
}

/**
 * Deletes what waits to be sent to the person: mails to one of the addresses, which may belong to no ticket, and replies
 * on the person's tickets.
 */
export async function dropHeldMails(db: Db, accountId: AccountId, person: PersonNames): Promise<void> {
  await sql`
    delete from held_replies where account_id = ${accountId} and (
      ticket_id in (${ticketIds(accountId, person)})
      or exists (select from jsonb_array_elements_text(
        coalesce(reply -> 'to', '[]') || coalesce(reply -> 'cc', '[]') || coalesce(reply -> 'bcc', '[]')) as address
      where lower(address) = any(${person.emails}::text[])))`.execute(db)
}

/** Deletes idempotency keys derived from a name, stored responses that contain one, and keys of deleted replies. */
async function dropKeys(db: Db, accountId: AccountId, names: string[]): Promise<void> {
  const lower = names.map((name) => name.toLowerCase())
  // Only matches a complete value in a JSON text.
  const values = lower.map((name) => JSON.stringify(name))
  const words = lower
    .filter((name) => name.length >= MIN_LENGTH_IN_KEY)
    .map((name) => `(^|[^[:alnum:]])${name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}($|[^[:alnum:]])`)
  await sql`
    delete from requests where account_id = ${accountId} and (
      lower(key) = any(${lower}::text[]) or lower(key) ~ any(${words}::text[])
      or answer is not null and exists (
        select from unnest(${values}::text[]) as value where position(value in lower(answer)) > 0)
      or generation_id is not null and not exists (select from generations where id = generation_id))`.execute(
    db,
  )
}

/** Removes the user's totals, which become zero with the last conversation, while no other process folds counts. */
async function foldTotals(db: Db, accountId: AccountId, userIds: string[]): Promise<void> {
  await transact(db, async (trx) => {
    await sql`select pg_advisory_xact_lock(${FOLDING})`.execute(trx)
    await sql`
      with gone as (
        delete from conversation_counts where agent_id in (select id from agents where account_id = ${accountId})
          and user_id = any(${userIds}::text[]) and user_id <> ''
        returning account_id, agent_id, source, user_id, day, n
      )
      insert into conversation_counts (account_id, agent_id, source, user_id, day, n, is_folded)
      select account_id, agent_id, source, user_id, day, sum(n), true from gone
      group by account_id, agent_id, source, user_id, day having sum(n) <> 0`.execute(trx)
  })
}
