import { sql } from 'kysely'
import type { Db } from '../../../platform/db/database.ts'
import { json } from '../../../platform/db/statements/json.ts'
import type { AccountId } from '../../../platform/db/tables/columns.ts'

const CONVERSATIONS = 500

/**
 * Removes the names and quotations of sources from messages that cite them in other conversations of their agents, and
 * the records of answers that were given them, because they may contain what the person asked. Nothing before `since`
 * cites them.
 */
export async function forgetCitations(
  db: Db,
  accountId: AccountId,
  { agentId, sourceIds, since }: { agentId: string; sourceIds: string[]; since: Date },
): Promise<void> {
  const given = sourceIds.map((id) => `%${id}%`)
  const cited = sourceIds.map((id) => JSON.stringify({ sources: [{ id }] }))
  for (let after: { updated_at: Date; id: string } | null = null; ; ) {
    const { rows }: { rows: { updated_at: Date; id: string }[] } = await sql<{
      updated_at: Date
      id: string
    }>`
      select updated_at, id from conversations
      where account_id = ${accountId} and agent_id = ${agentId} and updated_at >= ${since}
        and ${after ? sql`(updated_at, id) > (${after.updated_at}, ${after.id}::uuid)` : sql`true`}
      order by updated_at, id limit ${CONVERSATIONS}`.execute(db)
    const ids = rows.map(({ id }) => id)
    await sql`
      update messages set metadata = jsonb_set(metadata, '{sources}', (
        select jsonb_agg(case when source ->> 'id' = any(${sourceIds}::text[])
          then source || ${json({ name: null, anchor: null, headingPath: [], quote: '' })} else source end order by place)
        from jsonb_array_elements(metadata -> 'sources') with ordinality as found (source, place)))
      where account_id = ${accountId} and conversation_id = any(${ids}::uuid[])
        and metadata @> any(${cited}::jsonb[])`.execute(db)
    // What an answer is made of holds the texts of the passages that its model read.
    await sql`
      delete from playground_runs where account_id = ${accountId} and conversation_id = any(${ids}::uuid[])
        and made_of::text like any(${given}::text[])`.execute(db)
    after = rows.at(-1) ?? null
    if (rows.length < CONVERSATIONS) return
  }
}
