import type { FetchFailure } from '../../../platform/fetch/failures/fetch-failure.ts'
import { NotionFailure } from './notion-failure.ts'

export type Answer =
  | { status: number; headers: Record<string, string>; bytes: Uint8Array }
  | { failure: FetchFailure }

/** Returns the JSON of a successful response, or its failure. */
export function problemOf(answer: Answer): { value: object } | { failure: NotionFailure } {
  if ('failure' in answer) {
    const { failure } = answer
    const code = failure.isPassing ? 'unreachable' : 'refused'
    return {
      failure: new NotionFailure(code, `The workspace cannot be reached: ${failure.message}`, failure),
    }
  }
  const { status, bytes } = answer
  if (status >= 200 && status < 300) {
    const value = parse(bytes)
    return value
      ? { value }
      : { failure: new NotionFailure('broken', 'The response of the workspace cannot be read.') }
  }
  return { failure: byStatus(status, parse(bytes)) }
}

function byStatus(status: number, body: object | null): NotionFailure {
  const { code, message } = { code: undefined, message: undefined, ...body }
  // The provider's message, for the log.
  const cause = new Error(`HTTP ${status} ${String(code ?? '')} ${String(message ?? '').slice(0, 300)}`)
  switch (status) {
    case 401:
      return new NotionFailure(
        'unauthorized',
        'The workspace does not accept the access token. Connect it again.',
        cause,
      )
    case 403:
      return new NotionFailure('refused', 'The access token may not read this page.', cause)
    case 404:
      return new NotionFailure(
        'gone',
        'The page does not exist, or is not shared with the connection.',
        cause,
      )
    case 429:
      return new NotionFailure('limited', 'The workspace received too many requests. Try again later.', cause)
    default:
      // The provider responds with 409 to conflicting writes and to temporary problems.
      return status >= 500 || status === 409 || status === 408
        ? new NotionFailure('unreachable', `The workspace answered with HTTP ${status}.`, cause)
        : new NotionFailure('refused', `The workspace refused the request (HTTP ${status}).`, cause)
  }
}

/** Returns the milliseconds to wait that the response asks for, if any. */
export function waitOf(answer: Answer): number | null {
  if ('failure' in answer) return null
  const seconds = Number(answer.headers['retry-after'] ?? Number.NaN)
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1_000 : null
}

function parse(bytes: Uint8Array): object | null {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes))
    return typeof value === 'object' && value !== null ? value : null
  } catch {
    return null
  }
}
