import { errors } from 'undici'
import { FetchFailure, type FetchFailureCode } from './fetch-failure.ts'

const byCode: Record<string, [FetchFailureCode, string]> = {
  UND_ERR_CONNECT_TIMEOUT: ['timeout', 'did not accept a connection in time'],
  UND_ERR_HEADERS_TIMEOUT: ['timeout', 'did not answer in time'],
  UND_ERR_BODY_TIMEOUT: ['timeout', 'stopped sending before the answer was complete'],
  UND_ERR_HEADERS_OVERFLOW: ['bad_response', 'sent more headers than are accepted'],
  UND_ERR_SOCKET: ['bad_response', 'closed the connection before the answer was complete'],
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: ['bad_response', 'sent an answer of another length than it announced'],
  UND_ERR_RES_EXCEEDED_MAX_SIZE: ['too_large', 'sent more than is accepted'],
  ETIMEDOUT: ['timeout', 'did not accept a connection in time'],
  ECONNREFUSED: ['connect_failed', 'refused the connection'],
  ECONNRESET: ['connect_failed', 'closed the connection'],
}

const tlsCode =
  /^(ERR_TLS_|ERR_SSL_|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|EPROTO|ERR_OSSL_)/

/**
 * Converts an error of the connection to a FetchFailure whose sentence names the host that the caller already knows.
 */
export function describeFailure(error: unknown, host: string): FetchFailure {
  if (error instanceof FetchFailure) return error
  const code = codeOf(error)
  const known = Object.hasOwn(byCode, code) ? byCode[code] : undefined
  if (known) return new FetchFailure(known[0], `${host} ${known[1]}.`, error)
  if (tlsCode.test(code))
    return new FetchFailure('tls_failed', `${host} has no valid certificate for a secure connection.`, error)
  if (error instanceof errors.HTTPParserError)
    return new FetchFailure('bad_response', `${host} did not answer with HTTP.`, error)
  if (code === 'UND_ERR_INVALID_ARG')
    return new FetchFailure('bad_request', 'The request has a method or header that cannot be sent.', error)
  return new FetchFailure('connect_failed', `${host} could not be reached.`, error)
}

function codeOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors.at(-1))
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : ''
}
