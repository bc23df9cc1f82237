import { safeCause } from './redact.ts'

const SENTENCES = {
  timeout: 'The model provider did not answer in time.',
  unavailable: 'The model provider could not be reached or failed.',
  rate_limited: 'The model provider takes no more requests at the moment.',
  rejected: 'The model provider refused the request. Check its key, model name and limits.',
  invalid_response: 'The model provider sent an answer that cannot be read.',
  aborted: 'The answer was stopped.',
} as const

export type ModelFailureKind = keyof typeof SENTENCES

/** Whatever goes wrong with a provider. The message is ours and safe to show; `cause` is for the log only. */
export class ModelFailure extends Error {
  override name = 'ModelFailure'
  readonly kind: ModelFailureKind
  /** How long the provider asked to be left alone, in ms. */
  readonly retryAfterMs: number | null

  constructor(kind: ModelFailureKind, cause?: unknown, retryAfterMs: number | null = null) {
    super(SENTENCES[kind], { cause })
    this.kind = kind
    this.retryAfterMs = retryAfterMs
  }

  get retryable(): boolean {
    return this.kind === 'unavailable' || this.kind === 'rate_limited'
  }
}

/** The failure for an HTTP status of a provider. */
export function failureOfStatus(
  status: number,
  retryAfter: string | undefined,
  cause?: unknown,
): ModelFailure {
  const wait = waitOf(retryAfter)
  if (status === 429) return new ModelFailure('rate_limited', cause, wait)
  // A provider's package reports a connection that broke in a good answer with that answer's status.
  if (status < 400 || status === 408 || status >= 500) return new ModelFailure('unavailable', cause, wait)
  return new ModelFailure('rejected', cause)
}

/** Retry-After in ms: it is a number of seconds, or a date. */
function waitOf(retryAfter: string | undefined): number | null {
  if (retryAfter === undefined) return null
  const seconds = Number(retryAfter)
  const wait = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(retryAfter) - Date.now()
  return Number.isFinite(wait) ? Math.max(0, wait) : null
}

/** Any error of a call as a ModelFailure, whose cause holds none of the secrets. */
export function toModelFailure(error: unknown, secrets: readonly (string | null)[]): ModelFailure {
  const failure = classify(error)
  if (failure.cause !== undefined) failure.cause = safeCause(failure.cause, secrets)
  return failure
}

function classify(error: unknown): ModelFailure {
  if (error instanceof ModelFailure) return error
  const { statusCode, responseHeaders, name, code } = (error ?? {}) as {
    statusCode?: number
    responseHeaders?: Record<string, string>
    name?: string
    code?: string
  }
  if (typeof statusCode === 'number')
    return failureOfStatus(statusCode, responseHeaders?.['retry-after'], error)
  if (name === 'TimeoutError' || code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT') {
    return new ModelFailure('timeout', error)
  }
  if (name === 'AbortError') return new ModelFailure('aborted', error)
  if (name?.startsWith('AI_') && name !== 'AI_APICallError' && name !== 'AI_RetryError') {
    return new ModelFailure('invalid_response', error)
  }
  if (error instanceof SyntaxError) return new ModelFailure('invalid_response', error)
  return new ModelFailure('unavailable', error)
}
