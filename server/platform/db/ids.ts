import { randomBytes } from 'node:crypto'
import { v7, validate } from 'uuid'

/** Returns a UUIDv7, the form of every id except those of agents. */
export const newId = (): string => v7()

/** Returns the id of a new agent: 21 URL-safe characters. */
export const newAgentId = (): string => randomBytes(16).toString('base64url').slice(0, 21)

/**
 * Checks whether a string is a UUID. Anything else cannot be an id, and PostgreSQL would report an error instead of
 * finding nothing.
 */
export const isId = (text: string): boolean => validate(text)
