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
  originalCode?: string
  command?: string
  message?: string
  response?: string
  responseText?: string
  responseCode?: number
  authenticationFailed?: boolean
  /** The certificate that is for another name. */
  cert?: { subjectaltname?: string; subject?: { CN?: string } }
  cause?: unknown
}

/** What a failure is called by Node and the libraries, and the rest of the sentence about the host. */
const SENTENCES: [RegExp, string][] = [
  [
    /DEPTH_ZERO_SELF_SIGNED_CERT/,
    'has a certificate that it has signed itself. Use one of a public authority, or enter this certificate as the authority of the connection',
  ],
  [
    /SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_GET_ISSUER_CERT|CERT_UNTRUSTED|INVALID_CA/,
    'has a certificate of an authority that is not known here. Enter the certificate of the authority as that of the connection',
  ],
  [
    /UNABLE_TO_VERIFY_LEAF_SIGNATURE/,
    'has a certificate whose authority is not known here, or does not send the certificates in between. Have it send the whole chain, or enter the certificate of the authority as that of the connection',
  ],
  [/CERT_HAS_EXPIRED/, 'has a certificate that has expired. Have it renewed'],
  [/CERT_NOT_YET_VALID/, 'has a certificate that is not valid yet. Check the clocks of both machines'],
  [
    /WRONG_VERSION_NUMBER|wrong version number|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST/,
    'does not begin with TLS on this port. Choose STARTTLS, or the port for TLS',
  ],
  [
    /GREETING_TIMEOUT|Greeting never received/,
    'did not greet in time. If this port begins with TLS, choose TLS instead of STARTTLS',
  ],
  [
    /does not support STARTTLS|upgrading connection with STARTTLS/,
    'offers no STARTTLS on this port. Choose TLS and its port, if it has one',
  ],
  [
    /ERR_SSL|EPROTO|ETLS|CERT_|self-signed|self signed|certificate/i,
    'offers no secure connection with a valid certificate',
  ],
  [/ECONNREFUSED/, 'refused the connection'],
  [/ETIMEDOUT|ESOCKETTIMEDOUT|CONNECT_TIMEOUT|TIMEOUT|Timeout/, 'did not answer in time'],
  [/EHOSTUNREACH|ENETUNREACH/, 'could not be reached'],
  [/ECONNRESET|EPIPE|ECONNECTION|NoConnection|ClosedAfterConnect|closed/i, 'closed the connection'],
]
const MAX_ANSWER_LENGTH = 300
const MAX_NAMES_LENGTH = 200

/** Returns whether a library's error says that a server has refused who wanted to log in. */
export function isRefusedLogin(error: unknown): boolean {
  const { code, authenticationFailed } = (error ?? {}) as ServerError
  return authenticationFailed === true || code === 'EAUTH'
}

/** Returns a sentence that explains a library's error. `host` is the name that the person entered. */
export function describeMailError(error: unknown, host: string): MailFailure {
  if (error instanceof MailFailure) return error
  const {
    code = '',
    originalCode = '',
    message = '',
    response,
    responseText,
    responseCode,
    cert,
  } = (error ?? {}) as ServerError
  const options = { cause: error, ...(responseCode ? { responseCode } : {}) }
  const said = oneLine(responseText ?? response ?? '', MAX_ANSWER_LENGTH)
  if (isRefusedLogin(error))
    return new MailFailure(
      `${host} refused the user name or the password${said && `: ${said.replace(/\.+$/, '')}`}.`,
      options,
    )
  const isOfTls = code === 'ETLS'
  if ((responseCode || said) && !isOfTls)
    return new MailFailure(`${host} answered: ${said || responseCode}`, options)
  const words = `${originalCode} ${code} ${message}`
  if (/ALTNAME_INVALID/.test(words))
    return new MailFailure(
      `${host} has a certificate for ${namesIn(cert)}. Enter that name as the server, or have the certificate replaced.`,
      options,
    )
  const known = SENTENCES.find(([pattern]) => pattern.test(words))
  return new MailFailure(`${host} ${known?.[1] ?? 'could not be used as a mail server'}.`, options)
}

/** The names for which a certificate was issued. */
function namesIn(cert: ServerError['cert']): string {
  const names = (cert?.subjectaltname ?? '').replace(/\b(?:DNS|IP Address):/g, '')
  return oneLine(names || cert?.subject?.CN || 'another name', MAX_NAMES_LENGTH)
}
