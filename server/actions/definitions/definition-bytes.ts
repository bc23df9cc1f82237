import { sql } from 'kysely'
import type { Db } from '../../platform/db/database.ts'
import type { AgentRef } from '../../platform/db/refs.ts'

export const MAX_DEFINITION_BYTES = 262_144

/** Returns the size of the agent's actions, with their encrypted headers, and procedures as text. */
export async function definitionBytes(db: Db, { accountId, agentId }: AgentRef): Promise<number> {
  const { rows } = await sql<{ bytes: string }>`
    select coalesce(sum(octet_length(text)), 0) as bytes from (
      select concat(name, description, channels, inputs, http) as text from actions
      where account_id = ${accountId} and agent_id = ${agentId}
      union all
      select concat(name, trigger, steps) from procedures
      where account_id = ${accountId} and agent_id = ${agentId}
    ) as definitions`.execute(db)
  return Number(rows[0]?.bytes ?? 0)
}
