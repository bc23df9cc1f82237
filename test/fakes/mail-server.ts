import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'

type ReceivedMail = { from: string; to: string[]; raw: string }

/**
 * What the server does with the next mail: it sends an SMTP error, or drops the connection after it has received the
 * data.
 */
type Trouble = { code: number; text: string; at?: 'MAIL FROM' | 'RCPT TO' } | 'cut after data'

/** A real SMTP server that keeps the mails that it receives. The user is `user` and the password is `secret`. */
export type MailServer = {
  port: number
  /** The received mails in order, including those whose sender got no confirmation. */
  mails: ReceivedMail[]
  /**
   * The faults for the next mails, in order. Errors are sent in reply to the recipient, or to the sender, before the
   * data of the mail.
   */
  troubles: Trouble[]
  /** Sets the handler that is called for each mail received. */
  onMail(handle: (mail: ReceivedMail) => void): void
  /** Stops accepting connections until `start` is called, which uses the same port. */
  stop(): Promise<void>
  start(): Promise<void>
  close(): Promise<void>
}

/** Starts the server. With `withTls`, it offers STARTTLS with an untrusted certificate. */
export async function startMailServer({ withTls = false } = {}): Promise<MailServer> {
  const mails: ReceivedMail[] = []
  const troubles: Trouble[] = []
  let handle: (mail: ReceivedMail) => void = () => {}
  let server: SMTPServer | null = null
  let port = 0

  const errorAt = (command: 'MAIL FROM' | 'RCPT TO'): Error | null => {
    const trouble = troubles[0]
    if (typeof trouble !== 'object' || (trouble.at ?? 'RCPT TO') !== command) return null
    troubles.shift()
    return Object.assign(new Error(trouble.text), { responseCode: trouble.code })
  }

  const open = async (): Promise<void> => {
    const opened = new SMTPServer({
      ...(withTls ? {} : { disabledCommands: ['STARTTLS'] }),
      authOptional: true,
      allowInsecureAuth: true,
      disableReverseLookup: true,
      closeTimeout: 100,
      onAuth(auth, _session, done) {
        if (auth.username === 'user' && auth.password === 'secret') done(null, { user: 'user' })
        else done(new Error('no such user'))
      },
      onMailFrom: (_address, _session, done) => done(errorAt('MAIL FROM')),
      onRcptTo: (_address, _session, done) => done(errorAt('RCPT TO')),
      onData(stream, session, done) {
        const chunks: Buffer[] = []
        stream.on('data', (chunk: Buffer) => chunks.push(chunk))
        stream.on('end', () => {
          const { mailFrom, rcptTo } = session.envelope
          const mail = {
            from: mailFrom ? mailFrom.address : '',
            to: rcptTo.map(({ address }) => address),
            raw: Buffer.concat(chunks).toString('latin1'),
          }
          mails.push(mail)
          if (troubles[0] === 'cut after data') {
            troubles.shift()
            for (const connection of opened.connections) connection._socket.destroy()
            return
          }
          handle(mail)
          done()
        })
      },
    })
    // Errors are ignored, because some tests cut connections.
    opened.on('error', () => {})
    await new Promise<void>((resolve) => opened.listen(port, '127.0.0.1', resolve))
    port = (opened.server.address() as AddressInfo).port
    server = opened
  }

  const stop = async (): Promise<void> => {
    const closing = server
    server = null
    if (closing) await new Promise<void>((resolve) => closing.close(() => resolve()))
  }

  await open()
  return {
    port,
    mails,
    troubles,
    onMail(wanted) {
      handle = wanted
    },
    stop,
    start: open,
    close: stop,
  }
}
