import { type OutgoingHttpHeaders, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { DatabaseUnavailable, isUnavailable } from '../../db/connections/database-errors.ts'
import { isPassing } from '../../db/statements/transact.ts'
import { codeOf, recordOf } from '../../unknown-values.ts'
import type { Endpoint } from '../contract.ts'
import { ApiError, bodyErrors, commonErrors, type ErrorCode, earlyErrors, postErrors } from '../errors.ts'
import type { RateWindow } from '../limits/rate-limit.ts'
import type { RawEndpoint } from '../raw-endpoint.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The contract of a route outside of the APIs. */
    raw?: RawEndpoint
  }
}

/** Returns the status and the body of the response to an error. */
export type PresentError = (
  error: ApiError,
  endpoint: Endpoint | undefined,
) => { status: number; body: unknown }

/** The contract's codes for requests that Fastify itself refuses before a handler runs. */
const FRAMEWORK: Record<string, ErrorCode> = {
  FST_ERR_CTP_INVALID_JSON_BODY: 'VALIDATION_INVALID_JSON',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'VALIDATION_INVALID_JSON',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'VALIDATION_INVALID_JSON',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'VALIDATION_UNSUPPORTED_MEDIA_TYPE',
  FST_ERR_CTP_BODY_TOO_LARGE: 'VALIDATION_BODY_TOO_LARGE',
  FST_REQ_FILE_TOO_LARGE: 'VALIDATION_BODY_TOO_LARGE',
  FST_INVALID_MULTIPART_CONTENT_TYPE: 'VALIDATION_UNSUPPORTED_MEDIA_TYPE',
}

const FOREIGN_KEY = '23503'
/** The errors of the file system and of PostgreSQL for a full disk. */
const NO_ROOM = new Set(['ENOSPC', 'EDQUOT', '53100'])

function toApiError(error: unknown, { raw, log }: FastifyRequest): ApiError {
  if (error instanceof ApiError) return error
  const { statusCode, constraint } = recordOf(error)
  const code = codeOf(error)
  if (code !== undefined && NO_ROOM.has(code)) {
    log.error({ err: error }, 'there is no room on the disk')
    return new ApiError('STORAGE_FULL', { cause: error })
  }
  if (isPassing(error) || isUnavailable(error)) {
    log.warn({ err: error }, 'the database could not run a query now')
    const message = error instanceof DatabaseUnavailable ? { message: error.message } : {}
    return new ApiError('SERVICE_OVERLOADED', { ...message, cause: error })
  }
  // The agent was deleted after it had been loaded.
  if (code === FOREIGN_KEY && String(constraint).endsWith('_agent_id_fkey'))
    return new ApiError('AGENT_NOT_FOUND', { cause: error })
  const known = code === undefined ? undefined : FRAMEWORK[code]
  if (known) return new ApiError(known, { cause: error })
  if (error instanceof SyntaxError && statusCode === 400)
    return new ApiError('VALIDATION_INVALID_JSON', { cause: error })
  if (code === 'ECONNRESET' && !raw.complete) {
    // The client has disconnected, so nobody gets the response.
    log.debug({ err: error }, 'the client broke its body off')
    return new ApiError('VALIDATION_INVALID_JSON', { cause: error })
  }
  log.error({ err: error }, 'unhandled error')
  return new ApiError('INTERNAL_SERVER_ERROR', { cause: error })
}

const asVersion2: PresentError = ({ status, body }) => ({ status, body })

/** Sends the error as the response. */
export function renderError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  strict: boolean,
  present = asVersion2,
): FastifyReply {
  let apiError = toApiError(error, request)
  const { endpoint, raw } = request.routeOptions.config
  const contract = endpoint ?? raw
  const codes = endpoint ? declared(endpoint) : new Set(raw?.errors)
  if (strict && contract && !codes.has(apiError.code)) {
    request.log.error({ code: apiError.code, endpoint: contract.name }, 'error code is not in the contract')
    apiError = new ApiError('INTERNAL_SERVER_ERROR', {
      message: `${contract.name} does not declare ${apiError.code}`,
    })
  }
  const { status, body } = present(apiError, endpoint)
  return reply.code(status).headers(apiError.headers).send(body)
}

/** Returns every code that the endpoint may respond with. */
export function declared(endpoint: Endpoint): Set<ErrorCode> {
  return new Set<ErrorCode>([
    ...earlyErrors,
    ...commonErrors,
    ...(endpoint.method === 'GET' ? [] : bodyErrors),
    ...(endpoint.method === 'POST' ? postErrors : []),
    ...endpoint.errors,
  ])
}

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
