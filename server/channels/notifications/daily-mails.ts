import { sql } from 'kysely'
import type { Context } from '../../context.ts'
import { PLAYGROUND } from '../../conversations/records/queries.ts'
import type { Db } from '../../platform/db/database.ts'
import { ofAgent } from '../../platform/db/refs.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import { type DailyMail, mailOfConversations, mailOfLeads } from './write-mail.ts'

export const SEND_DAILY_MAIL = 'send-daily-mail'
export type SendDailyMail = { accountId: AccountId; agentId: string; emails: string[]; mail: DailyMail }

type Settings = Partial<
  Record<'dailyLeadsCollected' | 'dailyConversations', { active: boolean; emails: string[] }>
>

const AGENTS_AT_ONCE = 200
/** The most lines of one mail. The others are only counted. */
const MAX_LINES = 100

/**
 * Enqueues the mails about the day before `now` (UTC) that agents' `notificationsSettings` ask for, once per day and
 * agent, however many processes run it. A day without events has no mail. Returns the number of mails.
 */
export async function planDailyMails(
  { db, jobs }: Pick<Context, 'db' | 'jobs'>,
  now = new Date(),
): Promise<number> {
  const day = new Date(now.getTime() - 86_400_000).toISOString().slice(0, 10)
  let planned = 0
  for (;;) {
    const { agents, mails } = await transact(db, async (trx) => {
      const { rows } = await sql<{ id: string; accountId: AccountId; name: string; settings: Settings }>`
        update agents set notified_day = ${day} where id in (
          select id from agents where notifications_settings is not null and notified_day is distinct from ${day}
          order by id limit ${AGENTS_AT_ONCE} for no key update skip locked)
        returning id, account_id as "accountId", name, notifications_settings as settings`.execute(trx)
      let count = 0
      for (const { id: agentId, accountId, name, settings } of rows) {
        for (const [kind, write] of KINDS) {
          const { active = false, emails = [] } = settings[kind] ?? {}
          const mail =
            active && emails.length > 0 ? await write(trx, { accountId, agentId, name, day }) : null
          if (!mail) continue
          await jobs.enqueue<SendDailyMail>(trx, SEND_DAILY_MAIL, { accountId, agentId, emails, mail })
          count++
        }
      }
      return { agents: rows.length, mails: count }
    })
    planned += mails
    if (agents < AGENTS_AT_ONCE) return planned
  }
}

type MailSubject = { accountId: AccountId; agentId: string; name: string; day: string }

const KINDS = [
  ['dailyLeadsCollected', leadsOf],
  ['dailyConversations', conversationsOf],
] as const

const within = (day: string) =>
  sql<boolean>`created_at >= ${day}::timestamp at time zone 'UTC'
    and created_at < (${day}::timestamp + interval '1 day') at time zone 'UTC'`

async function leadsOf(db: Db, { accountId, agentId, name, day }: MailSubject): Promise<DailyMail | null> {
  const leads = await db
    .selectFrom('leads')
    .select(['name', 'email', 'phone', (eb) => eb.fn.countAll<number>().over().as('total')])
    .where(ofAgent({ accountId, agentId }))
    .where(within(day))
    .orderBy('created_at')
    .limit(MAX_LINES)
    .execute()
  return leads[0] ? mailOfLeads(name, day, leads, Number(leads[0].total)) : null
}

async function conversationsOf(
  db: Db,
  { accountId, agentId, name, day }: MailSubject,
): Promise<DailyMail | null> {
  const conversations = await db
    .selectFrom('conversations')
    .select(['title', 'source', (eb) => eb.fn.countAll<number>().over().as('total')])
    .where(ofAgent({ accountId, agentId }))
    .where('transient', '=', false)
    .where('source', '<>', PLAYGROUND)
    .where(within(day))
    .orderBy('created_at')
    .limit(MAX_LINES)
    .execute()
  return conversations[0]
    ? mailOfConversations(name, day, conversations, Number(conversations[0].total))
    : null
}
