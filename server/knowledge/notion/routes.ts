import { requireAgent } from '../../agents/records/find-agent.ts'
import type { Context } from '../../context.ts'
import { type Route, route } from '../../http/route.ts'
import { baseUrlOf } from '../../http/server/base-url.ts'
import { deleteConnection, putConnection, rowOf } from './connection.ts'
import { connectPages, disconnectPages, listConnectedPages, readPagesConnection } from './contract.ts'
import { listPages } from './pages/list-pages.ts'
import { tryConnection } from './try-connection.ts'

const success = { success: true as const }

export const pagesConnectionRoutes = (ctx: Context): Route[] => [
  route(connectPages, async ({ caller: { account }, params: { agentId }, body }) => {
    await requireAgent(ctx.db, account.id, agentId)
    const baseUrl = baseUrlOf(body.baseUrl)
    const connection = { accessToken: body.accessToken, baseUrl }
    await tryConnection(ctx, connection)
    await putConnection(ctx, account.id, agentId, connection)
    return success
  }),

  route(readPagesConnection, async ({ caller: { account }, params: { agentId } }) => {
    await requireAgent(ctx.db, account.id, agentId)
    const row = await rowOf(ctx.db, account.id, agentId)
    return { connected: row !== undefined, baseUrl: row?.base_url ?? null }
  }),

  route(disconnectPages, async ({ caller: { account }, params: { agentId } }) => {
    await requireAgent(ctx.db, account.id, agentId)
    await deleteConnection(ctx.db, account.id, agentId)
    return success
  }),

  route(listConnectedPages, async ({ caller: { account }, params: { agentId }, query }) => {
    await requireAgent(ctx.db, account.id, agentId)
    return listPages(ctx, account.id, agentId, query)
  }),
]
