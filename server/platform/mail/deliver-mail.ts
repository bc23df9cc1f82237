import MailComposer from 'nodemailer/lib/mail-composer'
import type { Config } from '../../config.ts'
import { openSmtp } from './smtp.ts'

type MailRoute = {
  login: Parameters<typeof openSmtp>[0]
  from: string
  /** The private hosts that may be reached. */
  allowed: readonly string[]
}

/** Returns the operator's mail server; null when none is configured. */
export const operatorsMailRoute = ({ smtp }: Pick<Config, 'smtp'>): MailRoute | null =>
  smtp && { login: smtp.login, from: smtp.from, allowed: [smtp.login.host] }

/** Sends a mail of the service itself. Throws what openSmtp and its send throw. */
export async function deliverMail(
  { login, from, allowed }: MailRoute,
  { to, subject, text }: { to: string[]; subject: string; text: string },
  signal: AbortSignal,
): Promise<void> {
  const raw = await new MailComposer({
    from: { address: from, name: 'Parley' },
    to,
    subject: subject.replaceAll(/\s+/g, ' ').slice(0, 200),
    text,
    headers: { 'Auto-Submitted': 'auto-generated' },
    disableFileAccess: true,
    disableUrlAccess: true,
  })
    .compile()
    .build()
  const connection = await openSmtp(login, {
    address: from,
    allowedPrivateHosts: allowed,
    signal: AbortSignal.any([signal, AbortSignal.timeout(60_000)]),
  })
  try {
    await connection.send({ from, to }, raw)
  } finally {
    connection.close()
  }
}
