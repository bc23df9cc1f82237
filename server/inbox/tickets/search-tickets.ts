import { sql } from 'kysely'
import type { Db, Trx } from '../../platform/db/database.ts'
import type { AgentRef } from '../../platform/db/refs.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import type { TicketRow } from './ticket-queries.ts'

/** The messages that are looked through first, because a frequent word stands in enough of them. */
const NEWEST = 400
/** Ranking reads the whole text of each hit, so the newest are ranked. */
const MAX_RANKED = 300

/** The expressions are those of the indexes in 0014_helpdesk.sql. */
const ofTicket = sql`to_tsvector('simple', coalesce(subject, '') || ' ' || coalesce(description, '') || ' '
  || coalesce(customer ->> 'name', '') || ' ' || coalesce(customer ->> 'email', ''))`
const ofMessage = sql`to_tsvector('simple', left(content_text, 50000))`

type Asked = { query: string; limit: number }
/** `total` null: not all were counted. */
type Found = { rows: TicketRow[]; total: number | null; hasMore: boolean }

/**
 * Returns tickets that contain every word of the query: first the ticket with that number, then those that contain
 * the words themselves, then those whose messages contain them, by frequency. Of very many hits, the newest are ranked;
 * if the newest messages are in more tickets than were asked for, older messages are not considered.
 */
export async function findByWords(db: Db, ref: AgentRef, asked: Asked): Promise<Found> {
  return transact(db, async (trx) => {
    // A plan for any words would not look into the index of words.
    await sql`set local plan_cache_mode = force_custom_plan`.execute(trx)
    const newest = await findAmong(trx, ref, asked, 'newest')
    return newest.hasMore || newest.total !== null ? newest : findAmong(trx, ref, asked, 'all')
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
  // Without `offset 0`, old rows might be read one by one instead of by the index.
  const read =
    among === 'newest'
      ? sql`select * from ticket_messages where ${own} order by created_at desc, id desc limit ${sql.lit(NEWEST)}`
      : sql`select * from (select * from ticket_messages where ${own} and ${ofMessage} @@ ${words} offset 0) as found
          order by created_at desc, id desc limit ${sql.lit(MAX_RANKED)}`
  const { rows } = await sql<TicketRow & { total: number; themselves: number; read: number }>`
    with read as materialized (${read}), themselves as (
      select id from (select id, updated_at from tickets where ${own} and ${ofTicket} @@ ${words} offset 0) as hit
      order by updated_at desc, id desc limit ${sql.lit(MAX_RANKED)}
    ), said as (
      select ticket_id as id, ts_rank(${ofMessage}, ${words}) as rank from read where ${ofMessage} @@ ${words}
    ), found as (
      select id, 1 as rank from themselves
      union all select id, rank from said
      union all select id, 2 from tickets where ${own} and number = ${numberIn(query)}::integer
    ), ranked as (
      select id, sum(rank) as rank from found group by id
    )
    select tickets.*, count(*) over () as total,
      (select count(*)::int from themselves) as themselves, (select count(*)::int from read) as read
    from tickets join ranked on ranked.id = tickets.id
    order by ranked.rank desc, updated_at desc, tickets.id desc limit ${limit}`.execute(trx)
  const total = Number(rows[0]?.total ?? 0)
  const [first] = rows
  const isWhole = first ? first.read < (among === 'newest' ? NEWEST : MAX_RANKED) : among === 'all'
  const isCounted = isWhole && (first?.themselves ?? 0) < MAX_RANKED
  return { rows, total: isCounted ? total : null, hasMore: total > rows.length }
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
