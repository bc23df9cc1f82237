import { sql } from 'kysely'
import type { Db } from '../../../platform/db/database.ts'
import type { AgentRef } from '../../../platform/db/refs.ts'

const MAX_COUNT = 30
/** The days after which a candidate is forgotten if it has not come up again. */
const KEPT = 90

/**
 * Returns names that a model proposed for earlier conversations, most frequent first, so that it uses the same words
 * again.
 */
export async function proposedLabels(db: Db, { accountId, agentId }: AgentRef): Promise<string[]> {
  const { rows } = await sql<{ label: string }>`
    select min(label) as label from (
      select key, label from topic_candidates
      where account_id = ${accountId} and agent_id = ${agentId} and origin = 'model'
      order by key limit 2000) as proposed
    group by key order by count(*) desc, key limit ${MAX_COUNT}`.execute(db)
  return rows.map(({ label }) => label)
}

/** Deletes old candidates. */
export async function purgeCandidates(db: Db): Promise<void> {
  await sql`delete from topic_candidates where created_at < now() - ${KEPT} * interval '1 day'`.execute(db)
}
