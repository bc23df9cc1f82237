import MailComposer from 'nodemailer/lib/mail-composer'
import { rowOf, smtpLogin } from '../channels/email/connection.ts'
import { openSmtp } from '../channels/email/smtp.ts'
import type { Context } from '../context.ts'
import type { Task } from '../jobs/jobs.ts'
import { SEND_DAILY_MAIL, type SendDailyMail } from './daily-mails.ts'

type Needs = Pick<Context, 'db' | 'secrets' | 'config' | 'log'>

/** Sends through the mailbox of the agent, or else through the operator's server. */
async function send(
  { db, secrets, config, log }: Needs,
  { accountId, agentId, emails, mail }: SendDailyMail,
  signal: AbortSignal,
): Promise<void> {
  const row = await rowOf(db, accountId, agentId)
  const { smtp } = config
  if (!row && !smtp) {
    log.warn(
      { agent: agentId },
      'a daily mail was not sent: connect a mailbox to the agent, or set SMTP_URL and MAIL_FROM',
    )
    return
  }
  const way = row
    ? { login: await smtpLogin({ secrets }, row), from: row.address, allowed: config.allowedPrivateHosts }
    : smtp && { login: smtp.login, from: smtp.from, allowed: [smtp.login.host] }
  if (!way) return
  const raw = await new MailComposer({
    from: { address: way.from, name: 'Parley' },
    to: emails,
    subject: mail.subject.replaceAll(/\s+/g, ' ').slice(0, 200),
    text: mail.text,
    headers: { 'Auto-Submitted': 'auto-generated' },
    disableFileAccess: true,
    disableUrlAccess: true,
  })
    .compile()
    .build()
  const smtpConnection = await openSmtp(way.login, {
    address: way.from,
    allowedPrivateHosts: way.allowed,
    signal: AbortSignal.any([signal, AbortSignal.timeout(60_000)]),
  })
  try {
    await smtpConnection.send({ from: way.from, to: emails }, raw)
  } finally {
    smtpConnection.close()
  }
}

export const notificationTasks = (ctx: Needs): Task<never>[] => [
  {
    name: SEND_DAILY_MAIL,
    concurrency: 2,
    retries: 5,
    run: (payload: SendDailyMail, { signal }: { signal: AbortSignal }) => send(ctx, payload, signal),
  } as Task<never>,
]
