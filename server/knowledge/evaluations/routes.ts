import type { Static } from 'typebox'
import type { Context } from '../../context.ts'
import { byCreation, type PageRequest, readPage } from '../../platform/http/pagination.ts'
import { type Route, route } from '../../platform/http/route.ts'
import * as contract from './contract.ts'
import { keptRunRoutes } from './kept-run-routes.ts'
import {
  addEvaluation,
  changeEvaluation,
  type EvaluationRow,
  type Expectation,
  listEvaluationRows,
  removeEvaluation,
} from './queries.ts'
import { runEvaluations, shown } from './run-evaluations.ts'
import type { Evaluation, EvaluationChange } from './schema.ts'
import { requireSet } from './set-queries.ts'
import { setRoutes } from './set-routes.ts'

export const evaluationRoutes = (ctx: Pick<Context, 'db' | 'knowledge' | 'log' | 'models'>): Route[] => [
  route(contract.listEvaluations, async ({ ref, params: { agentId }, query }) => {
    const { setId } = query
    if (setId !== undefined) await requireSet(ctx.db, ref, setId)
    const read = (page: PageRequest) => listEvaluationRows(ctx.db, ref, setId, page)
    return readPage(query, ['evaluations', [agentId, setId]], read, byCreation, present)
  }),

  route(contract.createEvaluation, async ({ db, ref, body }) => {
    const values = { ...columnsOf(body), question: body.question }
    return present(await addEvaluation(db, ref, values))
  }),

  route(
    contract.runEvaluations,
    { idempotencyMode: 'response' },
    async ({ agent: { id, account_id, knowledge_version } }) => {
      return runEvaluations(ctx, { id, accountId: account_id, knowledgeVersion: knowledge_version })
    },
  ),

  route(contract.updateEvaluation, async ({ ref, params, body }) => {
    return present(await changeEvaluation(ctx.db, ref, params.evaluationId, columnsOf(body)))
  }),

  route(contract.deleteEvaluation, async ({ ref, params: { evaluationId } }) => {
    await removeEvaluation(ctx.db, ref, evaluationId)
    return { success: true as const }
  }),

  ...setRoutes(ctx),
  ...keptRunRoutes(ctx),
]

function present(row: EvaluationRow): Static<typeof Evaluation> {
  return {
    ...shown(row),
    setId: row.set_id,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  }
}

/** Only the fields that were sent. */
function columnsOf(body: Static<typeof EvaluationChange>): Expectation {
  const { question, expectedSourceId, expectedAnswer, setId } = body
  return {
    ...(question === undefined ? {} : { question }),
    ...(expectedSourceId === undefined ? {} : { expected_source_id: expectedSourceId }),
    ...(expectedAnswer === undefined ? {} : { expected_answer: expectedAnswer }),
    ...(setId === undefined ? {} : { set_id: setId }),
  }
}
