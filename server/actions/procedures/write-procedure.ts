import type { Static } from 'typebox'
import type { Context } from '../../context.ts'
import type { Trx } from '../../platform/db/database.ts'
import { newId } from '../../platform/db/ids.ts'
import { ownRow } from '../../platform/db/refs.ts'
import { json } from '../../platform/db/statements/json.ts'
import type { ProcedureStep } from '../../platform/db/tables/actions.ts'
import { type Details, refuseInvalid } from '../../platform/http/input/validate.ts'
import { actionsByName } from '../definitions/action-queries.ts'
import { namedActions } from '../definitions/named-actions.ts'
import { type Change, changeTools } from './change-tools.ts'
import { type ProcedureRow, procedureNames, requireProcedure } from './procedure-queries.ts'
import { type CreateProcedure, MAX_PROCEDURES, type UpdateProcedure } from './procedure-schema.ts'

type Deps = Pick<Context, 'db'>
type SentSteps = Static<typeof CreateProcedure>['steps']

const TAKEN = 'Another procedure of this agent has this name.'

/** Adds a procedure, disabled. Throws AGENT_NOT_FOUND and VALIDATION_INVALID_BODY. */
export async function createProcedure(
  { db }: Deps,
  change: Change,
  { name, trigger, steps }: Static<typeof CreateProcedure>,
): Promise<ProcedureRow> {
  const { accountId, agentId } = change
  return changeTools(db, change, 'procedure.create', async (trx) => {
    const others = await procedureNames(trx, { accountId, agentId })
    const details: Details = {}
    if (others.has(name)) details.name = TAKEN
    if (others.size >= MAX_PROCEDURES) details.body = `An agent has at most ${MAX_PROCEDURES} procedures.`
    refuseInvalid(details)
    const row = await trx
      .insertInto('procedures')
      .values({
        id: newId(),
        account_id: accountId,
        agent_id: agentId,
        name,
        trigger,
        steps: json(fullSteps(steps)),
      })
      .returningAll()
      .executeTakeFirstOrThrow()
    return { row, changed: true }
  })
}

/** Applies the sent fields. Throws AGENT_NOT_FOUND, RESOURCE_NOT_FOUND and VALIDATION_INVALID_BODY. */
export async function updateProcedure(
  { db }: Deps,
  change: Change,
  procedureId: string,
  body: Static<typeof UpdateProcedure>,
): Promise<ProcedureRow> {
  const { accountId, agentId } = change
  return changeTools(db, change, 'procedure.update', async (trx) => {
    const stored = await requireProcedure(trx, { accountId, agentId }, procedureId)
    const { name = stored.name, trigger = stored.trigger, enabled = stored.enabled } = body
    const steps = body.steps ? fullSteps(body.steps) : stored.steps
    const details: Details = {}
    if (name !== stored.name && (await procedureNames(trx, { accountId, agentId })).has(name))
      details.name = TAKEN
    const problem = enabled ? await refuseEnabled(trx, change, steps) : null
    if (problem) details[body.enabled ? 'enabled' : 'steps'] = problem
    refuseInvalid(details)
    if (Object.keys(body).length === 0) return { row: stored, changed: false }
    const row = await trx
      .updateTable('procedures')
      .set({ name, trigger, enabled, steps: json(steps), updated_at: new Date() })
      .where(ownRow(accountId, procedureId))
      .returningAll()
      .executeTakeFirstOrThrow()
    return { row, changed: true }
  })
}

/** Deletes a procedure. Throws AGENT_NOT_FOUND and RESOURCE_NOT_FOUND. */
export async function deleteProcedure({ db }: Deps, change: Change, procedureId: string): Promise<void> {
  const { accountId, agentId } = change
  await changeTools(db, change, 'procedure.delete', async (trx) => {
    const row = await requireProcedure(trx, { accountId, agentId }, procedureId)
    await trx.deleteFrom('procedures').where(ownRow(accountId, procedureId)).execute()
    return { row, changed: true }
  })
}

export const fullSteps = (steps: SentSteps): ProcedureStep[] =>
  steps.map((step) =>
    typeof step === 'string'
      ? { instruction: step, action: null }
      : { instruction: step.instruction, action: step.action ?? null },
  )

async function refuseEnabled(
  trx: Trx,
  { accountId, agentId }: Change,
  steps: ProcedureStep[],
): Promise<string | null> {
  const actions = await actionsByName(trx, { accountId, agentId })
  const missing = [...namedActions(steps)].filter((name) => !actions.get(name))
  if (missing.length === 0) return null
  return `An enabled procedure needs each action that it names, enabled. Missing or disabled: ${missing.join(', ')}.`
}
