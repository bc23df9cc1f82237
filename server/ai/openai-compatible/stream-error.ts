import { recordOf } from '../../platform/unknown-values.ts'
import { failureOfStatus, ModelFailure } from '../failures/model-failure.ts'

/** Returns the failure for an error in the middle of a stream, which is a text or an object as in an error response. */
export function failureOfError(said: unknown): ModelFailure {
  const error = recordOf(said).error ?? said
  const { code, status, type, message } = recordOf(error)
  const words = typeof error === 'string' ? error : [code, type, message].filter(Boolean).join(' ')
  const cause = new Error(words || JSON.stringify(error))
  const number = [code, status].map(Number).find((value) => value >= 400 && value < 600)
  if (number) return failureOfStatus(number, undefined, cause)
  if (/rate.?limit|quota|too.many.requests/i.test(words)) return failureOfStatus(429, undefined, cause)
  if (/invalid_request|authentication|permission|context.{0,20}(length|size|window)/i.test(words)) {
    return failureOfStatus(400, undefined, cause)
  }
  return new ModelFailure('unavailable', cause)
}
