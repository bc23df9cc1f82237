const UNKNOWN = '26000'
const NOT_SUPPORTED = '0A000'

/**
 * Whether the statement was not run because the server has forgotten it, or a migration has changed the columns of its
 * result since it was prepared. It succeeds once it is prepared again.
 */
export function isStale(error: unknown): boolean {
  const { code, routine } = (error ?? {}) as { code?: string; routine?: string }
  return code === UNKNOWN || (code === NOT_SUPPORTED && routine === 'RevalidateCachedQuery')
}
