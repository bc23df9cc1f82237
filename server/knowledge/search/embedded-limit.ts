import type { Db } from '../../platform/db/database.ts'
import { type AgentRef, ofAgent } from '../../platform/db/refs.ts'

/**
 * The passages of one agent with which eight chats at once still begin to be answered within a second on the embedded
 * database (95 %, two cores, with vectors): `node bench/index.ts eight`.
 */
export const EMBEDDED_LIMIT = 16_000

/** The number of passages at which operators are warned, early enough to move to PostgreSQL. */
const WARN_FROM = 12_000

const largeAgents = (db: Db) =>
  db
    .selectFrom('chunks')
    .select((eb) => ['agent_id', eb.fn.countAll<number>().as('passages')])
    .groupBy('agent_id')
    .having((eb) => eb.fn.countAll<number>(), '>=', WARN_FROM)

/** Returns the passages of an agent of an embedded database once they are near the limit. */
export async function passagesNearLimit(db: Db, ref: AgentRef): Promise<number | null> {
  const agent = largeAgents(db).where(ofAgent(ref))
  return (await agent.executeTakeFirst())?.passages ?? null
}

/** Returns a sentence for each agent of an embedded database that is near the limit. */
export async function describeLargeAgents(db: Db): Promise<string[]> {
  const agents = await largeAgents(db).orderBy('agent_id').execute()
  return agents.map(
    ({ agent_id, passages }) =>
      `The agent ${agent_id} has ${passages} passages. On the embedded database, answers begin late from about ${EMBEDDED_LIMIT} on when several customers write at once. Move to PostgreSQL: docs/operations/running.md.`,
  )
}
