import { recordOf } from '../../platform/unknown-values.ts'

const SENTENCES = {
  timeout: 'The model provider did not respond in time.',
  unavailable: 'The model provider could not be reached or failed.',
  rate_limited: 'The model provider accepts no more requests at the moment.',
  rejected: 'The model provider refused the request. Check its key, model name and limits.',
  invalid_response: 'The response of the model provider cannot be read.',
  aborted: 'The answer was stopped.',
} as const

export type ModelFailureKind = keyof typeof SENTENCES

/** Any error of a provider. The message is ours and safe to show; `cause` is for the log only. */
export class ModelFailure extends Error {
  override name = 'ModelFailure'
  readonly kind: ModelFailureKind
  /** How long the provider asked us to wait, in milliseconds. */
  readonly retryAfterMs: number | null
  /** The status with which the provider answered, and its own words, for those who configure it. */
  answer: { status: number; words: string } | null = null

  constructor(kind: ModelFailureKind, cause?: unknown, retryAfterMs: number | null = null) {
    super(SENTENCES[kind], { cause })
    this.kind = kind
    this.retryAfterMs = retryAfterMs
  }

  get retryable(): boolean {
    return this.kind === 'unavailable' || this.kind === 'rate_limited'
  }
}

/** Returns the failure for an HTTP status of a provider; `error` is what the provider said. */
export function failureOfStatus(
  status: number,
  retryAfter: string | undefined,
  error?: unknown,
): ModelFailure {
  const wait = waitOf(retryAfter)
  const cause = new Error(adviceOf(status, describe(error)), { cause: error })
  // When a connection breaks during a successful response, the provider's package reports the error with the status of
  // that response.
  const isOutage = status < 400 || status === 408 || status >= 500
  const failure =
    status === 429
      ? new ModelFailure('rate_limited', cause, wait)
      : isOutage
        ? new ModelFailure('unavailable', cause, wait)
        : new ModelFailure('rejected', cause)
  if (status >= 400) failure.answer = { status, words: wordsOf(error) }
  return failure
}

/** Returns what an error of a provider says, without the JSON around it. */
function wordsOf(error: unknown): string {
  const { responseBody, message } = recordOf(error)
  const body = String(responseBody ?? message ?? '').replace(/^\d{3} /, '')
  try {
    const parsed = JSON.parse(body)
    const { error: inner } = parsed
    const said = inner?.message ?? parsed.message ?? parsed.detail ?? inner
    return typeof said === 'string' ? said : JSON.stringify(said ?? parsed)
  } catch {
    return body
  }
}

const MAX_WORDS = 300
const NETWORK =
  /\b(E(?:CONNREFUSED|NOTFOUND|AI_AGAIN|HOSTUNREACH|NETUNREACH|CONNRESET|PIPE)|[A-Z_]*CERT[A-Z_]*|UND_ERR_\w+)\b/

/** Returns the code of the network error behind a failure, or null if there is none. */
export const networkCodeOf = ({ cause }: ModelFailure): string | null =>
  NETWORK.exec(String(recordOf(cause).message))?.[1] ?? null

/** Describes a failure for those who manage the models. Customers must not see it. */
export function whatHappened(failure: ModelFailure): string {
  const { kind, answer } = failure
  if (answer) return `The model server answered ${answer.status}${answer.words ? `: ${answer.words}` : ''}`
  const code = networkCodeOf(failure)
  if (code) return `The model server cannot be reached (${code})`
  if (kind === 'timeout') return 'The model server did not answer in time'
  if (kind === 'invalid_response') return 'The model server sent a response that cannot be read'
  return 'The model server ended the answer before it was complete'
}

export const tooLong = (what: string): ModelFailure =>
  new ModelFailure('invalid_response', new Error(`${what} is longer than an answer may be`))

/** What an operator who reads the log can do about it. */
function adviceOf(status: number, said: string): string {
  if (status === 401 || status === 403)
    return 'Check the key of the model: apiKey, apiKeyEnv or OPENAI_API_KEY'
  if (status === 402) return 'Check the balance at the provider'
  if (status === 404) return 'Check name and baseUrl of the model, or OPENAI_MODEL and OPENAI_BASE_URL'
  if (status === 429) return 'Ask the provider for higher limits, or let some agents use another model'
  if (status === 413 || isTooLong(said)) {
    return 'Lower contextTokens or maxOutputTokens of the model, or start its server with a longer context'
  }
  if (status === 503 || status === 529)
    return 'The provider is overloaded, or its model is still being loaded'
  return 'The provider refused or failed'
}

