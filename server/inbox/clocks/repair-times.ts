import { sql } from 'kysely'
import type { Db } from '../../platform/db/database.ts'

/** How many tickets one statement examines, because it blocks the embedded database. */
const SLICE = 1_000
const FIRST = '00000000-0000-0000-0000-000000000000'

/**
 * Sets since when tickets wait and when they are due where that differs from their status and their clocks: for those
 * of a former version, whose processes do not keep it. Returns the number of tickets that were changed.
 */
export async function repairTimes(db: Db): Promise<number> {
  let changed = 0
  for (let after: string | null = FIRST; after !== null; ) {
    const { rows } = await sql<{ last: string | null; changed: number }>`
      with slice as (
        select id, status_category, waiting_since, due_at, last_message_at, created_at from tickets
        where id > ${after}::uuid order by id limit ${sql.lit(SLICE)}
      ), right_times as (
        select id, case when status_category in ('new', 'on_you')
            then coalesce(waiting_since, last_message_at, created_at) end as waiting_since,
          (select min(clock.due_at) from ticket_clocks as clock
            where clock.ticket_id = slice.id and met_at is null) as due_at
        from slice
      ), changed as (
        update tickets set waiting_since = right_times.waiting_since, due_at = right_times.due_at
        from right_times where tickets.id = right_times.id
          and (tickets.waiting_since, tickets.due_at) is distinct from (right_times.waiting_since, right_times.due_at)
        returning tickets.id)
      select (select id from slice order by id desc limit 1) as last, (select count(*)::int from changed) as changed`.execute(
      db,
    )
    after = rows[0]?.last ?? null
    changed += rows[0]?.changed ?? 0
  }
  return changed
}
