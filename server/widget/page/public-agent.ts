import type { AgentRow } from '../../agents/records/find-agent.ts'
import type { Db } from '../../db/database.ts'

/** The agent that anybody may talk to under its id; private agents are as unknown as those that never were. */
export async function findPublicAgent(db: Db, agentId: string): Promise<AgentRow | undefined> {
  if (agentId.includes('\0')) return undefined
  return db
    .selectFrom('agents')
    .selectAll()
    .where('id', '=', agentId)
    .where('visibility', '=', 'public')
    .executeTakeFirst()
}
