import { type OutgoingHttpHeaders, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { ApiError, type ErrorCode } from '../errors.ts'
import type { RateWindow } from '../limits/rate-limit.ts'
import type { PresentError } from './render-error.ts'

/** The response to a request that is refused before any hook runs, with every header that a hook would set. */
export type EarlyRefusal = { error: ApiError; headers: OutgoingHttpHeaders }

type Surroundings = { requestId: string; secure: OutgoingHttpHeaders; window: RateWindow }

/** Creates the refusal. The request does not count against a rate limit, because its key is not known. */
export function refuseEarly(
  code: ErrorCode,
  { requestId, secure, window: { limit, windowMs } }: Surroundings,
): EarlyRefusal {
  const headers = {
    ...secure,
    'content-type': 'application/json; charset=utf-8',
    'x-request-id': requestId,
    'x-ratelimit-limit': limit,
    'x-ratelimit-remaining': limit,
    'x-ratelimit-reset': Date.now() + windowMs,
  }
  return { error: new ApiError(code), headers }
}

export function sendEarly(
  response: ServerResponse,
  { error, headers }: EarlyRefusal,
  present: PresentError = ({ status, body }) => ({ status, body }),
): void {
  const { status, body } = present(error, undefined)
  const text = JSON.stringify(body)
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(text) }).end(text)
}

/** Returns the code for an error of Node's HTTP parser or of its timeouts. */
export function codeOfClientError({ code }: { code?: string }): ErrorCode {
  if (code === 'HPE_HEADER_OVERFLOW') return 'REQUEST_HEADERS_TOO_LARGE'
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'REQUEST_TIMEOUT' : 'REQUEST_MALFORMED'
}

/** Sends the refusal on a connection whose request was not understood, and closes the connection. */
export function sendOnSocket(socket: Socket, { error: { status, body }, headers }: EarlyRefusal): void {
  // After a reset, nobody would receive the response.
  if (!socket.writable) return void socket.destroy()
  const text = JSON.stringify(body)
  const sent = { ...headers, 'content-length': Buffer.byteLength(text), connection: 'close' }
  const lines = Object.entries(sent).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${text}`)
  socket.destroySoon()
}
