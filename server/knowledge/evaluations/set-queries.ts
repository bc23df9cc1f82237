import { type Selectable, sql } from 'kysely'
import type { Db } from '../../platform/db/database.ts'
import { isId } from '../../platform/db/ids.ts'
import { type AgentRef, ofAgent } from '../../platform/db/refs.ts'
import type { EvaluationSetsTable } from '../../platform/db/tables/knowledge.ts'
import { ApiError } from '../../platform/http/errors.ts'

export type SetRow = Selectable<EvaluationSetsTable>

export async function findSet(db: Db, ref: AgentRef, setId: string): Promise<SetRow | undefined> {
  return db
    .selectFrom('evaluation_sets')
    .selectAll()
    .where(ofAgent(ref))
    .where('id', '=', setId)
    .executeTakeFirst()
}

/** Returns the set. Throws RESOURCE_NOT_FOUND. */
export async function requireSet(db: Db, ref: AgentRef, setId: string): Promise<SetRow> {
  const row = isId(setId) ? await findSet(db, ref, setId) : undefined
  if (!row) throw new ApiError('RESOURCE_NOT_FOUND')
  return row
}

/** Returns all sets of an agent by name, with the number of their questions. */
export async function listSets(
  db: Db,
  { accountId, agentId }: AgentRef,
): Promise<(SetRow & { questions: number })[]> {
  const { rows } = await sql<SetRow & { questions: number }>`
    select sets.*, (select count(*)::int from evaluations
      where evaluations.account_id = ${accountId} and set_id = sets.id) as questions
    from evaluation_sets as sets where account_id = ${accountId} and agent_id = ${agentId}
    order by lower(name), id`.execute(db)
  return rows
}
