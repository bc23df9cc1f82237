import { sql } from 'kysely'
import { budgetState, monthOf, spendingIn } from '../../accounts/plans/credits.ts'
import { noteBudgetTold } from '../../agents/guardrails/guardrails.ts'
import type { Context } from '../../context.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import type { Guardrails } from '../../platform/db/tables/agents.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import { SEND_DAILY_MAIL, type SendDailyMail } from './daily-mails.ts'
import { ownersOf } from './owners-of.ts'
import { mailOfBudget } from './write-mail.ts'

type Row = {
  id: string
  accountId: AccountId
  name: string
  budget: NonNullable<Guardrails['budget']>
  told: string | null
  dollars: number
}

/**
 * Enqueues mails to the owners of accounts whose agents have spent the share of the alert or all of their budget, once a
 * month and step, however many processes run it. Returns the number of mails.
 */
export async function planBudgetMails(
  { db, jobs }: Pick<Context, 'db' | 'jobs'>,
  now = new Date(),
): Promise<number> {
  const month = monthOf(now)
  return transact(db, async (trx) => {
    const { rows } = await sql<Row>`
      select id, account_id as "accountId", name, guardrails -> 'budget' as budget, budget_told as told, spent.dollars
      from agents cross join lateral (${spendingIn(month, sql.ref('agents.account_id'), sql.ref('agents.id'))}) as spent
      where jsonb_typeof(guardrails -> 'budget') = 'object' and budget_told is distinct from ${`${month} reached`}
        and spent.dollars >= (guardrails #>> '{budget,dollars}')::double precision
          * (guardrails #>> '{budget,alertShare}')::double precision
      order by id for no key update of agents skip locked`.execute(trx)
    let planned = 0
    for (const { id: agentId, accountId, name, budget, told, dollars } of rows) {
      const state = budgetState(budget, dollars)
      const step = `${month} ${state}`
      if (state === 'below' || step === told) continue
      await noteBudgetTold(trx, { accountId, agentId }, step)
      const emails = await ownersOf(trx, accountId)
      if (emails.length === 0) continue
      const mail = mailOfBudget(name, budget, { dollars, state })
      await jobs.enqueue<SendDailyMail>(trx, SEND_DAILY_MAIL, { accountId, agentId, emails, mail })
      planned++
    }
    return planned
  })
}
