import { isIP } from 'node:net'
import { Readable } from 'node:stream'
import SMTPConnection, { type SentMessageInfo } from 'nodemailer/lib/smtp-connection'
import XOAuth2 from 'nodemailer/lib/xoauth2'
import { domainOf } from './mail-address.ts'
import { describeMailError, MailFailure } from './mail-failure.ts'
import { type Login, loginError, reachHost, trusting } from './reach-host.ts'

const CONNECT_MS = 15_000
const IDLE_MS = 30_000

type Smtp = {
  /** Asks whether mails from `address` are accepted, and sends none. Throws SendFailure. */
  probe(): Promise<void>
  /** Throws SendFailure. */
  send(envelope: { from: string; to: string[] }, raw: Buffer): Promise<SentMessageInfo>
  close(): void
}

/** How an attempt failed: refused for good, refused for now, or interrupted after the whole mail had been sent. */
export class SendFailure extends MailFailure {
  override name = 'SendFailure'
  readonly kind: 'refused' | 'retry' | 'unknown'
  /** Whether every other mail would have failed as well: the connection broke, or a login is missing. */
  readonly isOfConnection: boolean

  constructor({ message, cause, responseCode }: MailFailure, handedOver: boolean) {
    super(message, { cause, ...(responseCode === null ? {} : { responseCode }) })
    const { code, command, response = '' } = (cause ?? {}) as SmtpError
    this.kind = kindOf(responseCode, code, handedOver)
    this.isOfConnection =
      (responseCode === null && this.kind !== 'refused') ||
      (responseCode !== null && (ABOUT_LOGIN.has(responseCode) || command === 'MAIL FROM')) ||
      ABOUT_SENDER.test(response)
  }
}

type SmtpError = { code?: string; command?: string; response?: string }

/** The status codes of a sender's address that is not accepted (RFC 3463, 3.2), wherever the server says so. */
const ABOUT_SENDER = /^\d{3}[ -]5\.1\.[78]\b/

/** A missing login is a problem of the connection, not of the mail (RFC 4954, 6). */
const ABOUT_LOGIN = new Set([530, 534, 535, 538])

function kindOf(
  responseCode: number | null,
  code: string | undefined,
  handedOver: boolean,
): SendFailure['kind'] {
  if (responseCode !== null)
    return responseCode >= 500 && !ABOUT_LOGIN.has(responseCode) ? 'refused' : 'retry'
  // It was refused before it was sent, because of its size or its addresses.
  if (code === 'EMESSAGE' || code === 'EENVELOPE') return 'refused'
  return handedOver ? 'unknown' : 'retry'
}

/** The name of an authentication method, because the library lets only those send commands. */
const PROBE = 'PARLEY-PROBE'

type Session = { sendCommand(command: string): Promise<{ status: number; response: string }> }
type Refusal = { response: string; responseCode: number; command: string }

/**
 * Begins a mail from the address to itself and drops it. Many servers judge the sender only when they know a
 * recipient. Returns what the server refused.
 */
async function refusalOf(address: string, { sendCommand }: Session): Promise<Refusal | null> {
  const isAscii = /^[\x20-\x7e]*$/.test(address)
  const from = await sendCommand(`MAIL FROM:<${address}>${isAscii ? '' : ' SMTPUTF8'}`)
  const to = from.status < 400 ? await sendCommand(`RCPT TO:<${address}>`) : null
  await sendCommand('RSET')
  if (to === null) return { response: from.response, responseCode: from.status, command: 'MAIL FROM' }
  // A greylisting server answers the first attempt with a temporary error.
  return to.status < 500 ? null : { response: to.response, responseCode: to.status, command: 'RCPT TO' }
}

type Options = { address: string; allowedPrivateHosts: readonly string[]; signal: AbortSignal }

/** Connects and logs in. The caller closes the connection. Throws MailFailure. */
export async function openSmtp(
  login: Login,
  { address, allowedPrivateHosts, signal }: Options,
): Promise<Smtp> {
  const { host, port, security, username, password, accessToken } = login
  let refusal: Refusal | null = null
  const connection = new SMTPConnection({
    host: await reachHost(host, port, allowedPrivateHosts),
    port,
    // The certificate is issued for the name, not for the address.
    ...(isIP(host) ? {} : { servername: host }),
    secure: security === 'tls',
    requireTLS: security === 'starttls',
    ...trusting(login),
    ignoreTLS: security === 'none',
    name: domainOf(address),
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: IDLE_MS,
    logger: false,
    customAuth: {
      [PROBE]: async (session) => {
        refusal = await refusalOf(address, session)
      },
    },
  })
  let fail = (_error: unknown): void => {}
  const step = <T>(start: (done: (error: unknown, value: T) => void) => void): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      fail = reject
      if (signal.aborted) reject(new MailFailure(`${host} did not answer in time.`))
      else start((error, value) => (error ? reject(error) : resolve(value)))
    })
  const broke = (error: unknown): void => fail(error)
  connection.on('error', broke)
  connection.on('end', () => broke(new MailFailure(`${host} closed the connection.`)))
  const onAbort = (): void => {
    broke(new MailFailure(`${host} did not answer in time.`))
    connection.close()
  }
  signal.addEventListener('abort', onAbort)
  const close = (): void => {
    signal.removeEventListener('abort', onAbort)
    connection.close()
  }
  try {
    await step<void>((done) => connection.connect((error) => done(error, undefined)))
    if (username !== null) {
      const auth = accessToken
        ? { oauth2: new XOAuth2({ user: username, accessToken }) }
        : { credentials: { user: username, pass: password ?? '' } }
      await step<void>((done) => connection.login(auth, (error) => done(error, undefined)))
    }
  } catch (error) {
    close()
    throw describeMailError(await loginError(error, login), host)
  }
  return {
    close,
    async probe() {
      await step<void>((done) =>
        connection.login({ method: PROBE }, (error) => done(error ?? refusal, undefined)),
      ).catch((error: unknown) => {
        throw new SendFailure(describeMailError(error, host), false)
      })
    },
    async send(envelope, raw) {
      let handedOver = false
      // The content is read only when the server asks for it, which shows how far the attempt came.
      const body = Readable.from([raw], { objectMode: false })
      body.on('end', () => {
        handedOver = true
      })
      return step<SentMessageInfo>((done) =>
        connection.send({ ...envelope, size: raw.byteLength }, body, (error, info) => done(error, info)),
      ).catch((error: unknown) => {
        throw new SendFailure(describeMailError(error, host), handedOver)
      })
    },
  }
}
