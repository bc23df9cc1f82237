import { sql } from 'kysely'
import type { Db } from '../../platform/db/database.ts'
import type { AgentRef } from '../../platform/db/refs.ts'
import type { TicketRow } from './ticket-queries.ts'

/**
 * Returns the tickets that contain every word of the query, and their number: first the ticket with that number,
 * then those that contain the words themselves, then those whose messages contain them, by frequency.
 */
export async function findByWords(
  db: Db,
  { accountId, agentId }: AgentRef,
  { query, limit }: { query: string; limit: number },
): Promise<{ rows: TicketRow[]; total: number }> {
  const words = tsQuery(query)
  const number = numberIn(query)
  // The expressions are those of the indexes in 0014_helpdesk.sql.
  const { rows } = await sql<TicketRow & { total: number }>`
    with found as (
      select id, 1 as rank from tickets where account_id = ${accountId} and agent_id = ${agentId}
        and to_tsvector('simple', coalesce(subject, '') || ' ' || coalesce(description, '') || ' '
          || coalesce(customer ->> 'name', '') || ' ' || coalesce(customer ->> 'email', ''))
          @@ to_tsquery('simple', ${words})
      union all
      select ticket_id, ts_rank(to_tsvector('simple', left(content_text, 50000)), to_tsquery('simple', ${words}))
      from ticket_messages where account_id = ${accountId} and agent_id = ${agentId}
        and content_text is not null
        and to_tsvector('simple', left(content_text, 50000)) @@ to_tsquery('simple', ${words})
      union all
      select id, 2 from tickets
      where account_id = ${accountId} and agent_id = ${agentId} and number = ${number}::integer
    ), ranked as (
      select id, sum(rank) as rank from found group by id
    )
    select tickets.*, count(*) over () as total from tickets join ranked on ranked.id = tickets.id
    order by ranked.rank desc, updated_at desc, tickets.id desc limit ${limit}`.execute(db)
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
