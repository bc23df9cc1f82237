import { isIP } from 'node:net'
import type { ImapFlow } from 'imapflow'
import type { Login } from './connection.ts'
import { describeMailError } from './mail-failure.ts'
import { reachHost } from './reach-host.ts'

const CONNECT_MS = 15_000
const SILENCE_MS = 60_000
/** Of one answer of the server; the largest is a mail. */
const LARGEST_ANSWER = 72 * 1024 * 1024

/** A client that is logged in, without a mailbox open; throws MailFailure. The caller closes it. */
export async function openImap(login: Login, allowedPrivateHosts: readonly string[]): Promise<ImapFlow> {
  const { host, port, security, username, password } = login
  // Not at the start of the process: most have no mailbox to read.
  const imap = await import('imapflow')
  const client = new imap.ImapFlow({
    host: await reachHost(host, port, allowedPrivateHosts),
    port,
    ...(isIP(host) ? {} : { servername: host }),
    secure: security === 'tls',
    ...(security === 'tls' ? {} : { doSTARTTLS: security === 'starttls' }),
    auth: { user: username ?? '', pass: password ?? '' },
    logger: false,
    disableAutoIdle: true,
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    maxLineLength: 1024 * 1024,
    maxLiteralSize: LARGEST_ANSWER,
    maxResponseSize: 2 * LARGEST_ANSWER,
  })
  // What breaks later is told by the command that waits.
  client.on('error', () => {})
  try {
    await client.connect()
    return client
  } catch (error) {
    client.close()
    throw describeMailError(error, host)
  }
}
