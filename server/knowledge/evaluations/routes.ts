import type { Static } from 'typebox'
import { requireAgent } from '../../agents/records/find-agent.ts'
import type { Context } from '../../context.ts'
import { byCreation, decodeCursor, fingerprint, pageOf } from '../../http/pagination.ts'
import { type Route, route } from '../../http/route.ts'
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

export const evaluationRoutes = (ctx: Context): Route[] => [
  route(contract.listEvaluations, async ({ caller: { account }, params: { agentId }, query }) => {
    await requireAgent(ctx.db, account.id, agentId)
    const { setId } = query
    if (setId !== undefined) await requireSet(ctx.db, account.id, agentId, setId)
    const print = fingerprint('evaluations', [agentId, setId])
    const position = decodeCursor(query.cursor, print)
    const page = { limit: query.limit, position, setId }
    const { rows, total } = await listEvaluationRows(ctx.db, account.id, agentId, page)
    return pageOf(rows, query.limit, total, print, byCreation, present)
  }),

  route(contract.createEvaluation, async ({ db, caller: { account }, params: { agentId }, body }) => {
    await requireAgent(db, account.id, agentId)
    const values = { ...columnsOf(body), question: body.question }
    return present(await addEvaluation(db, account.id, agentId, values))
  }),

  route(
    contract.runEvaluations,
    async ({ caller: { account }, params }) => {
      const { id, knowledge_version } = await requireAgent(ctx.db, account.id, params.agentId)
      return runEvaluations(ctx, { id, accountId: account.id, knowledgeVersion: knowledge_version })
    },
    'answer',
  ),

  route(contract.updateEvaluation, async ({ caller: { account }, params, body }) => {
    const { agentId, evaluationId } = params
    await requireAgent(ctx.db, account.id, agentId)
    return present(await changeEvaluation(ctx.db, account.id, agentId, evaluationId, columnsOf(body)))
  }),

  route(contract.deleteEvaluation, async ({ caller: { account }, params: { agentId, evaluationId } }) => {
    await requireAgent(ctx.db, account.id, agentId)
    await removeEvaluation(ctx.db, account.id, agentId, evaluationId)
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

/** The sent fields. */
function columnsOf(body: Static<typeof EvaluationChange>): Expectation {
  const { question, expectedSourceId, expectedAnswer, setId } = body
  return {
    ...(question === undefined ? {} : { question }),
    ...(expectedSourceId === undefined ? {} : { expected_source_id: expectedSourceId }),
    ...(expectedAnswer === undefined ? {} : { expected_answer: expectedAnswer }),
    ...(setId === undefined ? {} : { set_id: setId }),
  }
}
