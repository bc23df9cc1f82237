import type { Static } from 'typebox'
import type { Context } from '../../context.ts'
import { newId } from '../../platform/db/ids.ts'
import { ownRow } from '../../platform/db/refs.ts'
import { json } from '../../platform/db/statements/json.ts'
import { type Details, refuseInvalid } from '../../platform/http/input/validate.ts'
import { type Change, changeTools } from '../procedures/change-tools.ts'
import { disableProcedures } from '../procedures/disable-procedures.ts'
import { type ActionRow, actionsByName, requireAction } from './action-queries.ts'
import { type CreateAction, MAX_ACTIONS, type UpdateAction } from './action-schema.ts'
import { applyAction } from './check-action.ts'
import { openHeaders, sealRequest } from './check-request.ts'

type Deps = Pick<Context, 'db' | 'secrets' | 'config'>

const TAKEN = 'Another action of this agent has this name.'

/** Adds an action. Throws AGENT_NOT_FOUND and VALIDATION_INVALID_BODY. */
export async function createAction(
  ctx: Deps,
  change: Change,
  body: Static<typeof CreateAction>,
): Promise<ActionRow> {
  const { accountId, agentId } = change
  const { inputs, http } = applyAction(ctx, null, [], body.type, body, {})
  return changeTools(ctx.db, change, 'action.create', async (trx) => {
    const others = await actionsByName(trx, { accountId, agentId })
    const found: Details = {}
    if (others.has(body.name)) found.name = TAKEN
    if (others.size >= MAX_ACTIONS) found.body = `An agent has at most ${MAX_ACTIONS} actions.`
    refuseInvalid(found)
    const id = newId()
    const row = await trx
      .insertInto('actions')
      .values({
        id,
        account_id: accountId,
        agent_id: agentId,
        name: body.name,
        type: body.type,
        description: body.description,
        enabled: body.enabled ?? true,
        channels: json(body.channels ?? null),
        inputs: json(inputs),
        http: json(http && (await sealRequest(ctx.secrets, trx, id, http))),
      })
      .returningAll()
      .executeTakeFirstOrThrow()
    return { row, changed: true }
  })
}

/** Applies the sent fields. Throws AGENT_NOT_FOUND, RESOURCE_NOT_FOUND and VALIDATION_INVALID_BODY. */
export async function updateAction(
  ctx: Deps,
  change: Change,
  actionId: string,
  body: Static<typeof UpdateAction>,
): Promise<ActionRow> {
  const { accountId, agentId } = change
  return changeTools(ctx.db, change, 'action.update', async (trx) => {
    const stored = await requireAction(trx, { accountId, agentId }, actionId)
    const { name = stored.name, enabled = stored.enabled, description = stored.description } = body
    const isRenamed = name !== stored.name
    const isTaken = isRenamed && (await actionsByName(trx, { accountId, agentId })).has(name)
    const known = await openHeaders(ctx.secrets, stored, trx)
    const found: Details = isTaken ? { name: TAKEN } : {}
    const { inputs, http } = applyAction(ctx, stored, known, stored.type, body, found)
    if (Object.keys(body).length === 0) return { row: stored, changed: false }
    const channels = body.channels === undefined ? stored.channels : body.channels
    const row = await trx
      .updateTable('actions')
      .set({
        name,
        enabled,
        description,
        channels: json(channels),
        inputs: json(inputs),
        http: json(http && (await sealRequest(ctx.secrets, trx, actionId, http))),
        updated_at: new Date(),
      })
      .where(ownRow(accountId, actionId))
      .returningAll()
      .executeTakeFirstOrThrow()
    if (isRenamed || !enabled) await disableProcedures(trx, { accountId, agentId }, stored.name)
    return { row, changed: true }
  })
}

/** Deletes an action. Throws AGENT_NOT_FOUND and RESOURCE_NOT_FOUND. */
export async function deleteAction(ctx: Deps, change: Change, actionId: string): Promise<void> {
  const { accountId, agentId } = change
  await changeTools(ctx.db, change, 'action.delete', async (trx) => {
    const row = await requireAction(trx, { accountId, agentId }, actionId)
    await trx.deleteFrom('actions').where('account_id', '=', accountId).where('id', '=', actionId).execute()
    await disableProcedures(trx, { accountId, agentId }, row.name)
    return { row, changed: true }
  })
}
