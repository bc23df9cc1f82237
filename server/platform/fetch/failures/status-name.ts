import { STATUS_CODES } from 'node:http'

/** Returns the status with its name, such as `HTTP 403 (Forbidden)`, for a sentence. */
export const statusName = (status: number): string =>
  STATUS_CODES[status] ? `HTTP ${status} (${STATUS_CODES[status]})` : `HTTP ${status}`
