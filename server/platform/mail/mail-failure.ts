import { oneLine } from './mail-address.ts'

/** Why a mail server could not be used, in a sentence for the person who set it up. */
export class MailFailure extends Error {
  override name = 'MailFailure'
  /** The three-digit code of the server, if it gave one. */
  readonly responseCode: number | null

  constructor(message: string, { cause, responseCode }: { cause?: unknown; responseCode?: number } = {}) {
    super(message, { cause })
    this.responseCode = responseCode ?? null
  }
}

type ServerError = {
  code?: string
  command?: string
  message?: string
  response?: string
  responseText?: string
  responseCode?: number
  authenticationFailed?: boolean
  cause?: unknown
}

const TLS = /certificate|self-signed|self signed|ssl|tls|altname|wrong version number/i
const SENTENCES: [RegExp, string][] = [
  [/ECONNREFUSED/, 'refused the connection'],
  [/ETIMEDOUT|ESOCKETTIMEDOUT|CONNECT_TIMEOUT|GREETING_TIMEOUT|TIMEOUT|Timeout/, 'did not answer in time'],
  [/EHOSTUNREACH|ENETUNREACH/, 'could not be reached'],
  [/ECONNRESET|EPIPE|ECONNECTION|NoConnection|ClosedAfterConnect|closed/i, 'closed the connection'],
]
const MAX_ANSWER_LENGTH = 300

/** Returns a sentence that explains a library's error. `host` is the name that the person entered. */
export function describeMailError(error: unknown, host: string): MailFailure {
  if (error instanceof MailFailure) return error
  const {
    code = '',
    message = '',
    response,
    responseText,
    responseCode,
    authenticationFailed,
  } = (error ?? {}) as ServerError
  const options = { cause: error, ...(responseCode ? { responseCode } : {}) }
  const said = oneLine(responseText ?? response ?? '', MAX_ANSWER_LENGTH)
  if (authenticationFailed || code === 'EAUTH')
    return new MailFailure(`${host} refused the user name or the password${said && `: ${said}`}.`, options)
  if (responseCode || said) return new MailFailure(`${host} answered: ${said || responseCode}`, options)
  const words = `${code} ${message}`
  const known = SENTENCES.find(([pattern]) => pattern.test(words))
  if (known && !/ETLS/.test(code)) return new MailFailure(`${host} ${known[1]}.`, options)
  if (TLS.test(words))
    return new MailFailure(`${host} offers no secure connection with a valid certificate.`, options)
  return new MailFailure(`${host} could not be used as a mail server.`, options)
}
