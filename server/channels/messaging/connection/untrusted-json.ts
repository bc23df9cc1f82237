import { storable } from '../../../platform/http/bodies/storable.ts'

/** An object from a provider's response or webhook. Any member may be missing or of another type. */
export type JsonObject = { [member: string]: unknown }

/** Returns an empty object for anything that is not one. */
export const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {})

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns the items of a list as objects, and an empty list for anything else. */
export const objectsIn = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.map(objectOf) : [])

const MAX_LENGTH = 20_000

/** Returns a storable text for a string or a number, and an empty one for anything else. */
export const text = (value: unknown): string => {
  const plain = typeof value === 'number' && Number.isFinite(value) ? String(value) : value
  return typeof plain === 'string' ? storable(plain.slice(0, MAX_LENGTH)) : ''
}

/** Returns null for anything that is not a JSON object. */
export function parseObject(bytes: Uint8Array): JsonObject | null {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes))
    return isObject(value) ? value : null
  } catch {
    return null
  }
}
