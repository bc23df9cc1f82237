import type { Context } from '../../context.ts'
import { type Route, route } from '../../platform/http/route.ts'
import { baseUrlOf } from '../../platform/http/server/base-url.ts'
import { deleteConnection, putConnection, rowOf } from './connection.ts'
import { connectPages, disconnectPages, listConnectedPages, readPagesConnection } from './contract.ts'
import { listPages } from './pages/list-pages.ts'
import { tryConnection } from './try-connection.ts'

const success = { success: true as const }

export const pagesConnectionRoutes = (ctx: Pick<Context, 'db' | 'fetcher' | 'secrets'>): Route[] => [
  route(connectPages, async ({ ref, body }) => {
    const baseUrl = baseUrlOf(body.baseUrl)
    const connection = { accessToken: body.accessToken, baseUrl }
    await tryConnection(ctx, connection)
    await putConnection(ctx, ref, connection)
    return success
  }),

  route(readPagesConnection, async ({ ref }) => {
    const row = await rowOf(ctx.db, ref)
    return { connected: row !== undefined, baseUrl: row?.base_url ?? null }
  }),

  route(disconnectPages, async ({ ref }) => {
    await deleteConnection(ctx.db, ref)
    return success
  }),

  route(listConnectedPages, async ({ ref, query }) => {
    return listPages(ctx, ref, query)
  }),
]
