import { ParleyError } from '../../client/parley-error.ts'
import type { Problem } from './state.ts'
import { word } from './words.ts'

/** Describes an error to the visitor. The service's message is shown only if it is meant for visitors. */
export function problemOf(error: unknown, remedy: Problem['remedy']): Problem {
  if (!(error instanceof ParleyError)) {
    const sentence = navigator.onLine ? word('unreachable') : word('youAreOffline')
    return { sentence, remedy }
  }
  const { code, status, message } = error
  if (code === 'RATE_LIMIT_TOO_MANY_REQUESTS') return { sentence: message, remedy }
  if (code === 'VISITOR_NOT_SERVED') return { sentence: message, remedy: null }
  if (status === 503) return { sentence: word('shortBreak'), remedy }
  if (status >= 500) return { sentence: word('ourSide'), remedy }
  return { sentence: word('didNotWork'), remedy }
}
