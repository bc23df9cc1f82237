import { FetchFailure } from '../../../platform/fetch/failures/fetch-failure.ts'
import { recordOf } from '../../../platform/unknown-values.ts'
import { ProviderFailure, type ProviderFailureCode } from '../connection/provider-failure.ts'
import { type JsonObject, objectOf, text } from '../connection/untrusted-json.ts'

type KnownFailure = [ProviderFailureCode, string, detail?: string]

const LIMITED: KnownFailure = ['limited', 'The channel received too many requests. Try again later.']
const PARAMS: KnownFailure = ['params_rejected', 'The channel rejected the variables of the template.']
/** The provider accepts only templates when a person's last message is older than a day. */
export const OUTSIDE_WINDOW = 'The person last wrote more than 24 hours ago: only a template can be sent.'

const UNREACHABLE: KnownFailure = ['unreachable', 'The channel is temporarily unavailable.']
const EXPIRED: KnownFailure = ['unauthorized', 'The access token has expired. Connect the account again.']

/** Our code for each error code of the Cloud API: https://developers.facebook.com, "Error codes". */
const BY_CODE: Record<number, KnownFailure> = {
  0: ['unauthorized', 'The channel does not accept the access token. Connect the account again.'],
  1: UNREACHABLE,
  2: UNREACHABLE,
  3: ['unauthorized', 'The access token lacks a permission. Connect the account again.'],
  4: LIMITED,
  10: ['unauthorized', 'The access token lacks a permission. Connect the account again.'],
  190: EXPIRED,
  368: ['blocked', 'The business account is restricted for a violation of policy.', 'policy'],
  80007: LIMITED,
  130429: LIMITED,
  130472: ['blocked', 'The channel does not deliver this message to the recipient.', 'frequency'],
  130497: ['blocked', 'The business account may not write to people in this country.', 'country'],
  131000: UNREACHABLE,
  131005: ['unauthorized', 'The access token lacks a permission. Connect the account again.'],
  131008: PARAMS,
  131009: PARAMS,
  131016: UNREACHABLE,
  131021: ['recipient_invalid', 'Sender and recipient are the same number.'],
  131026: ['not_reachable', 'The recipient cannot be reached on this channel.'],
  131030: ['not_reachable', 'The recipient is not among the test numbers of the business account.'],
  131031: ['blocked', 'The business account is locked.', 'account_locked'],
  131042: ['blocked', 'The business account has a problem with its payment.', 'payment'],
  131047: ['outside_window', OUTSIDE_WINDOW],
  131048: ['blocked', 'The number can no longer send: too many people have reported it.', 'spam'],
  131049: ['blocked', 'The channel does not deliver this message to the recipient.', 'frequency'],
  131050: ['blocked', 'The recipient does not accept such messages.', 'opted_out'],
  131056: ['limited', 'Too many messages to the same recipient in a short time. Try again later.'],
  131057: UNREACHABLE,
  132000: PARAMS,
  132001: ['template_unknown', 'The template does not exist in this language.'],
  132005: PARAMS,
  132007: ['template_not_approved', 'The template violates a policy.', 'REJECTED'],
  132012: PARAMS,
  132015: ['template_not_approved', 'The template is paused for low quality.', 'PAUSED'],
  132016: ['template_not_approved', 'The template was disabled for low quality.', 'DISABLED'],
  132018: PARAMS,
  133004: UNREACHABLE,
  133010: ['refused', 'The number is not registered with the channel.'],
}

const MAX_WAIT_MS = 15 * 60_000

/** Returns the failure for a response that is not 2xx. */
export function failureOf(
  status: number,
  headers: Record<string, string>,
  body: JsonObject | null,
): ProviderFailure {
  const { code, message, error_data } = objectOf(body?.error)
  const details = text(objectOf(error_data).details)
  // The provider's message, for the log.
  const cause = new Error(
    `HTTP ${status} ${text(code)} ${text(message).slice(0, 300)} ${details.slice(0, 300)}`,
  )
  const seconds = Number(headers['retry-after'] ?? Number.NaN)
  const retryAfterMs = seconds >= 0 ? Math.min(MAX_WAIT_MS, seconds * 1_000) : null
  const [kind, sentence, detail] = known(Number(code)) ?? byStatus(status)
  return new ProviderFailure(kind, sentence, { retryAfterMs, cause, ...(detail ? { detail } : {}) })
}

/** Returns the failure for a failed status of a message. */
export function reasonOf(error: JsonObject): string {
  const named = known(Number(error.code))
  const own = text(objectOf(error.error_data).details) || text(error.title) || text(error.message)
  return (named?.[1] ?? `The channel did not deliver it: ${own || 'no reason was given'}.`).slice(0, 500)
}

const known = (code: number): KnownFailure | undefined =>
  BY_CODE[code] ?? (code >= 200 && code <= 299 ? BY_CODE[10] : undefined)

function byStatus(status: number): KnownFailure {
  if (status === 429) return LIMITED
  if (status >= 500 || status === 408) return UNREACHABLE
  if (status === 401) return EXPIRED
  if (status === 404) return ['gone', 'The channel does not know it (HTTP 404).']
  return ['refused', `The channel refused the request (HTTP ${status}).`]
}

const NEVER_LEFT = /^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/

/** Returns the failure for a request without a response, depending on whether it may have been accepted. */
export function failureOfFetch(error: unknown): ProviderFailure {
  if (!(error instanceof FetchFailure)) throw error
  const sentence = `The channel cannot be reached: ${error.message}`
  if (error.code === 'too_large') return new ProviderFailure('too_large', error.message, { cause: error })
  const mayHaveLeft =
    ['timeout', 'connect_failed', 'bad_response', 'aborted'].includes(error.code) &&
    !NEVER_LEFT.test(codeOf(error.cause))
  return new ProviderFailure(mayHaveLeft ? 'uncertain' : 'unreachable', sentence, { cause: error })
}

function codeOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors.at(-1))
  return String(recordOf(error).code ?? '')
}
