import { planOf } from '../accounts/plans/plans.ts'
import type { Context } from '../context.ts'
import { ApiError } from '../platform/http/errors.ts'
import { byCreation, type PageRequest, readPage } from '../platform/http/pagination.ts'
import { type Caller, type Route, route } from '../platform/http/route.ts'
import * as contract from './contract.ts'
import { listActionRows, requireAction } from './definitions/action-queries.ts'
import { presentAction, presentProcedure } from './definitions/present.ts'
import { createAction, deleteAction, updateAction } from './definitions/write-action.ts'
import { listProcedureRows, requireProcedure } from './procedures/procedure-queries.ts'
import { createProcedure, deleteProcedure, updateProcedure } from './procedures/write-procedure.ts'
import { testAction } from './tools/test-action.ts'

const success = { success: true as const }
const requireFeature = ({ account }: Caller): void => {
  if (!planOf(account.plan).features.includes('procedures')) throw new ApiError('PLAN_FEATURE_NOT_AVAILABLE')
}

export const actionRoutes = (ctx: Pick<Context, 'config' | 'db' | 'secrets' | 'toolkits'>): Route[] => [
  route(contract.listActions, ({ ref, query }) => {
    const read = (page: PageRequest) => listActionRows(ctx.db, ref, page)
    return readPage(query, ['actions', ref.agentId], read, byCreation, presentAction)
  }),

  route(contract.createAction, { findsAgent: true }, async ({ db, ref, caller, body }) =>
    presentAction(await createAction({ ...ctx, db }, { ...ref, actor: caller.actor }, body)),
  ),

  route(contract.readAction, async ({ ref, params }) => {
    return presentAction(await requireAction(ctx.db, ref, params.actionId))
  }),

  route(contract.updateAction, { findsAgent: true }, async ({ ref, caller, params, body }) =>
    presentAction(await updateAction(ctx, { ...ref, actor: caller.actor }, params.actionId, body)),
  ),

  route(contract.deleteAction, { findsAgent: true }, async ({ ref, caller, params }) => {
    await deleteAction(ctx, { ...ref, actor: caller.actor }, params.actionId)
    return success
  }),

  route(contract.listProcedures, ({ ref, query }) => {
    const read = (page: PageRequest) => listProcedureRows(ctx.db, ref, page)
    return readPage(query, ['procedures', ref.agentId], read, byCreation, presentProcedure)
  }),

  route(contract.createProcedure, { findsAgent: true }, async ({ db, ref, caller, body }) => {
    requireFeature(caller)
    return presentProcedure(await createProcedure({ ...ctx, db }, { ...ref, actor: caller.actor }, body))
  }),

  route(contract.readProcedure, async ({ ref, params }) => {
    return presentProcedure(await requireProcedure(ctx.db, ref, params.procedureId))
  }),

  route(contract.updateProcedure, { findsAgent: true }, async ({ ref, caller, params, body }) => {
    if (body.enabled) requireFeature(caller)
    const change = { ...ref, actor: caller.actor }
    return presentProcedure(await updateProcedure(ctx, change, params.procedureId, body))
  }),

  route(contract.deleteProcedure, { findsAgent: true }, async ({ ref, caller, params }) => {
    await deleteProcedure(ctx, { ...ref, actor: caller.actor }, params.procedureId)
    return success
  }),

  route(contract.testAction, { idempotencyMode: 'response' }, async ({ ref, params: { actionId }, body }) => {
    const row = await requireAction(ctx.db, ref, actionId)
    return { data: await testAction(ctx.toolkits.forAction(row), row, body.input) }
  }),
]
