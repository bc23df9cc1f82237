import { sql } from 'kysely'
import type { Static } from 'typebox'
import type { SourceRow } from '../../knowledge/sources/queries.ts'
import type { Db } from '../../platform/db/database.ts'
import type { listSourceCitations } from './contract.ts'

type Citations = Static<typeof listSourceCitations.success.schema>
type Row = {
  conversation_id: string
  message_id: string
  title: string | null
  quote: string | null
  created_at: Date
}

/**
 * Limits how many answers are examined. There is no index from a source to the answers that cite it, because
 * maintaining one would make every answer slower.
 */
const SEARCHED = 5_000
const LISTED = 50

/** Returns the newest answers that cite the source. */
export async function citationsOf(
  db: Db,
  { id, account_id, agent_id }: Pick<SourceRow, 'id' | 'account_id' | 'agent_id'>,
): Promise<Citations> {
  const newest = sql`(select id, conversation_id, metadata, created_at from messages
    where agent_id = ${agent_id} and account_id = ${account_id} order by created_at desc limit ${SEARCHED}::int)`
  const { rows } = await sql<Row>`
    select m.conversation_id, m.id as message_id, c.title, m.created_at,
      (select nullif(entry ->> 'quote', '') from jsonb_array_elements(m.metadata -> 'sources') as cited (entry)
        where entry ->> 'id' = ${id} limit 1) as quote
    from ${newest} as m join conversations as c on c.id = m.conversation_id and c.account_id = ${account_id}
    where m.metadata @> ${JSON.stringify({ sources: [{ id }] })}::text::jsonb and not c.transient
    order by m.created_at desc, m.id desc limit ${LISTED}::int`.execute(db)
  const { rows: counted } = await sql<{
    count: number
  }>`select count(*)::int as count from ${newest} as m`.execute(db)
  return {
    data: rows.map(({ conversation_id, message_id, title, quote, created_at }) => ({
      conversationId: conversation_id,
      messageId: message_id,
      title,
      quote,
      createdAt: Math.floor(created_at.getTime() / 1000),
    })),
    searchedMessages: counted[0]?.count ?? 0,
  }
}
