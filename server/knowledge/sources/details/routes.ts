import type { Context } from '../../../context.ts'
import { type Route, route } from '../../../platform/http/route.ts'
import { readOn } from '../../crawl/traps/read-on.ts'
import { presentSource } from '../present.ts'
import { requireSource } from '../queries.ts'
import * as contract from './contract.ts'
import { refreshSource } from './refresh-source.ts'
import { sourcesHealth } from './sources-health.ts'
import { textOfSource } from './text-of-source.ts'

export const detailRoutes = (ctx: Pick<Context, 'db' | 'embedded' | 'jobs'>): Route[] => [
  route(contract.readSourcesHealth, async ({ ref }) => sourcesHealth(ctx, ref)),

  route(contract.readSourceText, async ({ ref, query }) => {
    const source = await requireSource(ctx.db, ref)
    return textOfSource(ctx.db, source, query.pageId ?? null)
  }),

  route(contract.readSourceContent, async ({ ref }) => {
    const { type, content } = await requireSource(ctx.db, ref)
    return {
      content: type === 'text' ? (content.text ?? '') : null,
      questions: type === 'qna' ? (content.questions ?? []) : null,
      answer: type === 'qna' ? (content.answer ?? '') : null,
    }
  }),

  route(contract.listTrainings, async ({ ref }) => {
    const { trainings } = await requireSource(ctx.db, ref)
    return { data: trainings }
  }),

  route(contract.refreshSource, async ({ db, ref }) => {
    return presentSource(await refreshSource({ db, jobs: ctx.jobs }, ref))
  }),

  route(contract.readOnSource, async ({ db, ref, body }) => {
    return presentSource(await readOn({ db, jobs: ctx.jobs }, ref, body.addresses))
  }),
]
