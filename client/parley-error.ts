export type ChangedObject = {
  current?: unknown
  etag?: string | undefined
  changedBy?: string
  changedAt?: string
}

/** An error response of the service. */
export class ParleyError extends Error {
  override name = 'ParleyError'
  /** A code of the list of error codes, or `HTTP_<status>` when an intermediary such as a proxy sent the response. */
  readonly code: string
  readonly status: number
  /** Maps the path of each invalid field to a sentence about it. */
  readonly details: Record<string, string> | undefined
  /** With VERSION_MISMATCH: the object as it is now, its ETag, and who changed it. */
  readonly changed: ChangedObject | undefined
  /** Milliseconds to wait before the next try, if the response says so. */
  readonly retryAfterMs: number | undefined

  constructor(
    message: string,
    answer: {
      code: string
      status: number
      details?: Record<string, string> | undefined
      changed?: ChangedObject | undefined
      retryAfterMs?: number | undefined
    },
  ) {
    super(message)
    this.code = answer.code
    this.status = answer.status
    this.details = answer.details
    this.changed = answer.changed
    this.retryAfterMs = answer.retryAfterMs
  }

  /** Whether the same request may succeed a moment later. */
  get canPass(): boolean {
    // IDEMPOTENCY_KEY_REUSED may mean that the first request with this key is still in progress.
    return this.status >= 500 || this.status === 429 || this.code === 'IDEMPOTENCY_KEY_REUSED'
  }
}

/** Reads the body of a response with a status of 400 or more and returns it as an error. */
export async function errorOf(response: Response): Promise<ParleyError> {
  const text = await response.text().catch(() => '')
  const { code, message, details } = errorIn(text)
  return new ParleyError(message ?? `The service answered with status ${response.status}.`, {
    code: code ?? `HTTP_${response.status}`,
    status: response.status,
    ...(response.status === 412
      ? { changed: { ...details, etag: response.headers.get('etag') ?? undefined } }
      : { details }),
    retryAfterMs: retryAfterOf(response.headers.get('retry-after')),
  })
}

type ErrorBody = { code?: string; message?: string; details?: Record<string, string> }

function errorIn(text: string): ErrorBody {
  try {
    const body: { error?: ErrorBody } | null = JSON.parse(text)
    return body?.error ?? {}
  } catch {
    return {}
  }
}

/** Parses Retry-After, which is either whole seconds or a date. */
function retryAfterOf(value: string | null): number | undefined {
  if (value === null) return undefined
  const seconds = Number(value)
  const ms = Number.isNaN(seconds) ? Date.parse(value) - Date.now() : seconds * 1000
  return Number.isNaN(ms) ? undefined : Math.max(0, ms)
}
