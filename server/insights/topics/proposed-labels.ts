import { sql } from 'kysely'
import type { Db } from '../../db/database.ts'
import type { AgentRef } from '../../db/refs.ts'

const MOST = 30
/** Days; what nobody else brought up in that time is forgotten. */
const KEPT = 90

/** Names that a model proposed for earlier conversations, so that it stays with its words; those of most first. */
export async function proposedLabels(db: Db, { accountId, agentId }: AgentRef): Promise<string[]> {
  const { rows } = await sql<{ label: string }>`
    select min(label) as label from (
      select key, label from topic_candidates
      where account_id = ${accountId} and agent_id = ${agentId} and origin = 'model'
      order by key limit 2000) as proposed
    group by key order by count(*) desc, key limit ${MOST}`.execute(db)
  return rows.map(({ label }) => label)
}

/** Forgets candidates that have grown old. */
export async function purgeCandidates(db: Db): Promise<void> {
  await sql`delete from topic_candidates where created_at < now() - ${KEPT} * interval '1 day'`.execute(db)
}
