import { type RawBuilder, sql } from 'kysely'
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
  const names = Object.values(person).flat()
  await dropKeys(db, accountId, names)
  await dropAnswerTests(db, accountId, names)
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
  const words = wordsOf(names)
  await sql`
    delete from requests where account_id = ${accountId} and (
      lower(key) = any(${lower}::text[]) or lower(key) ~ any(${words}::text[])
      or answer is not null and exists (
        select from unnest(${values}::text[]) as value where position(value in lower(answer)) > 0)
      or generation_id is not null and not exists (select from generations where id = generation_id))`.execute(
    db,
  )
}

/** Returns patterns that match the names as whole words of a text in lower case. */
const wordsOf = (names: string[]): string[] =>
  names
    .filter((name) => name.length >= MIN_LENGTH_IN_KEY)
    .map((name) => name.toLowerCase().replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
    .map((name) => `(^|[^[:alnum:]])${name}($|[^[:alnum:]])`)

/** Where a case holds what people have written; other members are those of the machinery. */
const TEXTS_OF_CASE = [
  '$.name',
  '$.messages[*]',
  '$.customer.persona',
  '$.customer.goal',
  '$.customer.temper',
  '$.results.**',
  '$.expect.*[*]',
]
const TEXTS_OF_RESULT = [
  '$.name',
  '$.error',
  '$.messages[*].text',
  '$.checks[*].expected',
  '$.checks[*].reason',
  '$.sources[*].name',
  '$.calls[*].input.**',
  '$.judgement.problem',
  '$.judgement.claims[*].claim',
  '$.judgement.claims[*].reason',
  '$.judgement.claims[*].piece.name',
  '$.judgement.claims[*].piece.text',
]
const TEXTS_OF_SETTINGS = ['$.note', '$.instructions']

/**
 * Deletes cases, results and reviews of tests of answers that contain a name, and whole runs that were asked for with one.
 * Of other runs, the case is emptied, because its place counts; one that still runs would ask it, or count the deleted
 * result, and is canceled.
 */
async function dropAnswerTests(db: Db, accountId: AccountId, names: string[]): Promise<void> {
  const words = wordsOf(names)
  if (words.length === 0) return
  const naming = (text: RawBuilder<unknown>) => sql<boolean>`lower(${text}) ~ any(${words}::text[])`
  // Line breaks and quotation marks stand in the texts themselves, but not in those of JSON.
  const namingIn = (value: RawBuilder<unknown>, paths: readonly string[]) => sql<boolean>`exists (
    select from unnest(array[${sql.join(paths.map((path) => sql.lit(path)))}]::jsonpath[]) as path
    cross join lateral jsonb_path_query(${value}, path) as found
    cross join lateral (
      select found #>> '{}' as text where jsonb_typeof(found) in ('string', 'number')
      union all select jsonb_object_keys(found) where jsonb_typeof(found) = 'object') as said
    where ${naming(sql`said.text`)})`
  await transact(db, async (trx) => {
    // A result that is being stored goes first, and a later one finds that its run is canceled.
    await sql`
      select from answer_runs where account_id = ${accountId} and status = 'running' order by id for update`.execute(
      trx,
    )
    await sql`
      delete from answer_reviews where account_id = ${accountId}
        and (${naming(sql`note`)} or ${naming(sql`reviewer`)})`.execute(trx)
    await sql`
      with gone as (
        delete from answer_results where account_id = ${accountId} and ${namingIn(sql`result`, TEXTS_OF_RESULT)}
        returning run_id)
      update answer_runs set status = 'canceled', finished_at = now()
      where account_id = ${accountId} and status = 'running' and id in (select run_id from gone)`.execute(trx)
    await sql`
      delete from answer_cases where account_id = ${accountId}
        and (${naming(sql`name`)} or ${namingIn(sql`content`, TEXTS_OF_CASE)})`.execute(trx)
    await sql`
      delete from answer_runs where account_id = ${accountId} and ${namingIn(sql`settings`, TEXTS_OF_SETTINGS)}`.execute(
      trx,
    )
    await sql`
      update answer_runs set status = case status when 'running' then 'canceled' else status end,
        finished_at = coalesce(finished_at, now()), cases = (
          select jsonb_agg(case when ${namingIn(sql`asked`, TEXTS_OF_CASE)}
            then jsonb_build_object('id', asked -> 'id', 'name', '', 'messages', '[]'::jsonb, 'expect', '{}'::jsonb)
            else asked end order by place)
          from jsonb_array_elements(cases) with ordinality as listed (asked, place))
      where account_id = ${accountId} and exists (
        select from jsonb_array_elements(cases) as asked where ${namingIn(sql`asked`, TEXTS_OF_CASE)})`.execute(
      trx,
    )
  })
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
