import { sql } from 'kysely'
import type { Db, Trx } from '../../../platform/db/database.ts'
import { transact } from '../../../platform/db/statements/transact.ts'

const BATCH = 2_000
const BATCHES = 20

/** Marks the days in the queue as stale, and the queued conversations as due for another analysis. */
export async function foldQueue(db: Db): Promise<void> {
  for (let batch = 0; batch < BATCHES; batch++) {
    if (!(await transact(db, foldBatch))) return
  }
}

/** Returns whether the queue had any rows. */
async function foldBatch(trx: Trx): Promise<boolean> {
  const { rows } = await sql<{ agent_id: string; day: string | null; conversation_id: string | null }>`
    delete from insights_queue where id in (
      select id from insights_queue where group_id is null order by id limit ${BATCH} for update skip locked)
    returning agent_id, to_char(day, 'YYYY-MM-DD') as day, conversation_id`.execute(trx)
  if (rows.length === 0) return false
  const days = new Map(
    rows.flatMap(({ agent_id, day }) => (day ? [[`${agent_id} ${day}`, { agent_id, day }]] : [])),
  )
  await markDays(trx, [...days.values()])
  const conversations = new Set(rows.flatMap(({ conversation_id }) => conversation_id ?? []))
  await lookAgain(trx, [...conversations])
  return true
}

/** When an agent is being deleted at the same time, its days go with it. */
async function markDays(trx: Trx, days: { agent_id: string; day: string }[]): Promise<void> {
  await sql`
    with held as (
      select id, account_id from agents where id = any(${[...new Set(days.map(({ agent_id }) => agent_id))]}::text[])
      order by id for key share
    )
    insert into insight_days (agent_id, day, account_id, is_stale)
    select held.id, changed.day, held.account_id, true
    from unnest(${days.map(({ agent_id }) => agent_id)}::text[], ${days.map(({ day }) => day)}::date[])
      as changed (agent_id, day)
    join held on held.id = changed.agent_id
    order by 1, 2
    on conflict (agent_id, day) do update set is_stale = true`.execute(trx)
}

/** A rating or a ticket changes the result of an analysis. A conversation that is still due needs no mark. */
async function lookAgain(trx: Trx, ids: string[]): Promise<void> {
  if (ids.length === 0) return
  await sql`
    update conversations set analysis_due = coalesce(analysis_due, now()), analysis_held = null
    where id in (select id from conversations where id = any(${ids}::uuid[]) order by id for no key update)`.execute(
    trx,
  )
}
