import type { ErrorCode } from '../../../http/error-codes.ts'
import { ApiError } from '../../../http/errors.ts'
import type { ProviderFailure, ProviderFailureCode } from '../connection/provider-failure.ts'

/** What the caller is answered; all else is MESSAGING_SEND_FAILED. */
const CODES: Partial<Record<ProviderFailureCode, ErrorCode>> = {
  template_unknown: 'TEMPLATE_NOT_FOUND',
  template_not_approved: 'TEMPLATE_NOT_APPROVED',
  blocked: 'SEND_BLOCKED',
  params_rejected: 'TEMPLATE_PARAMS_REJECTED',
  recipient_invalid: 'RECIPIENT_INVALID',
  not_reachable: 'RECIPIENT_NOT_REACHABLE',
}

/** The contract's error for a message that the channel did not take. */
export function sendErrorOf(failure: ProviderFailure): ApiError {
  if (failure.code === 'uncertain') return mayBeSent(failure)
  const code = CODES[failure.code]
  if (!code) return sendFailed(failure)
  const { message, detail } = failure
  const named = code === 'TEMPLATE_NOT_APPROVED' ? 'status' : 'reason'
  return new ApiError(code, {
    message,
    cause: failure,
    ...(detail === null ? {} : { details: { [named]: detail } }),
  })
}

/** MESSAGING_SEND_FAILED when certainly nothing has left. */
export function sendFailed(failure: ProviderFailure): ApiError {
  const { message, retryAfterMs } = failure
  return new ApiError('MESSAGING_SEND_FAILED', {
    message: `${message} Nothing was sent.`,
    cause: failure,
    ...(retryAfterMs === null ? {} : { details: wait(Math.max(1, Math.ceil(retryAfterMs / 1_000))) }),
  })
}

/** MESSAGING_SEND_FAILED when nobody knows. */
export const mayBeSent = (cause?: unknown): ApiError =>
  new ApiError('MESSAGING_SEND_FAILED', {
    message:
      'The channel did not say whether it took the message: it may have been sent. A repetition with the same Idempotency-Key never sends it a second time: it answers what the channel has confirmed since. To send it in any case, use another key.',
    details: wait(60),
    cause,
  })

/** service-api, "Limits": the header Retry-After is for 429, and our own 503. */
const wait = (seconds: number): Record<string, string> => ({ retryAfterSeconds: String(seconds) })
