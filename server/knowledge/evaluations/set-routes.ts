import type { Static } from 'typebox'
import { requireAgent } from '../../agents/records/find-agent.ts'
import type { Context } from '../../context.ts'
import { violates } from '../../platform/db/connections/database-errors.ts'
import type { Db } from '../../platform/db/database.ts'
import { newId } from '../../platform/db/ids.ts'
import { ownRow } from '../../platform/db/refs.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import { ApiError, invalidField } from '../../platform/http/errors.ts'
import { type Route, route } from '../../platform/http/route.ts'
import * as contract from './contract.ts'
import type { EvaluationSet } from './schema.ts'
import { listSets, requireSet, type SetRow } from './set-queries.ts'

const MAX_SETS = 50

export const setRoutes = (ctx: Pick<Context, 'db'>): Route[] => [
  route(contract.listEvaluationSets, async ({ ref }) => {
    return { data: (await listSets(ctx.db, ref)).map(presentSet) }
  }),

  route(contract.createEvaluationSet, { findsAgent: true }, async ({ db, ref, body }) => {
    await requireAgent(db, ref, 'update')
    const sets = await listSets(db, ref)
    if (sets.length >= MAX_SETS) {
      throw invalidField('name', `An agent has at most ${MAX_SETS} sets. Delete one first.`)
    }
    const name = body.name.trim()
    if (sets.some((set) => set.name === name)) throw taken()
    const row = await db
      .insertInto('evaluation_sets')
      .values({ id: newId(), account_id: ref.accountId, agent_id: ref.agentId, name })
      .returningAll()
      .executeTakeFirstOrThrow()
    return presentSet({ ...row, questions: 0 })
  }),

  route(contract.updateEvaluationSet, async ({ ref, params: { setId }, body }) => {
    const { id } = await requireSet(ctx.db, ref, setId)
    await rename(ctx.db, ref.accountId, id, body.name.trim())
    const row = (await listSets(ctx.db, ref)).find((set) => set.id === id)
    if (!row) throw new ApiError('RESOURCE_NOT_FOUND')
    return presentSet(row)
  }),

  route(contract.deleteEvaluationSet, async ({ ref, caller: { account }, params: { setId } }) => {
    const { id } = await requireSet(ctx.db, ref, setId)
    await ctx.db.deleteFrom('evaluation_sets').where(ownRow(account.id, id)).execute()
    return { success: true as const }
  }),
]

async function rename(db: Db, accountId: AccountId, id: string, name: string): Promise<void> {
  try {
    await db.updateTable('evaluation_sets').set({ name }).where(ownRow(accountId, id)).execute()
  } catch (error) {
    throw violates(error, 'evaluation_sets_name') ? taken() : error
  }
}

const taken = (): ApiError =>
  new ApiError('RESOURCE_DUPLICATE', { message: 'The agent already has a set with this name.' })

const presentSet = (row: SetRow & { questions: number }): Static<typeof EvaluationSet> => ({
  id: row.id,
  name: row.name,
  questions: row.questions,
  createdAt: row.created_at.toISOString(),
})
