/**
 * Why a child process gave no answer. `timeout`, `out_of_memory` and `too_large` are limits that it has reached;
 * `crashed` is an end that nobody can explain, so another attempt may help.
 */
export type ChildProcessFailureCode = 'timeout' | 'out_of_memory' | 'too_large' | 'crashed' | 'aborted'

export class ChildProcessFailure extends Error {
  override name = 'ApartFailure'
  readonly code: ChildProcessFailureCode

  constructor(code: ChildProcessFailureCode, message: string, cause?: unknown) {
    super(message, { cause })
    this.code = code
  }
}
