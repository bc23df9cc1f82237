export type ProviderFailureCode =
  /** Nothing has left; another try may help. */
  | 'unreachable'
  | 'limited'
  | 'unauthorized'
  /** It may have been taken. */
  | 'uncertain'
  /** The rest: the channel will never take it. */
  | 'outside_window'
  | 'recipient_invalid'
  | 'not_reachable'
  | 'template_unknown'
  | 'template_not_approved'
  | 'params_rejected'
  | 'blocked'
  | 'gone'
  | 'too_large'
  | 'refused'

const PASSING: readonly ProviderFailureCode[] = ['unreachable', 'limited', 'unauthorized']

type More = { retryAfterMs?: number | null; detail?: string; cause?: unknown }

/** What went wrong at the channel; `message` is a sentence for the customer and holds no secret. */
export class ProviderFailure extends Error {
  override name = 'ProviderFailure'
  readonly code: ProviderFailureCode
  readonly retryAfterMs: number | null
  /** One word for programs: a template's status, why somebody is blocked. */
  readonly detail: string | null

  constructor(code: ProviderFailureCode, message: string, { retryAfterMs = null, detail, cause }: More = {}) {
    super(message, { cause })
    this.code = code
    this.retryAfterMs = retryAfterMs
    this.detail = detail ?? null
  }

  /** Nothing was done, and a later try may get through. */
  get isPassing(): boolean {
    return PASSING.includes(this.code)
  }
}