/** Whether an error says that the prompt, with the room for the answer, exceeds the model's context. */
export const isTooLong = (said: string): boolean =>
  /context.{0,20}(?:length|size|window)|prompt is too long|too many tokens/i.test(said)

/** Parses Retry-After, which holds seconds or a date, to milliseconds. */
function waitOf(retryAfter: string | undefined): number | null {
  if (retryAfter === undefined) return null
  const seconds = Number(retryAfter)
  const wait = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(retryAfter) - Date.now()
  return Number.isFinite(wait) ? Math.max(0, wait) : null
}

/** Converts any error of a call to a ModelFailure whose cause contains none of the secrets. */
export function toModelFailure(error: unknown, secrets: readonly (string | null)[]): ModelFailure {
  const failure = classify(error)
  if (failure.cause !== undefined) failure.cause = safeCause(failure.cause, secrets)
  if (failure.answer) {
    const words = redact(failure.answer.words, secrets).replace(/\s+/g, ' ').trim()
    failure.answer = { ...failure.answer, words: words.slice(0, MAX_WORDS).toWellFormed() }
  }
  return failure
}

/** A failure that is one already keeps its cause, from which the doctor makes its sentence. */
export const asFailure = (error: unknown): ModelFailure =>
  error instanceof ModelFailure ? error : toModelFailure(error, [])

function classify(error: unknown): ModelFailure {
  // When we aborted the fetch, its cause holds the reason.
  for (let one = error, depth = 0; one instanceof Error && depth < 4; one = one.cause, depth++) {
    if (one instanceof ModelFailure) return one
  }
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

const MAX_CAUSE_LENGTH = 2_000
/** The number of characters that are examined, because a provider may answer with megabytes. */
const MAX_READ = 50_000

/** Matches keys in the formats of known providers, anything after "Bearer", and passwords in URLs. */
const KEY_LIKE =
  /\b(?:sk|pk|gsk|xai|key)-[\w-]{6,}|\bAIza[\w-]{10,}|(?<=\bBearer\s{1,20})[^\s"',]+|(?<=\/\/)[^\s/@]+(?=@)/gi

/** Removes the given secrets and anything that looks like a key from the text, and cuts it at 2,000 characters. */
export function redact(text: string, secrets: readonly (string | null)[]): string {
  let clean = text.slice(0, MAX_READ)
  for (const secret of secrets) if (secret) clean = clean.replaceAll(secret, '[redacted]')
  clean = clean.replace(KEY_LIKE, '[redacted]')
  // The text may have been cut in the middle of a secret.
  const unsure = text.length > MAX_READ ? Math.max(0, ...secrets.map((secret) => secret?.length ?? 0)) : 0
  return clean.slice(0, Math.max(0, Math.min(MAX_CAUSE_LENGTH, clean.length - unsure)))
}

/**
 * Returns an error for the log with the messages of the given one and its causes, without secrets. The original is not
 * kept, because a provider's package stores the whole request in it.
 */
function safeCause(error: unknown, secrets: readonly (string | null)[]): Error {
  const said: string[] = []
  for (let one: unknown = error, depth = 0; one && depth < 4; depth++) {
    const text = describe(one)
    if (text !== '' && !said.includes(text)) said.push(text)
    one = recordOf(one).cause
  }
  const safe = new Error(redact(said.join(': '), secrets))
  safe.name = String(recordOf(error).name ?? 'Error')
  return safe
}

/** Describes an error, or another thrown value, without its causes. */
function describe(error: unknown): string {
  if (typeof error !== 'object' || error === null) return String(error)
  const { message, code, statusCode, responseBody } = recordOf(error)
  if (!(error instanceof Error)) return JSON.stringify(error)
  // When connections to several addresses fail, the error has no message.
  return [statusCode, message || code, responseBody === message ? '' : responseBody].filter(Boolean).join(' ')
}
