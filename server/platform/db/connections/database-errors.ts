import { codeOf, recordOf } from '../../unknown-values.ts'

/** Why the database is not available. */
export type Outage = 'unreachable' | 'silent' | 'full' | 'read-only'

const SENTENCES: Record<Outage, string> = {
  unreachable: 'The database cannot be reached. Try again shortly.',
  silent: 'The database does not respond. Try again shortly.',
  full: 'The database accepts no more connections. Try again shortly.',
  'read-only': 'The database is currently read-only. Try again shortly.',
}

/** Thrown instead of running a query while the database is known to be unavailable. */
export class DatabaseUnavailable extends Error {
  override name = 'DatabaseAway'
  readonly outage: Outage

  constructor(outage: Outage) {
    super(SENTENCES[outage])
    this.outage = outage
  }
}

const TOO_MANY_CONNECTIONS = '53300'
const READ_ONLY = '25006'
/**
 * The codes of connection exceptions and lack of resources, and those of a server that is stopping, starting or
 * read-only.
 */
const AWAY = /^(08...|53...|57P0[1-5]|25006)$/
const TOOK_TOO_LONG = new Set(['55P03', '57014', '25P03'])
/** The messages of pg for a query on a connection that has already broken; these errors have no code. */
const BROKEN_BEFORE = /^Client (has encountered a connection error|was closed) and is not queryable$/
const MAX_CHAIN_LENGTH = 5

// Connections to model providers have the same socket error codes, so these only count when the error comes from a
// connection to the database.
const fromConnections = new WeakSet<object>()

export function noteConnectionError(error: unknown): void {
  if (typeof error === 'object' && error !== null) fromConnections.add(error)
}

/**
 * Returns whether the error means that the database could not be reached or cannot run the query now, so that a later
 * retry may well succeed.
 */
export function isUnavailable(error: unknown): boolean {
  let each = error
  for (let depth = 0; each instanceof Error && depth < MAX_CHAIN_LENGTH; depth++) {
    if (each instanceof DatabaseUnavailable || fromConnections.has(each) || BROKEN_BEFORE.test(each.message))
      return true
    const code = codeOf(each) ?? ''
    if (AWAY.test(code) || TOOK_TOO_LONG.has(code)) return true
    each = each.cause
  }
  return false
}

/** What a connection's error tells about the database as a whole. */
export function outageOf(error: unknown): Outage {
  const code = codeOf(error)
  if (code === TOO_MANY_CONNECTIONS) return 'full'
  return code === READ_ONLY ? 'read-only' : 'unreachable'
}

/** Whether an error sent by the server is a reason to check the server. */
export const saysAway = (error: unknown): boolean => AWAY.test(codeOf(error) ?? '')

/** Returns whether a statement failed because of the constraint or unique index with this name. */
export const violates = (error: unknown, constraint: string): boolean =>
  error instanceof Error && 'constraint' in error && error.constraint === constraint

const UNKNOWN = '26000'
const NOT_SUPPORTED = '0A000'

/**
 * Returns whether a prepared statement failed because the server no longer has it, or because a migration has changed the
 * columns of its result. It succeeds once it is prepared again.
 */
export function isStale(error: unknown): boolean {
  const { code, routine } = recordOf(error)
  return code === UNKNOWN || (code === NOT_SUPPORTED && routine === 'RevalidateCachedQuery')
}
