import type { Context } from '../../context.ts'
import type { Task } from '../../platform/jobs/jobs.ts'
import type { RecurringJob } from '../../platform/jobs/recurring-jobs.ts'
import { deliverMail, operatorsMailRoute } from '../../platform/mail/deliver-mail.ts'
import { rowOf, smtpLogin } from '../email/connection/connection.ts'
import { planAnswerTestMails } from './answer-test-mails.ts'
import { planBudgetMails } from './budget-mails.ts'
import { planDailyMails, SEND_DAILY_MAIL, type SendDailyMail } from './daily-mails.ts'

type Deps = Pick<Context, 'db' | 'fetcher' | 'secrets' | 'config' | 'log'>

/** Sends through the mailbox of the agent, or else through the operator's server. */
async function send(
  { db, fetcher, secrets, config, log }: Deps,
  { accountId, agentId, emails, mail }: SendDailyMail,
  signal: AbortSignal,
): Promise<void> {
  const row = await rowOf(db, { accountId, agentId })
  const way = row
    ? {
        login: await smtpLogin({ config, db, fetcher, secrets }, row),
        from: row.address,
        allowed: config.allowedPrivateHosts,
      }
    : operatorsMailRoute(config)
  if (way) return deliverMail(way, { to: emails, ...mail }, signal)
  log.warn(
    { agent: agentId },
    'a mail was not sent: connect a mailbox to the agent, or set SMTP_URL and MAIL_FROM',
  )
}

export const notificationJobs = (ctx: Deps): Task<never>[] => [
  {
    name: SEND_DAILY_MAIL,
    concurrency: 2,
    retries: 5,
    run: (payload: SendDailyMail, { signal }: { signal: AbortSignal }) => send(ctx, payload, signal),
  } satisfies Task<SendDailyMail>,
]

export const notificationRecurringJobs = (ctx: Pick<Context, 'db' | 'jobs'>): RecurringJob[] => [
  { what: 'mails about budgets', everyMs: 60_000, run: () => planBudgetMails(ctx) },
  { what: 'mails about tests of answers', everyMs: 60_000, run: () => planAnswerTestMails(ctx) },
  { what: 'daily mails', everyMs: 600_000, run: () => planDailyMails(ctx) },
]
