import { requireAgent } from '../../agents/records/find-agent.ts'
import type { Context } from '../../context.ts'
import { type Route, route } from '../../http/route.ts'
import { presentSource } from '../sources/present.ts'
import { requireSource } from '../sources/queries.ts'
import * as contract from './contract.ts'
import { refreshSource } from './refresh-source.ts'
import { textOfSource } from './text-of-source.ts'

export const detailRoutes = (ctx: Context): Route[] => [
  route(contract.readSourceText, async ({ caller: { account }, params, query }) => {
    await requireAgent(ctx.db, account.id, params.agentId)
    const source = await requireSource(ctx.db, account.id, params.agentId, params.sourceId)
    return textOfSource(ctx.db, source, query.pageId ?? null)
  }),

  route(contract.readSourceContent, async ({ caller: { account }, params }) => {
    await requireAgent(ctx.db, account.id, params.agentId)
    const { type, content } = await requireSource(ctx.db, account.id, params.agentId, params.sourceId)
    return {
      content: type === 'text' ? (content.text ?? '') : null,
      questions: type === 'qna' ? (content.questions ?? []) : null,
      answer: type === 'qna' ? (content.answer ?? '') : null,
    }
  }),

  route(contract.listTrainings, async ({ caller: { account }, params }) => {
    await requireAgent(ctx.db, account.id, params.agentId)
    const { trainings } = await requireSource(ctx.db, account.id, params.agentId, params.sourceId)
    return { data: trainings }
  }),

  route(contract.refreshSource, async ({ db, caller: { account }, params }) => {
    await requireAgent(db, account.id, params.agentId)
    return presentSource(await refreshSource({ db, jobs: ctx.jobs }, account.id, params))
  }),
]
