import type { Selectable } from 'kysely'
import type { Db } from '../db/database.ts'
import type { AccountId, AgentsTable } from '../db/tables.ts'
import { ApiError } from '../http/errors.ts'

export type AgentRow = Selectable<AgentsTable>

/** The account's agent; an agent of somebody else is as unknown as one that never was: AGENT_NOT_FOUND. */
export async function requireAgent(db: Db, accountId: AccountId, agentId: string): Promise<AgentRow> {
  const row = await db
    .selectFrom('agents')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('id', '=', agentId)
    .executeTakeFirst()
  if (!row) throw new ApiError('AGENT_NOT_FOUND')
  return row
}
