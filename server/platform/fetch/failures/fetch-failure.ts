export type FetchFailureCode =
  | 'blocked_address'
  | 'bad_url'
  | 'bad_request'
  | 'unsupported_scheme'
  | 'dns_failed'
  | 'timeout'
  | 'too_large'
  | 'too_many_redirects'
  | 'redirect_loop'
  | 'connect_failed'
  | 'tls_failed'
  | 'bad_response'
  | 'wrong_type'
  | 'browser_failed'
  | 'aborted'

const PASSING: readonly FetchFailureCode[] = [
  'timeout',
  'dns_failed',
  'connect_failed',
  'bad_response',
  'aborted',
  'browser_failed',
]

/** There was no connection to the server. */
const UNCONNECTED: readonly FetchFailureCode[] = [
  'blocked_address',
  'dns_failed',
  'connect_failed',
  'tls_failed',
]

/**
 * The only error of the guarded fetcher. `message` is a sentence for the person who gave the URL and contains no
 * resolved address; `cause` may contain one and is only for the operator's log.
 */
export class FetchFailure extends Error {
  override name = 'FetchFailure'
  readonly code: FetchFailureCode

  constructor(code: FetchFailureCode, message: string, cause?: unknown) {
    super(message, { cause })
    this.code = code
  }

  /** No request to this server can succeed for now. */
  get isUnconnected(): boolean {
    return UNCONNECTED.includes(this.code)
  }

  /** The same request may succeed later. */
  get isPassing(): boolean {
    return PASSING.includes(this.code)
  }
}
