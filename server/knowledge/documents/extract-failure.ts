export type ExtractFailureCode =
  | 'encrypted'
  | 'no_text'
  | 'unknown_encoding'
  | 'broken'
  | 'too_large'
  | 'timeout'
  | 'out_of_memory'
  | 'crashed'
  | 'aborted'

/** The reason why a document could not be read. `message` is a sentence for the person who uploaded it. */
export class ExtractFailure extends Error {
  override name = 'ExtractFailure'
  readonly code: ExtractFailureCode

  constructor(code: ExtractFailureCode, message: string, cause?: unknown) {
    super(message, { cause })
    this.code = code
  }
}

export const TOO_MUCH_MEMORY = 'This file needs too much memory to read. Split it into smaller files.'
