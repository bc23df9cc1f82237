type NotionFailureCode =
  | 'unauthorized'
  | 'gone'
  | 'limited'
  | 'unreachable'
  | 'broken'
  | 'refused'
  | 'too_large'
  | 'not_connected'

const TRANSIENT: readonly NotionFailureCode[] = ['limited', 'unreachable', 'broken']

/** A failed request to the connected workspace. `message` is a sentence for the customer and contains no token. */
export class NotionFailure extends Error {
  override name = 'NotionFailure'
  readonly code: NotionFailureCode

  constructor(code: NotionFailureCode, message: string, cause?: unknown) {
    super(message, { cause })
    this.code = code
  }

  /** Another attempt may help. */
  get isTransient(): boolean {
    return TRANSIENT.includes(this.code)
  }
}
