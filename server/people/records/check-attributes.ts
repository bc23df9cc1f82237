import type { AttributeType } from '../../platform/db/tables/contacts.ts'
import { isDate } from '../../platform/http/input/dates.ts'
import type { Details } from '../../platform/http/input/validate.ts'
import type { AttributeRow } from './queries.ts'

const MAX_TEXT_LENGTH = 2_000

/** A check of the values of each type, and its sentence. */
const TYPES: Record<AttributeType, [(value: unknown) => boolean, string]> = {
  text: [
    (value) => typeof value === 'string' && value.length <= MAX_TEXT_LENGTH,
    `Must be a text of at most ${MAX_TEXT_LENGTH} characters.`,
  ],
  number: [Number.isFinite, 'Must be a number.'],
  boolean: [(value) => typeof value === 'boolean', 'Must be true or false.'],
  date: [
    (value) => typeof value === 'string' && isDate(value),
    'Must be a day as YYYY-MM-DD or an ISO 8601 date-time.',
  ],
}

/** Returns a sentence, by path, for each value that its attribute does not accept. null removes any value. */
export function checkAttributes(
  attributes: AttributeRow[],
  values: Record<string, unknown>,
  path: string,
): Details {
  const known = new Map(attributes.map((attribute) => [attribute.name, attribute]))
  const problems: Details = {}
  for (const [name, value] of Object.entries(values)) {
    const problem = problemOf(known.get(name), value)
    if (problem) problems[`${path}.${name}`] = problem
  }
  return problems
}

function problemOf(attribute: AttributeRow | undefined, value: unknown): string | null {
  if (!attribute) return 'There is no custom attribute with this name.'
  if (value === null) return null
  if (attribute.archived) return 'The attribute is archived: it can only be set to null.'
  const [fits, sentence] = TYPES[attribute.type]
  return fits(value) ? null : sentence
}
