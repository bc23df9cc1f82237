import { createHash } from 'node:crypto'
import { recordOf } from '../../unknown-values.ts'
import type { Endpoint } from '../contract.ts'
import type { Details } from '../input/validate.ts'

/** An entity tag in quotes; a weak one never matches (RFC 9110, section 13.1.1). */
const TAGS = /^(?:\*|(?:W\/)?"[\x21\x23-\x7e]*"(?:\s*,\s*(?:W\/)?"[\x21\x23-\x7e]*")*)$/

/** Returns a problem for an If-Match that is not valid, or an empty object. */
export function checkIfMatch(value: string | undefined): Details {
  if (value === undefined || TAGS.test(value.trim())) return {}
  return { 'If-Match': 'Must be * or ETags as responses give them, in quotes and separated by commas.' }
}

/** Returns the ETag of a response: the version of what can be changed in it. */
export function etagOf({ versioned = [] }: Endpoint, answer: unknown): string {
  const all = recordOf(answer)
  const seen = versioned.map((name) => [name, all[name] ?? null])
  return `"${createHash('sha256').update(JSON.stringify(seen)).digest('base64url').slice(0, 22)}"`
}

/** Whether a valid If-Match names this version. */
export const matches = (ifMatch: string, etag: string): boolean =>
  ifMatch.trim() === '*' || ifMatch.split(',').some((tag) => tag.trim() === etag)
