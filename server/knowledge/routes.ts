import type { Context } from '../context.ts'
import { commaList } from '../platform/http/contract.ts'
import {
  byCreation,
  decodeCursor,
  fingerprint,
  type PageRequest,
  pageOf,
  readPage,
} from '../platform/http/pagination.ts'
import { type Route, route } from '../platform/http/route.ts'
import * as contract from './contract.ts'
import { hidePage } from './crawl/pages/hide-page.ts'
import { listPageRows } from './crawl/pages/page-queries.ts'
import type { PageRow } from './crawl/pages/page-row.ts'
import { presentPage } from './crawl/pages/present-page.ts'
import { evaluationRoutes } from './evaluations/routes.ts'
import { pagesConnectionRoutes } from './notion/routes.ts'
import { explainSearch } from './search/explain-search.ts'
import { createSource, uploadSource } from './sources/create-source.ts'
import { deleteSource } from './sources/delete-source.ts'
import { detailRoutes } from './sources/details/routes.ts'
import { liveChunks, presentChunk } from './sources/live-chunks.ts'
import { choosePassage } from './sources/passage-choices.ts'
import { presentSource } from './sources/present.ts'
import { listSourceRows, requireSource, type SourceRow, sizesByType } from './sources/queries.ts'
import { readFileChange, readNewFile } from './sources/read-upload.ts'
import { updateFromUpload, updateSource } from './sources/update-source.ts'
import { ticketKnowledgeRoutes } from './tickets/routes.ts'

export const sourceRoutes = (
  ctx: Pick<
    Context,
    | 'db'
    | 'embedded'
    | 'fetcher'
    | 'filesDir'
    | 'jobs'
    | 'knowledge'
    | 'log'
    | 'models'
    | 'secrets'
    | 'solvedTickets'
  >,
): Route[] => [
  route(contract.listSources, async ({ caller: { account }, params, query }) => {
    const types = query.type === undefined ? null : (commaList(query.type) as SourceRow['type'][])
    const filter = { agentId: params.agentId, types, name: query.name ?? null }
    const read = (page: PageRequest) => listSourceRows(ctx.db, account.id, filter, page)
    return readPage(query, ['sources', filter], read, byCreation, presentSource)
  }),

  route(contract.readSummary, async ({ ref }) => {
    const sizes = await sizesByType(ctx.db, ref)
    const of = (type: SourceRow['type']) => sizes.get(type) ?? { count: 0, size: 0 }
    return {
      texts: of('text'),
      qnas: of('qna'),
      links: of('link'),
      files: of('file'),
      notionPages: of('notionPage'),
      tickets: of('ticket'),
      shouldRetrain: false,
    }
  }),

  route(
    contract.createSource,
    { check: ({ form, reply }) => form && readNewFile(form, reply) },
    async ({ db, caller: { account }, params, body, checked: upload }) => {
      const row = upload
        ? await uploadSource({ ...ctx, db }, account, params.agentId, upload)
        : await createSource({ ...ctx, db }, account, params.agentId, body)
      return presentSource(row)
    },
  ),

  route(contract.readSource, async ({ ref }) => {
    return presentSource(await requireSource(ctx.db, ref))
  }),

  route(
    contract.updateSource,
    { check: ({ form, reply }) => form && readFileChange(form, reply) },
    async ({ caller: { account }, params, body, checked: upload }) => {
      const row = upload
        ? await updateFromUpload(ctx, account, params, upload)
        : await updateSource(ctx, account, params, body)
      return presentSource(row)
    },
  ),

  route(contract.deleteSource, async ({ ref }) => {
    const row = await deleteSource(ctx, ref)
    return { ...presentSource(row), status: 'deleted' as const }
  }),

  ...passageRoutes(ctx),
  ...detailRoutes(ctx),
  ...evaluationRoutes(ctx),
  ...pagesConnectionRoutes(ctx),
  ...ticketKnowledgeRoutes(ctx),
]

/** The pages of a website and the passages of a source. */
const passageRoutes = (ctx: Pick<Context, 'db' | 'jobs' | 'knowledge' | 'log' | 'models'>): Route[] => [
  route(contract.listPages, async ({ ref, caller: { account }, query }) => {
    const { id } = await requireSource(ctx.db, ref)
    const filter = { sourceId: id, status: query.status ?? null }
    const print = fingerprint('pages', filter)
    const position = decodeCursor(query.cursor, print, (value) => /^\d{1,9}$/.test(value))
    const { rows, total } = await listPageRows(ctx.db, account.id, filter, { limit: query.limit, position })
    const positionOf = (row: PageRow) => ({ value: String(row.number), id: row.id })
    return pageOf(rows, query.limit, total, print, positionOf, presentPage)
  }),

  route(contract.updatePage, async ({ caller: { account }, params, body }) => {
    return presentPage(await hidePage(ctx, account, params, body.excluded))
  }),

  route(contract.listChunks, async ({ ref, query }) => {
    const source = await requireSource(ctx.db, ref)
    const pageId = query.pageId ?? null
    const print = fingerprint('chunks', source.id, pageId)
    const position = decodeCursor(query.cursor, print, (value) => /^\d{1,9}$/.test(value))
    const { rows, total } = await liveChunks(ctx.db, source, pageId, { limit: query.limit, position })
    const positionOf = (row: { ordinal: number; id: string }) => ({ value: String(row.ordinal), id: row.id })
    return pageOf(rows, query.limit, total, print, positionOf, presentChunk)
  }),

  route(contract.updateChunk, async ({ ref, body }) => {
    return presentChunk(await choosePassage(ctx.db, ref, body))
  }),

  route(contract.testRetrieval, { idempotencyMode: 'response' }, async ({ agent, body }) => {
    return explainSearch(ctx, agent, { ...body, limit: body.limit ?? 8 })
  }),
]
