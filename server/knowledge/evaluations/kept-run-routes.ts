import type { Static } from 'typebox'
import type { Context } from '../../context.ts'
import { newId } from '../../platform/db/ids.ts'
import { byCreation, type PageRequest, readPage } from '../../platform/http/pagination.ts'
import { type Route, route } from '../../platform/http/route.ts'
import * as contract from './contract.ts'
import { type ListedRow, listRuns, type RunRow, requireRun, storeRun } from './kept-runs.ts'
import { runEvaluations } from './run-evaluations.ts'
import type { KeptRun, ListedRun } from './schema.ts'
import { requireSet } from './set-queries.ts'

export const keptRunRoutes = (ctx: Pick<Context, 'db' | 'knowledge' | 'log' | 'models'>): Route[] => [
  route(
    contract.createEvaluationRun,
    { idempotencyMode: 'manual' },
    async ({ agent, ref, caller: { account }, body, once }) => {
      const setId = body.setId ?? null
      const set = setId === null ? null : await requireSet(ctx.db, ref, setId)
      const knowledge = { id: agent.id, accountId: account.id, knowledgeVersion: agent.knowledge_version }
      const { results, ...figures } = await runEvaluations(ctx, knowledge, setId)
      return once(async (db) =>
        presentRun(
          await storeRun(db, {
            id: newId(),
            account_id: account.id,
            agent_id: agent.id,
            set_id: setId,
            set_name: set?.name ?? null,
            note: body.note?.trim() ?? '',
            figures,
            results,
          }),
        ),
      )
    },
  ),

  route(contract.listEvaluationRuns, ({ ref, query }) => {
    const read = (page: PageRequest) => listRuns(ctx.db, ref, page)
    return readPage(query, ['evaluation-runs', ref.agentId], read, byCreation, presentListed)
  }),

  route(contract.readEvaluationRun, async ({ ref, params: { runId } }) => {
    return presentRun(await requireRun(ctx.db, ref, runId))
  }),
]

const presentListed = (row: ListedRow): Static<typeof ListedRun> => ({
  id: row.id,
  setId: row.set_id,
  setName: row.set_name,
  note: row.note,
  createdAt: row.created_at.toISOString(),
  ...(row.figures as Omit<Static<typeof contract.runEvaluations.success.schema>, 'results'>),
})

const presentRun = (row: RunRow): Static<typeof KeptRun> => ({
  ...presentListed(row),
  results: row.results as Static<typeof KeptRun>['results'],
})
