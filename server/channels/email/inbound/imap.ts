import { isIP } from 'node:net'
import type { ImapFlow } from 'imapflow'
import { MailFailure } from '../../../platform/mail/mail-failure.ts'
import { type Login, loginError, reachHost, trusting } from '../../../platform/mail/reach-host.ts'

const CONNECT_MS = 15_000
const IDLE_MS = 60_000
/** The time limit of one response of the server, of which a mail is the longest. */
const MAX_ANSWER_SIZE = 72 * 1024 * 1024

/**
 * Runs a function with a client that is logged in and has no mailbox open, and logs out. Throws MailFailure after
 * `maxMs` in total, since a server that sends something now and then never runs into a timeout of the socket; `giveTime` begins another limit.
 * `signal` aborts it with its own reason. Other errors are thrown as they are.
 */
export async function withImap<T>(
  login: Login,
  allowedPrivateHosts: readonly string[],
  { maxMs, signal }: { maxMs: number; signal?: AbortSignal },
  act: (client: ImapFlow, giveTime: (ms: number) => void) => Promise<T>,
): Promise<T> {
  const client = await clientOf(login, await reachHost(login.host, login.port, allowedPrivateHosts))
  let reason: unknown = null
  // Every pending command then fails.
  const end = (why: unknown): void => {
    reason ??= why
    client.close()
  }
  let timer = setTimeout(() => end(tooSlow(login.host, maxMs)), maxMs)
  const giveTime = (ms: number): void => {
    clearTimeout(timer)
    timer = setTimeout(() => end(tooSlow(login.host, ms)), ms)
  }
  const onAbort = (): void => end(signal?.reason)
  signal?.addEventListener('abort', onAbort)
  try {
    signal?.throwIfAborted()
    await client.connect().catch(async (error: unknown) => {
      throw await loginError(error, login)
    })
    const done = await act(client, giveTime)
    // Everything is done, so it does not matter how the connection ends, unless it was ended from here.
    await client.logout().catch(() => {})
    if (reason !== null) throw reason
    return done
  } catch (error) {
    throw reason ?? error
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
    client.close()
  }
}

const tooSlow = (host: string, ms: number): MailFailure =>
  new MailFailure(`${host} was too slow: it was given up after ${Math.ceil(ms / 1_000)} seconds.`)

async function clientOf(login: Login, address: string): Promise<ImapFlow> {
  const { host, port, security, username, password, accessToken } = login
  // It is not loaded at the start, because most processes have no mailbox to read.
  const imap = await import('imapflow')
  const client = new imap.ImapFlow({
    host: address,
    port,
    ...(isIP(host) ? {} : { servername: host }),
    secure: security === 'tls',
    ...(security === 'tls' ? {} : { doSTARTTLS: security === 'starttls' }),
    ...trusting(login),
    auth: accessToken
      ? { user: username ?? '', accessToken }
      : { user: username ?? '', pass: password ?? '' },
    logger: false,
    disableAutoIdle: true,
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: IDLE_MS,
    maxLineLength: 1024 * 1024,
    maxLiteralSize: MAX_ANSWER_SIZE,
    maxResponseSize: 2 * MAX_ANSWER_SIZE,
  })
  // A later failure is reported by the pending command.
  client.on('error', () => {})
  return client
}
