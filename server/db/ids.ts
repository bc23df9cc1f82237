import { nanoid } from 'nanoid'
import { v7, validate } from 'uuid'

/** UUIDv7: everything but agents. */
export const newId = (): string => v7()

/** 21 URL-safe characters: agents. */
export const newAgentId = (): string => nanoid(21)

/** An id that is no UUID cannot exist; asking PostgreSQL with it would be an error instead of "not found". */
export const isId = (text: string): boolean => validate(text)
