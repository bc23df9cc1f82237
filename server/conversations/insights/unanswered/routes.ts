import type { Context } from '../../../context.ts'
import { presentSource } from '../../../knowledge/sources/present.ts'
import { decodeCursor, fingerprint, pageOf } from '../../../platform/http/pagination.ts'
import { type Route, route } from '../../../platform/http/route.ts'
import { answerGroup, setGroupStatus } from './answer-group.ts'
import * as contract from './contract.ts'
import { type GroupRow, listGroupRows, presentGroups } from './queries.ts'

const isCount = (value: string): boolean => /^\d{1,9}$/.test(value)

export const unansweredRoutes = (ctx: Pick<Context, 'db' | 'filesDir' | 'jobs'>): Route[] => [
  route(contract.listUnanswered, async ({ caller: { account }, params: { agentId }, query }) => {
    const { limit, status } = query
    const print = fingerprint('unanswered', agentId, status)
    const position = decodeCursor(query.cursor, print, isCount)
    const filter = { agentId, status }
    const { rows, total } = await listGroupRows(ctx.db, account.id, filter, { limit, position })
    const positionOf = (row: GroupRow) => ({ value: String(row.count), id: row.id })
    const { data, pagination } = pageOf(rows, limit, total, print, positionOf, (row) => row)
    return { data: await presentGroups(ctx.db, account.id, data), pagination }
  }),

  route(contract.answerUnanswered, async ({ db, caller: { account }, params, body }) => {
    return presentSource(await answerGroup({ ...ctx, db }, account, params, body))
  }),

  route(contract.updateUnanswered, async ({ caller: { account }, params, body }) => {
    const group = await setGroupStatus(ctx, account.id, params, body.status)
    const [shown] = await presentGroups(ctx.db, account.id, [group])
    return shown!
  }),
]
