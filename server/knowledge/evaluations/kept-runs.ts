import type { Selectable } from 'kysely'
import type { Db } from '../../platform/db/database.ts'
import { isId } from '../../platform/db/ids.ts'
import type { AgentRef } from '../../platform/db/refs.ts'
import { json } from '../../platform/db/statements/json.ts'
import type { EvaluationRunsTable } from '../../platform/db/tables/knowledge.ts'
import { ApiError } from '../../platform/http/errors.ts'
import { after, type Position } from '../../platform/http/pagination.ts'

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
  { accountId, agentId }: AgentRef,
  page: { limit: number; position: Position | null },
): Promise<{ rows: ListedRow[]; total: number }> {
  let query = db
    .selectFrom('evaluation_runs')
    .where('account_id', '=', accountId)
    .where('agent_id', '=', agentId)
  const { total } = await query.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow()
  if (page.position) query = query.where(after('created_at', 'id', page.position))
  const rows = await query
    .select(['id', 'account_id', 'agent_id', 'set_id', 'set_name', 'note', 'figures', 'created_at'])
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit + 1)
    .execute()
  return { rows, total: Number(total) }
}

/** Returns the run. Throws RESOURCE_NOT_FOUND. */
export async function requireRun(db: Db, { accountId, agentId }: AgentRef, runId: string): Promise<RunRow> {
  const row = isId(runId)
    ? await db
        .selectFrom('evaluation_runs')
        .selectAll()
        .where('account_id', '=', accountId)
        .where('agent_id', '=', agentId)
        .where('id', '=', runId)
        .executeTakeFirst()
    : undefined
  if (!row) throw new ApiError('RESOURCE_NOT_FOUND')
  return row
}
