import { isDeepStrictEqual } from 'node:util'
import type { Static } from 'typebox'
import type { Context } from '../../context.ts'
import type { ActionType } from '../../platform/db/tables/actions.ts'
import { type Details, refuseInvalid } from '../../platform/http/input/validate.ts'
import { refuseSchema } from '../inputs/check-inputs.ts'
import { FINISH, START } from '../procedures/procedure-tools.ts'
import type { ActionRow } from './action-queries.ts'
import type { UpdateAction } from './action-schema.ts'
import { applyRequest, type Header, type PlainRequest } from './check-request.ts'
import { fixedInputs, NO_INPUTS } from './fixed-inputs.ts'

type Deps = Pick<Context, 'config'>
type Change = Static<typeof UpdateAction>

/**
 * Derives the inputs and the request of an action after a change from its type; `stored` is null for a new action.
 * Throws VALIDATION_INVALID_BODY with every invalid field, including those in `found`.
 */
export function applyAction(
  ctx: Deps,
  stored: ActionRow | null,
  known: Header[],
  type: ActionType,
  change: Change,
  found: Details,
): { inputs: Record<string, unknown>; http: PlainRequest | null } {
  const details = { ...found }
  if (stored && change.type !== undefined && change.type !== type) {
    details.type = 'Cannot be changed: create another action.'
  }
  if (!stored && type === 'web-search' && ctx.config.searchUrl === null) {
    details.type = 'This installation has no search service. Its operator can name one in SEARCH_URL.'
  }
  if (change.name === START || change.name === FINISH) details.name = 'This name is taken by the service.'

  const fixed = fixedInputs(type)
  const inputs = fixed ?? change.inputs ?? stored?.inputs ?? NO_INPUTS
  const badInputs = change.inputs && refuseInputs(type, change.inputs)
  if (badInputs) details.inputs = badInputs

  const http = requestOf(stored, known, type, change, inputs, details)
  refuseInvalid(details)
  return { inputs, http }
}

function refuseInputs(type: ActionType, inputs: Record<string, unknown>): string | null {
  const fixed = fixedInputs(type)
  if (!fixed) return refuseSchema(inputs)
  // A client may send back what it has read.
  if (isDeepStrictEqual(inputs, fixed)) return null
  return `Actions of the type ${type} have fixed inputs. Leave this field out.`
}

function requestOf(
  stored: ActionRow | null,
  known: Header[],
  type: ActionType,
  { http }: Change,
  inputs: Record<string, unknown>,
  details: Details,
): PlainRequest | null {
  if (type !== 'http') {
    if (http) details.http = 'Only actions of the type http have a request.'
    return null
  }
  if (http === null || (!http && !stored)) {
    details.http = 'Actions of the type http need a request.'
    return null
  }
  return applyRequest(stored?.http ?? null, known, http ?? {}, inputs, details)
}
