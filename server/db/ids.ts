import { nanoid } from 'nanoid'
import { v7, validate } from 'uuid'

/** Returns a UUIDv7, the form of every id except those of agents. */
export const newId = (): string => v7()

/** Returns the id of a new agent: 21 URL-safe characters. */
export const newAgentId = (): string => nanoid(21)

/** An id that is no UUID cannot exist; asking PostgreSQL with it would be an error instead of "not found". */
export const isId = (text: string): boolean => validate(text)
