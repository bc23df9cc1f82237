import type { Context } from '../../../context.ts'
import { transact } from '../../../platform/db/statements/transact.ts'
import { byCreation, type PageRequest, readPage } from '../../../platform/http/pagination.ts'
import { type Route, route } from '../../../platform/http/route.ts'
import {
  addCases,
  casesToRun,
  changeCase,
  copyOf,
  listCases,
  presentCase,
  removeCase,
  requireCase,
} from './cases/cases.ts'
import * as contract from './contract.ts'
import {
  compareRuns,
  endRun,
  listRuns,
  presentRun,
  requireRun,
  resultsOf,
  runBefore,
  startRun,
} from './runs.ts'

export const answerTestRoutes = (ctx: Pick<Context, 'db' | 'jobs' | 'models'>): Route[] => [
  route(contract.listAnswerCases, ({ ref, query }) => {
    const read = (page: PageRequest) => listCases(ctx.db, ref, page)
    return readPage(query, ['answer-cases', ref.agentId], read, byCreation, presentCase)
  }),

  route(contract.createAnswerCase, async ({ db, ref, body }) => {
    const [row] = await addCases(db, ref, [body])
    return presentCase(row!)
  }),

  route(contract.readAnswerCase, async ({ db, ref, params }) => {
    return presentCase(await requireCase(db, ref, params.caseId))
  }),

  route(contract.updateAnswerCase, async ({ db, ref, params, body }) => {
    return transact(db, async (trx) => presentCase(await changeCase(trx, ref, params.caseId, body)))
  }),

  route(contract.deleteAnswerCase, async ({ db, ref, params }) => {
    await removeCase(db, ref, params.caseId)
    return { success: true as const }
  }),

  route(contract.createAnswerRun, async ({ db, ref, caller: { account }, body }) => {
    const { caseIds, ...settings } = body
    const rows = await casesToRun(db, ref, caseIds)
    const cases = rows.map(copyOf)
    return transact(db, async (trx) => {
      const id = await startRun(trx, ctx, { ref, plan: account.plan }, cases, settings)
      return presentRun(await requireRun(trx, ref, id))
    })
  }),

  route(contract.listAnswerRuns, ({ ref, query }) => {
    const read = (page: PageRequest) => listRuns(ctx.db, ref, page)
    return readPage(query, ['answer-runs', ref.agentId], read, byCreation, presentRun)
  }),

  route(contract.readAnswerRun, async ({ ref, params: { answerRunId } }) => {
    const run = await requireRun(ctx.db, ref, answerRunId)
    return { ...presentRun(run), results: await resultsOf(ctx.db, ref, answerRunId) }
  }),

  route(contract.cancelAnswerRun, async ({ db, ref, params: { answerRunId } }) => {
    await requireRun(db, ref, answerRunId)
    await endRun(db, ref, answerRunId, 'canceled')
    return presentRun(await requireRun(db, ref, answerRunId))
  }),

  route(contract.compareAnswerRuns, async ({ ref, params: { answerRunId }, query: { before } }) => {
    const run = await requireRun(ctx.db, ref, answerRunId)
    const earlier =
      before === undefined ? await runBefore(ctx.db, ref, run) : await requireRun(ctx.db, ref, before)
    const [old, now] = await Promise.all([earlier, run].map(({ id }) => resultsOf(ctx.db, ref, id)))
    return compareRuns(old ?? [], now ?? [])
  }),
]
