import { type SqlBool, sql } from 'kysely'
import { setVectorSpace } from '../../agents/records/knowledge-state.ts'
import type { Db, Trx } from '../../db/database.ts'
import type { AgentRef } from '../../db/refs.ts'
import type { Jobs } from '../../jobs/jobs.ts'

/** The job that builds an agent's vectors of `space` (null: none), puts them into use, and deletes the others. */
export const MOVE_VECTORS = 'move-vectors'
export type MoveVectors = { agentId: string; space: string | null }

/** The space whose vectors are in use; null for none. */
export async function liveSpace(db: Db, { accountId, agentId }: AgentRef): Promise<string | null> {
  const agent = await db
    .selectFrom('agents')
    .select('vector_space')
    .where('account_id', '=', accountId)
    .where('id', '=', agentId)
    .executeTakeFirst()
  return agent?.vector_space ?? null
}

/** True for a chunk without a vector in `space`. */
export const lacksVector = (space: string) =>
  sql<SqlBool>`not exists (select from chunk_vectors as v
    where v.source_id = chunks.source_id and v.space = ${space} and v.vector_key = chunks.vector_key)`

/**
 * Puts `space` into use in one step if every chunk of the agent has its vector. A job in the same transaction deletes
 * the earlier vectors. Returns whether the space is in use afterwards.
 */
export async function swapSpace(
  trx: Trx,
  jobs: Jobs,
  { accountId, agentId }: AgentRef,
  space: string | null,
): Promise<boolean> {
  const agent = await trx
    .selectFrom('agents')
    .select('vector_space')
    .where('account_id', '=', accountId)
    .where('id', '=', agentId)
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (!agent) return false
  if (agent.vector_space === space) return true
  if (space !== null && (await isIncomplete(trx, { accountId, agentId }, space))) return false
  await setVectorSpace(trx, { id: agentId, account_id: accountId }, space)
  if (agent.vector_space !== null) await jobs.enqueue<MoveVectors>(trx, MOVE_VECTORS, { agentId, space })
  return true
}

async function isIncomplete(trx: Trx, { accountId, agentId }: AgentRef, space: string): Promise<boolean> {
  const missing = await trx
    .selectFrom('chunks')
    .select('id')
    .where('account_id', '=', accountId)
    .where('agent_id', '=', agentId)
    .where(lacksVector(space))
    .limit(1)
    .executeTakeFirst()
  return missing !== undefined
}

/** Enqueues the move of an agent (null: of every agent) whose live space is not the configured one. */
export async function enqueueMove(
  db: Db,
  jobs: Jobs,
  agentId: string | null,
  space: string | null,
): Promise<void> {
  const agents = await db
    .selectFrom('agents')
    .select('id')
    .where(sql<SqlBool>`vector_space is distinct from ${space}`)
    .$if(agentId !== null, (query) => query.where('id', '=', agentId))
    .execute()
  for (const { id } of agents) await jobs.enqueue<MoveVectors>(db, MOVE_VECTORS, { agentId: id, space })
}
