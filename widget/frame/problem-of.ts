import { ParleyError } from '../../client/parley-error.ts'
import type { Problem } from './state.ts'
import type { Appearance } from './types.ts'
import { shownLanguage, word } from './words.ts'

/** Whether the service will never accept this message as it is. */
export const isRefused = (error: unknown): error is ParleyError =>
  error instanceof ParleyError && [400, 409, 413, 422].includes(error.status)

/** Whether one of the files of a refused message is no longer there. */
export const isFileGone = ({ details = {} }: ParleyError): boolean =>
  Object.keys(details).some((path) => path.startsWith('attachments'))

/** Describes an error to the visitor. The service's own sentences are written for programs. */
export function problemOf(error: unknown, remedy: Problem['remedy'], appearance: Appearance | null): Problem {
  if (!(error instanceof ParleyError)) {
    const sentence = navigator.onLine ? word('unreachable') : word('youAreOffline')
    return { sentence, remedy }
  }
  const { code, status, details, retryAfterMs } = error
  if (code === 'VISITOR_NOT_SERVED') return { sentence: word('notServed'), remedy: null }
  if (status === 429) {
    const sentence = appearance?.limitMessage ?? word('tooMany')
    return {
      sentence: `${sentence} ${retryAfterMs ? word('tryAgainIn', fromNow(retryAfterMs)) : ''}`,
      remedy,
    }
  }
  if (isRefused(error)) {
    const isTooLong = status === 413 || details?.message !== undefined
    const sentence = isTooLong ? tooLong(appearance) : word(isFileGone(error) ? 'fileGone' : 'refused')
    return { sentence, remedy: null }
  }
  if (status === 503) return { sentence: word('shortBreak'), remedy }
  if (status >= 500) return { sentence: word('ourSide'), remedy }
  return { sentence: word('didNotWork'), remedy }
}

/** Says how long a message may be. */
export const tooLong = (appearance: Appearance | null): string =>
  word('tooLong', (appearance?.longestMessage ?? 0).toLocaleString(shownLanguage()))

const UNITS = [
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const

/** Returns a time to come, rounded up, such as "in 3 minutes". */
function fromNow(ms: number): string {
  const [unit, size] = UNITS.find(([, one]) => ms >= 2 * one) ?? UNITS[2]
  return new Intl.RelativeTimeFormat(shownLanguage()).format(Math.ceil(ms / size), unit)
}
