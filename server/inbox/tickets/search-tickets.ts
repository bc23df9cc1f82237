import { type RawBuilder, sql } from 'kysely'
import type { Db, Trx } from '../../platform/db/database.ts'
import type { AgentRef } from '../../platform/db/refs.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import type { TicketRow } from './ticket-queries.ts'

/** What is looked through first, because a frequent word stands in enough of it. */
const NEWEST = 400
/** Ranking reads the whole text of each hit. */
const MAX_RANKED = 300

/** The expressions are those of the indexes in 0014_helpdesk.sql. */
const ofTicket = sql`to_tsvector('simple', coalesce(subject, '') || ' ' || coalesce(description, '') || ' '
  || coalesce(customer ->> 'name', '') || ' ' || coalesce(customer ->> 'email', ''))`
const ofMessage = sql`to_tsvector('simple', left(content_text, 50000))`

type Asked = { query: string; limit: number }
type Found = { rows: TicketRow[]; total: number }

/**
 * Returns tickets that contain every word of the query, and their number: first the ticket with that number, then
 * those that contain the words themselves, then those whose messages contain them, by frequency. If more of the
 * newest contain them than were asked for, older ones are not considered.
 */
export async function findByWords(db: Db, ref: AgentRef, asked: Asked): Promise<Found> {
  return transact(db, async (trx) => {
    // A plan for any words would not look into the index of words.
    await sql`set local plan_cache_mode = force_custom_plan`.execute(trx)
    const newest = await findAmong(trx, ref, asked, 'newest')
    return newest.total > asked.limit ? newest : findAmong(trx, ref, asked, 'all')
  })
}

async function findAmong(
  trx: Trx,
  { accountId, agentId }: AgentRef,
  { query, limit }: Asked,
  among: 'newest' | 'all',
): Promise<Found> {
  const words = sql`to_tsquery('simple', ${tsQuery(query)})`
  const own = sql`account_id = ${accountId} and agent_id = ${agentId}`
  /** Returns the newest hits. Without `offset 0`, old rows might be read one by one instead of by the index. */
  const hits = (table: RawBuilder<unknown>, time: RawBuilder<unknown>, text: RawBuilder<unknown>) =>
    among === 'newest'
      ? sql`(select * from (select * from ${table} where ${own} order by ${time} desc, id desc
          limit ${sql.lit(NEWEST)}) as newest where ${text} @@ ${words})`
      : sql`(select * from (select * from ${table} where ${own} and ${text} @@ ${words} offset 0) as found
          order by ${time} desc, id desc limit ${sql.lit(MAX_RANKED)})`
  const { rows } = await sql<TicketRow & { total: number }>`
    with found as (
      select id, 1 as rank from ${hits(sql`tickets`, sql`updated_at`, ofTicket)} as hit
      union all
      select ticket_id, ts_rank(${ofMessage}, ${words})
      from ${hits(sql`ticket_messages`, sql`created_at`, ofMessage)} as hit
      union all
      select id, 2 from tickets where ${own} and number = ${numberIn(query)}::integer
    ), ranked as (
      select id, sum(rank) as rank from found group by id
    )
    select tickets.*, count(*) over () as total from tickets join ranked on ranked.id = tickets.id
    order by ranked.rank desc, updated_at desc, tickets.id desc limit ${limit}`.execute(trx)
  return { rows, total: Number(rows[0]?.total ?? 0) }
}

/** Returns `'first' & 'second' & 'thi':*`, where the database may split each into several words. */
function tsQuery(query: string): string {
  const words = query.split(/[^\p{L}\p{N}@._+-]+/u).filter((word) => /[\p{L}\p{N}]/u.test(word))
  return words.map((word, at) => `'${word}'${at === words.length - 1 ? ':*' : ''}`).join(' & ')
}

function numberIn(query: string): number | null {
  const digits = /^\s*#?(\d{1,10})\s*$/.exec(query)?.[1]
  const number = Number(digits)
  return digits !== undefined && number <= 2_147_483_647 ? number : null
}
