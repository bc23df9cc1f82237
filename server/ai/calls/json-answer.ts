import type { JSONSchema7 } from '@ai-sdk/provider'
import { recordOf } from '../../platform/unknown-values.ts'

/** Returns the schema of an object that has all of these members and no other, as strict providers want it. */
export const objectOf = (properties: Record<string, JSONSchema7>): JSONSchema7 => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
})

/**
 * Parses the answer to a request with a schema. Servers that do not know schemas may put a code fence around it; null for
 * anything else than one object.
 */
export function jsonAnswer(text: string): Record<string, unknown> | null {
  const [from, to] = [text.indexOf('{'), text.lastIndexOf('}')]
  const around = from < 0 ? text : text.slice(0, from) + text.slice(to + 1)
  if (from < 0 || /[^\s`]/.test(around.replace(/json/i, ''))) return null
  try {
    const value: unknown = JSON.parse(text.slice(from, to + 1))
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? recordOf(value) : null
  } catch {
    return null
  }
}
