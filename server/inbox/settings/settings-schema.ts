import Type from 'typebox'
import type { ClockTargets, BusinessHours as Hours } from '../../platform/db/tables/helpdesk.ts'
import { Exact } from '../../platform/http/contract.ts'
import { priorities } from '../tickets/schema.ts'

/** 30 days. */
const MAX_MINUTES = 43_200

const Minutes = Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_MINUTES }))
const PriorityTargets = Exact({ first_response: Minutes, next_response: Minutes, resolution: Minutes })

/** Minutes of business hours by priority; a missing priority has no target. */
export const Targets = Type.Unsafe<ClockTargets>(
  Exact(Object.fromEntries(priorities.map((name) => [name, Type.Optional(PriorityTargets)]))),
)

const Clock = Type.String({
  pattern: '^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$',
  refusal: 'Must be a time of day such as 09:30, at most 24:00.',
})
const Openings = Type.Optional(Type.Array(Exact({ from: Clock, to: Clock }), { maxItems: 10 }))

export const weekdays = [
  'monday',
  'tuesday',
  'wednesday',
  'thursday',
  'friday',
  'saturday',
  'sunday',
] as const

export const BusinessHours = Type.Unsafe<Hours>(
  Exact({
    timeZone: Type.String({ minLength: 1, maxLength: 100, description: 'Such as Europe/Berlin' }),
    days: Exact(Object.fromEntries(weekdays.map((day) => [day, Openings]))),
    holidays: Type.Array(Type.String({ format: 'date' }), { maxItems: 500, uniqueItems: true }),
  }),
)
