import type { PresentError } from '../platform/http/server/render-error.ts'
import { ATTRIBUTES } from './schema.ts'

/** Codes that version 1 reports as one error: no access, or a limit reached. */
const DENIED = [402, 403, 422]

const MESSAGES: Record<number, string> = {
  400: 'Invalid request data',
  401: 'Invalid API key',
  403: 'Access denied or quota exceeded',
  404: 'Resource not found',
  405: 'Method not allowed',
  413: 'Request body too large',
  415: 'Unsupported media type',
  429: 'Rate limit exceeded',
  500: 'Internal server error',
}

/** Returns `{message}` with the sentences that programs compare. */
export const presentError: PresentError = (error, endpoint) => {
  const status = DENIED.includes(error.status) ? 403 : error.status
  const message =
    error.code === 'AUTH_MISSING_API_KEY' ? 'No API key provided' : (MESSAGES[status] ?? error.message)
  if (status !== 400 || endpoint?.tag !== ATTRIBUTES || !error.details) return { status, body: { message } }
  const issues = Object.entries(error.details).map(([field, sentence]) => ({ field, message: sentence }))
  return { status, body: { message, issues } }
}
