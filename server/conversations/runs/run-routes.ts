import { requireAction } from '../../actions/definitions/action-queries.ts'
import { requireProcedure } from '../../actions/procedures/procedure-queries.ts'
import type { Context } from '../../context.ts'
import { decodeCursor, fingerprint, pageOf } from '../../platform/http/pagination.ts'
import { type Route, route } from '../../platform/http/route.ts'
import * as contract from './contract.ts'
import { runsOfAction, runsOfProcedure } from './run-queries.ts'

export const runRoutes = (ctx: Pick<Context, 'db'>): Route[] => [
  route(
    contract.listActionRuns,
    async ({ ref, caller: { account }, params: { agentId, actionId }, query }) => {
      const { name } = await requireAction(ctx.db, ref, actionId)
      const print = fingerprint('action-runs', [actionId, name])
      const page = { limit: query.limit, position: decodeCursor(query.cursor, print) }
      const { rows, total } = await runsOfAction(ctx.db, { accountId: account.id, agentId, name }, page)
      return pageOf(rows, query.limit, total, print, positionOf, (row) => ({
        id: row.id,
        conversationId: row.conversation_id,
        source: row.source,
        input: row.input,
        output: row.output,
        status: row.status,
        createdAt: row.at.toISOString(),
        endedAt: row.ended_at?.toISOString() ?? null,
      }))
    },
  ),

  route(contract.listProcedureRuns, async ({ ref, caller: { account }, params, query }) => {
    const { agentId, procedureId } = params
    await requireProcedure(ctx.db, ref, procedureId)
    const print = fingerprint('procedure-runs', procedureId)
    const page = { limit: query.limit, position: decodeCursor(query.cursor, print) }
    const { rows, total } = await runsOfProcedure(
      ctx.db,
      { accountId: account.id, agentId, procedureId },
      page,
    )
    return pageOf(rows, query.limit, total, print, positionOf, (row) => ({
      id: row.id,
      conversationId: row.conversation_id,
      source: row.source,
      status: row.status,
      startedAt: row.at.toISOString(),
      endedAt: row.ended_at?.toISOString() ?? null,
    }))
  }),
]

const positionOf = ({ at, id }: { at: Date; id: string }) => ({ value: at.toISOString(), id })
