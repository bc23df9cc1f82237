/** The background job that looks whether a source's origin has changed. */
export const SYNC_SOURCE = 'sync-source'
export type SyncSource = { sourceId: string }

const DAY_MS = 86_400_000
/** From one look to the next. */
export const WEEK_MS = 7 * DAY_MS
/** A look that failed, or whose process died, is taken again. */
export const RETRY_MS = DAY_MS
