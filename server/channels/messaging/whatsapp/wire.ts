import { storable } from '../../../http/bodies/storable.ts'

/** The members that are read from responses and webhooks. Any of them may be missing or of another type. */
export type Wire = { [member: string]: unknown }

export const wire = (value: unknown): Wire =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Wire) : {}

export const wires = (value: unknown): Wire[] => (Array.isArray(value) ? value.map(wire) : [])

const LONGEST = 20_000

/** Returns a storable text for a string or a number, and an empty one for anything else. */
export const text = (value: unknown): string => {
  const plain = typeof value === 'number' && Number.isFinite(value) ? String(value) : value
  return typeof plain === 'string' ? storable(plain.slice(0, LONGEST)) : ''
}

export function parseJson(bytes: Uint8Array): Wire | null {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes))
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Wire) : null
  } catch {
    return null
  }
}
