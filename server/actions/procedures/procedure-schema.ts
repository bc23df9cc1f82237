import Type from 'typebox'
import { Exact, IsoTime, Nullable, Subset } from '../../platform/http/contract.ts'
import { ActionName } from '../definitions/action-schema.ts'

export const MAX_PROCEDURES = 100

const Name = Type.String({
  minLength: 1,
  maxLength: 100,
  // A comma would end the name in a search filter.
  pattern: '^[^\\s,\\p{Cc}]([^,\\p{Cc}]*[^\\s,\\p{Cc}])?$',
  refusal: 'Must not begin or end with a space, and must not hold a comma or a line break.',
})
const text = (description: string) =>
  Type.String({ minLength: 1, maxLength: 2_000, pattern: '\\S', refusal: 'Must not be blank.', description })

const Trigger = text('The situation in which to follow it')
const stepFields = { instruction: text('May name actions as @name'), action: Nullable(ActionName) }

/** A string is shorthand for an instruction without an action. */
const Step = Type.Unsafe<string | { instruction: string; action?: string | null }>({
  type: ['string', 'object'],
  minLength: 1,
  maxLength: 2_000,
  pattern: '\\S',
  refusal: 'Must not be blank.',
  required: ['instruction'],
  properties: stepFields,
  additionalProperties: false,
})
const Steps = Type.Array(Step, { minItems: 1, maxItems: 50 })

export const Procedure = Exact({
  id: Type.String(),
  name: Type.String(),
  trigger: Trigger,
  steps: Type.Array(Exact(stepFields)),
  enabled: Type.Boolean(),
  createdAt: IsoTime,
  updatedAt: IsoTime,
})

export const CreateProcedure = Exact({ name: Name, trigger: Trigger, steps: Steps })

export const UpdateProcedure = Subset(
  Exact({ name: Name, trigger: Trigger, steps: Steps, enabled: Type.Boolean() }),
)
