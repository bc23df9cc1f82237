import type { AgentRow } from '../../../agents/records/find-agent.ts'
import type { Db } from '../../../platform/db/database.ts'

/** Returns the agent with this id that anybody may talk to. Private agents look as if they did not exist. */
export async function findPublicAgent(db: Db, agentId: string): Promise<AgentRow | undefined> {
  if (agentId.includes('\0')) return undefined
  return db
    .selectFrom('agents')
    .selectAll()
    .where('id', '=', agentId)
    .where('visibility', '=', 'public')
    .executeTakeFirst()
}
