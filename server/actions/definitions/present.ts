import type { Static } from 'typebox'
import type { ProcedureRow } from '../procedures/procedure-queries.ts'
import type { Procedure } from '../procedures/procedure-schema.ts'
import type { ActionRow } from './action-queries.ts'
import type { Action } from './action-schema.ts'
import { fixedInputs } from './fixed-inputs.ts'

export function presentAction(row: ActionRow): Static<typeof Action> {
  const { id, name, type, description, enabled, channels, http } = row
  return {
    id,
    name,
    type,
    description,
    enabled,
    channels: channels as Static<typeof Action>['channels'],
    inputs: fixedInputs(type) ?? row.inputs,
    http: http && {
      method: http.method,
      url: http.url,
      headers: Object.fromEntries(Object.keys(http.headers).map((header) => [header, null])),
      body: http.body,
      timeoutMs: http.timeoutMs,
    },
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  }
}

export function presentProcedure(row: ProcedureRow): Static<typeof Procedure> {
  const { id, name, trigger, steps, enabled } = row
  const createdAt = row.created_at.toISOString()
  return { id, name, trigger, steps, enabled, createdAt, updatedAt: row.updated_at.toISOString() }
}
