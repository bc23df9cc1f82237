import type { Context } from '../../context.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import type { Task } from '../../platform/jobs/jobs.ts'
import type { RecurringJob } from '../../platform/jobs/recurring-jobs.ts'
import { deliverMail, operatorsMailRoute } from '../../platform/mail/deliver-mail.ts'
import { dropStrangersEntries, recordAudit } from '../audit/audit.ts'
import { createLink, dropLink, LINK_MS, linkTo, openResetLinks } from '../links/links.ts'
import { lockMembers } from '../records/members.ts'
import { dropOldAttempts } from './passwords/attempts.ts'
import { memberByLogin } from './passwords/logins.ts'
import { dropOldSessions } from './sessions/sessions.ts'

export const SEND_RESET = 'send-password-reset'
export type SendReset = { email: string }

/**
 * A member is sent no more links than these at a time. The links of earlier mails continue working, so that somebody else
 * who asks for links as well cannot keep the member from using one.
 */
const MAX_OPEN_LINKS = 5

/** Sends a reset link to the member with this login address. Does nothing when there is none. */
async function sendReset(
  { db, config }: Pick<Context, 'db' | 'config'>,
  { email }: SendReset,
  signal: AbortSignal,
): Promise<void> {
  const way = operatorsMailRoute(config)
  const member = await memberByLogin(db, email)
  if (!member || !way || !config.publicUrl) return
  const link = await transact(db, async (trx) => {
    const accountId = member.account_id
    await lockMembers(trx, accountId)
    if ((await openResetLinks(trx, accountId, member.id)) >= MAX_OPEN_LINKS) return null
    const made = await createLink(trx, { accountId, kind: 'reset', createdBy: 'mail', memberId: member.id })
    await recordAudit(trx, { accountId, actor: 'nobody', action: 'password.ask-reset', target: member.id })
    return made
  })
  if (!link) return
  const mail = {
    to: [member.email],
    subject: 'Choose a new password',
    text: `Somebody, probably you, has asked for a new password for ${member.email}. Choose it here within ${LINK_MS.reset / 60_000} minutes:

${linkTo(config.publicUrl, 'reset', link.token)}

If it was not you, do nothing: your password stays as it is.
`,
  }
  await deliverMail(way, mail, signal).catch(async (error: unknown) => {
    // Nobody has received this link, and the next attempt sends a new one.
    await dropLink(db, member.account_id, link.row.id)
    throw error
  })
}

export const signInJobs = (ctx: Pick<Context, 'db' | 'config'>): Task<never>[] => [
  {
    name: SEND_RESET,
    concurrency: 2,
    retries: 3,
    run: (payload: SendReset, { signal }: { signal: AbortSignal }) => sendReset(ctx, payload, signal),
  },
]

export const signInRecurringJobs = ({ db }: Pick<Context, 'db'>): RecurringJob[] => [
  { what: 'ended sessions', everyMs: 3_600_000, run: () => dropOldSessions(db) },
  { what: 'counted passwords', everyMs: 3_600_000, run: () => dropOldAttempts(db) },
  { what: 'refused sign-ins of strangers', everyMs: 600_000, run: () => dropStrangersEntries(db) },
]
