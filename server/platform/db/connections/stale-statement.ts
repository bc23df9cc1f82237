import { recordOf } from '../../unknown-values.ts'

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
