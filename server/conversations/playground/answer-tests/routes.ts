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
import { compareRuns } from './compare-runs.ts'
import * as contract from './contract.ts'
import { endRun } from './end-run.ts'
import { judgeAgreement, reviewedResults, reviewResult } from './judging/reviews.ts'
import {
  casesOfRun,
  estimateRun,
  listRuns,
  presentRun,
  requireModel,
  requireRun,
  resultsOf,
  runBefore,
  startRun,
} from './runs.ts'
import { presentSchedule, removeSchedule, scheduleOf, setSchedule } from './schedule/schedules.ts'

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
    const cases = (await casesToRun(db, ref, caseIds)).map(copyOf)
    return transact(db, async (trx) => {
      const id = await startRun(trx, ctx, { ref, plan: account.plan }, cases, settings)
      return presentRun(await requireRun(trx, ref, id))
    })
  }),

  route(contract.estimateAnswerRun, async ({ agent, ref, caller: { account }, query }) => {
    const model = requireModel(ctx.models, { plan: account.plan, model: agent.model }, query)
    const cases = (await casesToRun(ctx.db, ref, undefined)).map(copyOf)
    return estimateRun(ctx.db, { ref, model }, cases, query)
  }),

  route(contract.repeatAnswerRun, async ({ db, ref, caller: { account }, params, body }) => {
    const { settings } = await requireRun(db, ref, params.answerRunId)
    const { creditsOfAnswer: _, cases: _cases, turns: _turns, isScheduled: _scheduled, ...asked } = settings
    const cases = await casesOfRun(db, ref, params.answerRunId, body.caseIds)
    return transact(db, async (trx) => {
      const id = await startRun(trx, ctx, { ref, plan: account.plan }, cases, asked)
      return presentRun(await requireRun(trx, ref, id))
    })
  }),

  route(contract.listAnswerRuns, ({ ref, query }) => {
    const read = (page: PageRequest) => listRuns(ctx.db, ref, page)
    return readPage(query, ['answer-runs', ref.agentId], read, byCreation, presentRun)
  }),

  route(contract.readAnswerRun, async ({ ref, params: { answerRunId } }) => {
    const run = await requireRun(ctx.db, ref, answerRunId)
    return { ...presentRun(run), results: await reviewedResults(ctx.db, ref, answerRunId) }
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

  ...reviewRoutes(ctx),
  ...scheduleRoutes(ctx),
]

const reviewRoutes = (ctx: Pick<Context, 'db'>): Route[] => [
  route(contract.reviewAnswer, async ({ db, ref, caller, params: { answerRunId }, body }) => {
    const reviewer = caller.member?.name ?? caller.key?.name ?? caller.actor
    return transact(db, (trx) => reviewResult(trx, ref, answerRunId, body, reviewer))
  }),

  route(contract.listAnswerJudges, async ({ ref }) => ({ data: await judgeAgreement(ctx.db, ref) })),
]

const scheduleRoutes = (ctx: Pick<Context, 'db' | 'models'>): Route[] => [
  route(contract.readAnswerSchedule, async ({ ref }) => {
    const row = await scheduleOf(ctx.db, ref)
    return { schedule: row ? presentSchedule(row) : null }
  }),

  route(contract.setAnswerSchedule, async ({ db, ref, body }) => {
    return transact(db, async (trx) => presentSchedule(await setSchedule(trx, ctx, ref, body)))
  }),

  route(contract.removeAnswerSchedule, async ({ db, ref }) => {
    await removeSchedule(db, ref)
    return { success: true as const }
  }),
]
