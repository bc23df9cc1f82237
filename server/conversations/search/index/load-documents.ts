import { sql } from 'kysely'
import type { Trx } from '../../../platform/db/database.ts'
import type { AccountId } from '../../../platform/db/tables/columns.ts'

/** The indexed content of one conversation. */
export type Document = {
  id: string
  account_id: AccountId
  agent_id: string
  source: string
  user_id: string | null
  title: string | null
  status: string
  sentiment: string | null
  has_voice: boolean
  created_at: Date
  updated_at: Date
  last_seq: number
  cut_messages: number
  /** Messages before this number are already in the row. */
  read_from: number
  /** The texts of the messages in order. For a very long conversation, only the newest. */
  texts: string[]
  feedback: string[]
  topics: string[]
  escalated: boolean
  calls: { name: string; type: string; status: string }[]
  runs: { name: string; status: string }[]
}

/** The number of messages from which a conversation is read incrementally, unless messages were deleted. */
const READ_WHOLE = 200
/** Continuations only change the newest messages, so this many are read again. */
const READ_AGAIN = 3
/** For a conversation that has never been read, only the newest messages are indexed. */
const MAX_READ = 20_000
/** The number of characters of a conversation that are indexed. Older text is not found. */
export const MAX_CHARACTERS = 250_000

/**
 * Reads conversations and locks them against deletion. Those that another transaction is about to delete are left out.
 */
export async function loadDocuments(trx: Trx, ids: readonly string[]): Promise<Document[]> {
  const { rows } = await sql<Document>`
    with held as (
      select * from conversations where id = any(${ids}::uuid[]) and not transient for key share skip locked
    ), wanted as (
      select held.*, case
        when held.last_seq > ${READ_WHOLE} and search.indexed_cut = held.cut_messages
          then greatest(search.indexed_seq - ${READ_AGAIN}, 0)
        else greatest(held.last_seq - ${MAX_READ}, 0) end as read_from
      from held left join conversation_search as search on search.conversation_id = held.id
    )
    select c.id, c.account_id, c.agent_id, c.source, c.user_id, c.title, c.status, c.sentiment, c.has_voice, c.escalated,
      c.created_at, c.updated_at, c.last_seq, c.cut_messages, c.read_from,
      (select coalesce(jsonb_agg(left(text, ${MAX_CHARACTERS}) order by seq, ordinality), '[]') from (
        select m.seq, part.ordinality, part.value ->> 'text' as text,
          sum(length(part.value ->> 'text')) over (order by m.seq desc, part.ordinality desc) as characters
        from messages m, jsonb_array_elements(m.parts) with ordinality as part
        where m.conversation_id = c.id and m.seq > c.read_from and part.value ->> 'type' = 'text'
      ) as said where characters - length(text) < ${MAX_CHARACTERS}) as texts,
      (select coalesce(jsonb_agg(distinct feedback), '[]') from messages
        where conversation_id = c.id and feedback is not null) as feedback,
      (select coalesce(jsonb_agg(name), '[]') from conversation_topics where conversation_id = c.id) as topics,
      (select coalesce(jsonb_agg(distinct jsonb_build_object('name', name, 'type', type, 'status', status)), '[]')
        from tool_calls where conversation_id = c.id) as calls,
      (select coalesce(jsonb_agg(distinct jsonb_build_object('name', name, 'status', status)), '[]')
        from procedure_runs where conversation_id = c.id) as runs
    from wanted as c`.execute(trx)
  return rows
}
