export type ProviderFailureCode =
  /** Nothing was sent. Another attempt may succeed. */
  | 'unreachable'
  | 'limited'
  | 'unauthorized'
  /** The provider may have accepted it. */
  | 'uncertain'
  /** All other codes mean that the provider will never accept it. */
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

const OF_CONNECTION: readonly ProviderFailureCode[] = ['unreachable', 'unauthorized', 'uncertain']
const PASSING: readonly ProviderFailureCode[] = ['unreachable', 'limited', 'unauthorized']

type More = { retryAfterMs?: number | null; detail?: string; cause?: unknown }

/** A failed request to the provider. `message` is a sentence for the customer and contains no secrets. */
export class ProviderFailure extends Error {
  override name = 'ProviderFailure'
  readonly code: ProviderFailureCode
  readonly retryAfterMs: number | null
  /** A word for programs, such as the status of a template or the reason of a block. */
  readonly detail: string | null

  constructor(code: ProviderFailureCode, message: string, { retryAfterMs = null, detail, cause }: More = {}) {
    super(message, { cause })
    this.code = code
    this.retryAfterMs = retryAfterMs
    this.detail = detail ?? null
  }

  /** Returns whether it is about the connection, and not about one message or person. */
  get isOfConnection(): boolean {
    return OF_CONNECTION.includes(this.code)
  }

  /** Returns whether nothing was done and a later attempt may succeed. */
  get isPassing(): boolean {
    return PASSING.includes(this.code)
  }
}
