import type { Selectable } from 'kysely'
import type { Db } from '../../platform/db/database.ts'
import { isId, newId } from '../../platform/db/ids.ts'
import { type AgentRef, ofAgent } from '../../platform/db/refs.ts'
import type { EvaluationsTable } from '../../platform/db/tables/knowledge.ts'
import { ApiError, invalidField } from '../../platform/http/errors.ts'
import { newestFirst, type PageRequest } from '../../platform/http/pagination.ts'
import { findSet } from './set-queries.ts'

export type EvaluationRow = Selectable<EvaluationsTable>
export type Expectation = Partial<
  Pick<EvaluationRow, 'question' | 'expected_source_id' | 'expected_answer' | 'set_id'>
>

/** With more questions, a run would take longer than one request may take. */
const MAX_EVALUATIONS = 500

/** Returns up to `limit` + 1 rows, newest first, and the total number. */
export async function listEvaluationRows(
  db: Db,
  ref: AgentRef,
  setId: string | undefined,
  page: PageRequest,
): Promise<{ rows: EvaluationRow[]; total: number }> {
  let query = db.selectFrom('evaluations').where(ofAgent(ref))
  if (setId !== undefined) query = query.where('set_id', '=', setId)
  return newestFirst(query.selectAll(), page)
}

/** Returns all questions of an agent or of one of its sets, oldest first. */
export async function allEvaluations(db: Db, ref: AgentRef, setId: string | null): Promise<EvaluationRow[]> {
  return db
    .selectFrom('evaluations')
    .selectAll()
    .where(ofAgent(ref))
    .$if(setId !== null, (query) => query.where('set_id', '=', setId))
    .orderBy('id')
    .limit(MAX_EVALUATIONS)
    .execute()
}

/**
 * Adds a question. Throws VALIDATION_INVALID_BODY for a source that does not belong to the agent, or when the agent
 * has too many questions.
 */
export async function addEvaluation(
  db: Db,
  { accountId, agentId }: AgentRef,
  values: Expectation & { question: string },
): Promise<EvaluationRow> {
  await checkSource(db, { accountId, agentId }, values.expected_source_id)
  await checkSet(db, { accountId, agentId }, values.set_id)
  const { total } = await listEvaluationRows(db, { accountId, agentId }, undefined, {
    limit: 1,
    position: null,
  })
  if (total >= MAX_EVALUATIONS) {
    throw invalidField('question', `An agent has at most ${MAX_EVALUATIONS} of them. Delete one first.`)
  }
  return db
    .insertInto('evaluations')
    .values({ id: newId(), account_id: accountId, agent_id: agentId, ...values })
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Changes a question. Throws RESOURCE_NOT_FOUND, and like addEvaluation for the source. */
export async function changeEvaluation(
  db: Db,
  ref: AgentRef,
  id: string,
  values: Expectation,
): Promise<EvaluationRow> {
  await checkSource(db, ref, values.expected_source_id)
  await checkSet(db, ref, values.set_id)
  const row = isId(id)
    ? await db
        .updateTable('evaluations')
        .set({ ...values, updated_at: new Date() })
        .where(ofAgent(ref))
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirst()
    : undefined
  if (!row) throw new ApiError('RESOURCE_NOT_FOUND')
  return row
}

/** Deletes a question. Throws RESOURCE_NOT_FOUND. */
export async function removeEvaluation(db: Db, ref: AgentRef, id: string): Promise<void> {
  const row = isId(id)
    ? await db
        .deleteFrom('evaluations')
        .where(ofAgent(ref))
        .where('id', '=', id)
        .returning('id')
        .executeTakeFirst()
    : undefined
  if (!row) throw new ApiError('RESOURCE_NOT_FOUND')
}

async function checkSource(db: Db, ref: AgentRef, sourceId: string | null | undefined): Promise<void> {
  if (sourceId === null || sourceId === undefined) return
  const source = isId(sourceId)
    ? await db
        .selectFrom('sources')
        .select('id')
        .where(ofAgent(ref))
        .where('id', '=', sourceId)
        .where('status', '<>', 'toBeDeleted')
        .executeTakeFirst()
    : undefined
  if (!source) throw invalidField('expectedSourceId', 'The agent has no source with this id.')
}

async function checkSet(db: Db, ref: AgentRef, setId: string | null | undefined): Promise<void> {
  if (setId === null || setId === undefined) return
  const set = isId(setId) ? await findSet(db, ref, setId) : undefined
  if (!set) throw invalidField('setId', 'The agent has no set with this id.')
}
