import assert from 'node:assert/strict'
import { FetchFailure, type FetchFailureCode } from './fetch-failure.ts'

/** For tests: asserts that the work fails with a FetchFailure of this code, in one sentence. */
export async function failsWith(code: FetchFailureCode, work: Promise<unknown>): Promise<FetchFailure> {
  const error = await work.then(
    () => assert.fail(`expected ${code}`),
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof FetchFailure, String(error))
  assert.equal(error.code, code, error.message)
  assert.match(error.message, /^[A-Z0-9].*\.$/i)
  return error
}
