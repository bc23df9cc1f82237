import { ImapFlow } from 'imapflow'
import { createTransport } from 'nodemailer'
import { type MailServers, startMailServers } from './mail-servers.ts'

export const ADDRESS = 'support@test.example'
export const QUESTION = 'How long is the warranty?'

/**
 * Starts Postfix and Dovecot. `suite` are options of tests, which are skipped with a sentence where these are not
 * installed.
 */
export async function startRealMail(options: Parameters<typeof startMailServers>[0] = {}) {
  const started = await startMailServers(options)
  const servers = (): MailServers => {
    if (typeof started === 'string') throw new Error(started)
    return started
  }

  async function within<T>(user: string, folder: string, act: (imap: ImapFlow) => Promise<T>): Promise<T> {
    const imap = new ImapFlow({
      host: '127.0.0.1',
      port: servers().ports.imap,
      auth: { user, pass: servers().password },
      secure: false,
      doSTARTTLS: false,
      logger: false,
    })
    await imap.connect()
    try {
      await imap.mailboxOpen(folder)
      return await act(imap)
    } finally {
      await imap.logout().catch(() => {})
    }
  }

  return {
    suite: typeof started === 'string' ? { skip: started } : {},
    servers,
    within,
    /** Returns the raw mails of a folder, oldest first. */
    mailsOf: (user: string, folder = 'INBOX'): Promise<string[]> =>
      within(user, folder, async (imap) => {
        const found: string[] = []
        for await (const { source } of imap.fetch('1:*', { source: true })) found.push(String(source ?? ''))
        return found
      }).catch(() => []),
    async empty(users: string[]): Promise<void> {
      for (const user of users)
        for (const folder of ['INBOX', 'Sent'])
          await within(user, folder, async (imap) => {
            await imap.messageDelete('1:*').catch(() => {})
          })
    },
    /** Gives a mail to Postfix. */
    async deliver(raw: string | Buffer, from = 'customer@people.example', to = ADDRESS): Promise<void> {
      const transport = createTransport({ host: '127.0.0.1', port: servers().ports.smtp, ignoreTLS: true })
      await transport.sendMail({ envelope: { from, to }, raw })
      transport.close()
    },
    async close(): Promise<void> {
      if (typeof started !== 'string') await started.close()
    },
  }
}
