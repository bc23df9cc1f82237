import { type ErrorCode, errorCodes } from './error-codes.ts'

/** What the author of a refused change has not seen: the current object, and who changed it when. */
export type Changed = { current: unknown; changedBy?: string; changedAt?: string }

type Options = {
  /** Replaces the default sentence. */
  message?: string
  details?: Record<string, string>
  /** What a VERSION_MISMATCH says in its details. */
  changed?: Changed
  /** Additional response headers. */
  headers?: Record<string, string>
  cause?: unknown
}

/** The error type of the service: it may be thrown anywhere and is rendered in one place. */
export class ApiError extends Error {
  override name = 'ApiError'
  readonly code: ErrorCode
  readonly status: number
  readonly details: Record<string, string> | undefined
  readonly changed: Changed | undefined
  readonly headers: Record<string, string>

  constructor(code: ErrorCode, options: Options = {}) {
    super(options.message ?? errorCodes[code][1], { cause: options.cause })
    this.code = code
    this.status = errorCodes[code][0]
    this.details = options.details
    this.changed = options.changed
    this.headers = options.headers ?? {}
  }

  get body(): { error: { code: ErrorCode; message: string; details?: Record<string, string> | Changed } } {
    const { code, message } = this
    const details = this.changed ?? this.details
    return { error: details ? { code, message, details } : { code, message } }
  }
}

/** Returns VALIDATION_INVALID_BODY for one field, for a rule that a schema cannot express. */
export function invalidField(path: string, sentence: string): ApiError {
  return new ApiError('VALIDATION_INVALID_BODY', { details: { [path]: sentence } })
}
