import { totalmem } from 'node:os'

/** Thrown when the machine or the container has less memory than the embedded database needs to start. */
export class MemoryTooSmall extends Error {
  override name = 'MemoryTooSmall'
}

const MB = 1024 * 1024
/** The measured peaks of the service and its child processes, and a fifth. */
const TO_CREATE = 740 * MB
const TO_OPEN = 390 * MB

/**
 * Throws MemoryTooSmall when the kernel would end the process for lack of memory. `limit` is what the container, or
 * else the machine, has.
 */
export function requireMemory(what: 'create' | 'open', limit = memoryLimit()): void {
  const needed = what === 'create' ? TO_CREATE : TO_OPEN
  if (limit >= needed) return
  throw new MemoryTooSmall(
    `The service needs ${inMb(needed)} of memory to ${what} its embedded database, and ${memoryOf(limit)}. Give it more, or use PostgreSQL: set DATABASE_URL.`,
  )
}

/** Returns why a model that takes so much memory beside the running service cannot be run; null if it can. */
export function lackOfMemory(bytes: number, limit = memoryLimit()): string | null {
  const needed = TO_OPEN + bytes
  return limit >= needed
    ? null
    : `The service and this model need ${inMb(needed)} of memory, and ${memoryOf(limit)}.`
}

const inMb = (bytes: number): string => `${Math.floor(bytes / MB)} MB`

const memoryOf = (limit: number): string =>
  `this ${isContained() ? 'container allows' : 'machine has'} ${inMb(limit)}`

/** Without a limit, the control group reports none, or a number that no machine has. */
const isContained = (): boolean => {
  const limit = process.constrainedMemory()
  return limit > 0 && limit < totalmem()
}

const memoryLimit = (): number => (isContained() ? process.constrainedMemory() : totalmem())
