import { ApiError, type ErrorCode } from '../../../platform/http/errors.ts'
import type { ProviderFailure, ProviderFailureCode } from '../connection/provider-failure.ts'

/** The errors for the caller. All other codes are MESSAGING_SEND_FAILED. */
const CODES: Partial<Record<ProviderFailureCode, ErrorCode>> = {
  template_unknown: 'TEMPLATE_NOT_FOUND',
  template_not_approved: 'TEMPLATE_NOT_APPROVED',
  blocked: 'SEND_BLOCKED',
  params_rejected: 'TEMPLATE_PARAMS_REJECTED',
  recipient_invalid: 'RECIPIENT_INVALID',
  not_reachable: 'RECIPIENT_NOT_REACHABLE',
}

/** Returns the contract's error for a message that the provider did not accept. */
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

/** Returns MESSAGING_SEND_FAILED for a message that was certainly not sent. */
export function sendFailed(failure: ProviderFailure): ApiError {
  const { message, retryAfterMs } = failure
  return new ApiError('MESSAGING_SEND_FAILED', {
    message: `${message} Nothing was sent.`,
    cause: failure,
    ...(retryAfterMs === null ? {} : { details: wait(Math.max(1, Math.ceil(retryAfterMs / 1_000))) }),
  })
}

/** Returns MESSAGING_SEND_FAILED for a message that may have been sent. */
export const mayBeSent = (cause?: unknown): ApiError =>
  new ApiError('MESSAGING_SEND_FAILED', {
    message:
      'The channel did not say whether it took the message: it may have been sent. A repetition with the same Idempotency-Key never sends it a second time: it answers what the channel has confirmed since. To send it in any case, use another key.',
    details: wait(60),
    cause,
  })

/** In details, because only rate limits have the header Retry-After (service-api, "Limits"). */
const wait = (seconds: number): Record<string, string> => ({ retryAfterSeconds: String(seconds) })
