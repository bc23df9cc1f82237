import type { Context } from '../../context.ts'
import { takeUntoldAlerts } from '../../conversations/playground/answer-tests/schedule/schedules.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import { SEND_DAILY_MAIL, type SendDailyMail } from './daily-mails.ts'
import { ownersOf } from './owners-of.ts'
import { mailOfAnswerTest } from './write-mail.ts'

/**
 * Enqueues mails to the owners of accounts about scheduled tests of answers that have fallen or could not be run, once
 * each, however many processes run it. Returns the number of mails.
 */
export async function planAnswerTestMails({ db, jobs }: Pick<Context, 'db' | 'jobs'>): Promise<number> {
  return transact(db, async (trx) => {
    let planned = 0
    for (const { accountId, agentId, name, alert } of await takeUntoldAlerts(trx)) {
      const emails = await ownersOf(trx, accountId)
      if (emails.length === 0) continue
      const mail = mailOfAnswerTest(name, alert)
      await jobs.enqueue<SendDailyMail>(trx, SEND_DAILY_MAIL, { accountId, agentId, emails, mail })
      planned++
    }
    return planned
  })
}
