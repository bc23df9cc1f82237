import { planOf } from '../accounts/plans/plans.ts'
import { requireAgent } from '../agents/records/find-agent.ts'
import type { Context } from '../context.ts'
import { ApiError } from '../http/errors.ts'
import { byCreation, decodeCursor, fingerprint, pageOf } from '../http/pagination.ts'
import { type Caller, type Route, route } from '../http/route.ts'
import * as contract from './contract.ts'
import { listActionRows, requireAction } from './definitions/action-queries.ts'
import { presentAction, presentProcedure } from './definitions/present.ts'
import { createAction, deleteAction, updateAction } from './definitions/write-action.ts'
import type { Change } from './procedures/change-tools.ts'
import { listProcedureRows, requireProcedure } from './procedures/procedure-queries.ts'
import { createProcedure, deleteProcedure, updateProcedure } from './procedures/write-procedure.ts'
import { testAction } from './tools/test-action.ts'

const success = { success: true as const }
const changeOf = ({ account, actor }: Caller, agentId: string): Change => ({
  accountId: account.id,
  actor,
  agentId,
})
const requireFeature = ({ account }: Caller): void => {
  if (!planOf(account.plan).features.includes('procedures')) throw new ApiError('PLAN_FEATURE_NOT_AVAILABLE')
}

export const actionRoutes = (ctx: Context): Route[] => [
  route(contract.listActions, async ({ caller: { account }, params, query: { cursor, limit } }) => {
    await requireAgent(ctx.db, account.id, params.agentId)
    const print = fingerprint('actions', params.agentId)
    const page = { limit, position: decodeCursor(cursor, print) }
    const { rows, total } = await listActionRows(ctx.db, account.id, params.agentId, page)
    return pageOf(rows, limit, total, print, byCreation, presentAction)
  }),

  route(contract.createAction, async ({ db, caller, params, body }) =>
    presentAction(await createAction({ ...ctx, db }, changeOf(caller, params.agentId), body)),
  ),

  route(contract.readAction, async ({ caller: { account }, params }) => {
    await requireAgent(ctx.db, account.id, params.agentId)
    return presentAction(await requireAction(ctx.db, account.id, params.agentId, params.actionId))
  }),

  route(contract.updateAction, async ({ caller, params, body }) =>
    presentAction(await updateAction(ctx, changeOf(caller, params.agentId), params.actionId, body)),
  ),

  route(contract.deleteAction, async ({ caller, params }) => {
    await deleteAction(ctx, changeOf(caller, params.agentId), params.actionId)
    return success
  }),

  route(contract.listProcedures, async ({ caller: { account }, params, query: { cursor, limit } }) => {
    await requireAgent(ctx.db, account.id, params.agentId)
    const print = fingerprint('procedures', params.agentId)
    const page = { limit, position: decodeCursor(cursor, print) }
    const { rows, total } = await listProcedureRows(ctx.db, account.id, params.agentId, page)
    return pageOf(rows, limit, total, print, byCreation, presentProcedure)
  }),

  route(contract.createProcedure, async ({ db, caller, params, body }) => {
    requireFeature(caller)
    return presentProcedure(await createProcedure({ ...ctx, db }, changeOf(caller, params.agentId), body))
  }),

  route(contract.readProcedure, async ({ caller: { account }, params }) => {
    await requireAgent(ctx.db, account.id, params.agentId)
    return presentProcedure(await requireProcedure(ctx.db, account.id, params.agentId, params.procedureId))
  }),

  route(contract.updateProcedure, async ({ caller, params, body }) => {
    if (body.enabled) requireFeature(caller)
    const change = changeOf(caller, params.agentId)
    return presentProcedure(await updateProcedure(ctx, change, params.procedureId, body))
  }),

  route(contract.deleteProcedure, async ({ caller, params }) => {
    await deleteProcedure(ctx, changeOf(caller, params.agentId), params.procedureId)
    return success
  }),

  route(
    contract.testAction,
    async ({ caller: { account }, params: { agentId, actionId }, body }) => {
      await requireAgent(ctx.db, account.id, agentId)
      const row = await requireAction(ctx.db, account.id, agentId, actionId)
      return { data: await testAction(ctx.toolkits.forAction(row), row, body.input) }
    },
    'answer',
  ),
]
