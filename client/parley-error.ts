/** An answer of the service that says no. */
export class ParleyError extends Error {
  override name = 'ParleyError'
  /** As in the list of error codes; `HTTP_<status>` when something between here and the service answered. */
  readonly code: string
  readonly status: number
  /** Field path → sentence. */
  readonly details: Record<string, string> | undefined
  /** Milliseconds to wait before the next try, when the answer says so. */
  readonly retryAfterMs: number | undefined

  constructor(
    message: string,
    answer: {
      code: string
      status: number
      details?: Record<string, string>
      retryAfterMs?: number
    },
  ) {
    super(message)
    this.code = answer.code
    this.status = answer.status
    this.details = answer.details
    this.retryAfterMs = answer.retryAfterMs
  }

  /** Whether the very same request can succeed a moment later. */
  get canPass(): boolean {
    // The second: the first request with this key is still being answered.
    return this.status >= 500 || this.status === 429 || this.code === 'IDEMPOTENCY_KEY_REUSED'
  }
}

/** The error that a response with a status of 400 or more stands for; reads its body. */
export async function errorOf(response: Response): Promise<ParleyError> {
  const text = await response.text().catch(() => '')
  const { code, message, details } = errorIn(text)
  return new ParleyError(message ?? `The service answered with status ${response.status}.`, {
    code: code ?? `HTTP_${response.status}`,
    status: response.status,
    details,
    retryAfterMs: retryAfterOf(response.headers.get('retry-after')),
  })
}

type ErrorBody = { code?: string; message?: string; details?: Record<string, string> }

function errorIn(text: string): ErrorBody {
  try {
    return (JSON.parse(text) as { error?: ErrorBody } | null)?.error ?? {}
  } catch {
    return {}
  }
}

/** Retry-After is whole seconds or a date. */
function retryAfterOf(value: string | null): number | undefined {
  if (value === null) return undefined
  const seconds = Number(value)
  const ms = Number.isNaN(seconds) ? Date.parse(value) - Date.now() : seconds * 1000
  return Number.isNaN(ms) ? undefined : Math.max(0, ms)
}
