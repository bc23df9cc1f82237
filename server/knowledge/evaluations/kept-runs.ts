import type { Selectable } from 'kysely'
import type { Db } from '../../platform/db/database.ts'
import { type AgentRef, ofAgent } from '../../platform/db/refs.ts'
import { json } from '../../platform/db/statements/json.ts'
import type { EvaluationRunsTable } from '../../platform/db/tables/knowledge.ts'
import { newestFirst, type PageRequest } from '../../platform/http/pagination.ts'
import { requireRow } from '../../platform/http/require-row.ts'

export type RunRow = Selectable<EvaluationRunsTable>
export type ListedRow = Omit<RunRow, 'results'>

/** The number of runs that are kept for each agent; older ones are deleted. */
const MAX_RUNS = 50

/** Stores a run and deletes those beyond the limit. */
export async function storeRun(db: Db, run: Omit<RunRow, 'created_at'>): Promise<RunRow> {
  const row = await db
    .insertInto('evaluation_runs')
    .values({ ...run, figures: json(run.figures), results: json(run.results) })
    .returningAll()
    .executeTakeFirstOrThrow()
  await db
    .deleteFrom('evaluation_runs')
    .where('account_id', '=', run.account_id)
    .where('agent_id', '=', run.agent_id)
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('evaluation_runs')
        .select('id')
        .where('account_id', '=', run.account_id)
        .where('agent_id', '=', run.agent_id)
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .offset(MAX_RUNS),
    )
    .execute()
  return row
}

/** Returns up to `limit` + 1 runs, newest first, and the total number. */
export async function listRuns(
  db: Db,
  ref: AgentRef,
  page: PageRequest,
): Promise<{ rows: ListedRow[]; total: number }> {
  const query = db.selectFrom('evaluation_runs').where(ofAgent(ref))
  return newestFirst(
    query.select(['id', 'account_id', 'agent_id', 'set_id', 'set_name', 'note', 'figures', 'created_at']),
    page,
  )
}

/** Returns the run. Throws RESOURCE_NOT_FOUND. */
export async function requireRun(db: Db, ref: AgentRef, runId: string): Promise<RunRow> {
  return requireRow(db.selectFrom('evaluation_runs').selectAll().where(ofAgent(ref)), runId)
}
