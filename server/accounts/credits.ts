import { sql } from 'kysely'
import type { Db, Trx } from '../db/database.ts'
import { newId } from '../db/ids.ts'
import type { AccountId } from '../db/tables.ts'
import { planOf } from './plans.ts'

/** Credits are whole numbers; a month is UTC, 'YYYY-MM'. */
export const monthOf = (time: Date): string => time.toISOString().slice(0, 7)

export const nextMonth = (time: Date): Date =>
  new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + 1, 1))

export type CreditState = { limit: number | null; used: number; resetsAt: Date }

export type Reservation = {
  accountId: AccountId
  plan: string
  agentId: string
  agentLimit: number | null
  generationId: string
  credits: number
}

/**
 * Reserves a reply's credits in the caller's transaction. Answers what is exhausted, if anything is; then
 * the caller has to roll back. One statement: every turn of an account meets at its counter's row.
 */
export async function reserveCredits(trx: Trx, wanted: Reservation): Promise<'account' | 'agent' | null> {
  const { accountId, agentId, agentLimit, generationId, credits } = wanted
  const month = monthOf(new Date())
  const limit = await limitOf(trx, accountId, wanted.plan, month)
  if (agentLimit !== null && credits > agentLimit) return 'agent'
  if (limit !== null && credits > limit) return 'account'
  const { rows } = await sql<{ agent: boolean; account: boolean }>`
    with entry as (
      insert into credit_entries (id, account_id, agent_id, generation_id, kind, state, amount, month)
      values (${newId()}, ${accountId}, ${agentId}, ${generationId}, 'usage', 'reserved', ${credits}, ${month})
    ), agent as (${raise(accountId, agentId, month, credits, agentLimit)}
    ), account as (${raise(accountId, accountId, month, credits, limit)}
    )
    select exists (select from agent) as agent, exists (select from account) as account`.execute(trx)
  if (!rows[0]?.agent) return 'agent'
  return rows[0].account ? null : 'account'
}

/** The generation failed before its first token: the reservation is given back. A second call changes nothing. */
export async function releaseCredits(trx: Trx, accountId: AccountId, generationId: string): Promise<void> {
  const entry = await trx
    .updateTable('credit_entries')
    .set({ state: 'released' })
    .where('account_id', '=', accountId)
    .where('generation_id', '=', generationId)
    .where('state', '=', 'reserved')
    .returning(['agent_id', 'amount', 'month'])
    .executeTakeFirst()
  if (!entry) return
  // The agent's row first, as when they are reserved: else the two would wait for each other.
  for (const owner of [entry.agent_id ?? '', accountId]) {
    await trx
      .updateTable('credit_usage')
      .set((eb) => ({ used: eb('used', '-', entry.amount) }))
      .where('account_id', '=', accountId)
      .where('owner_id', '=', owner)
      .where('month', '=', entry.month)
      .execute()
  }
}

/** Adds to one owner's use of the month unless that would pass the limit; one row, compare and set. */
function raise(accountId: AccountId, ownerId: string, month: string, credits: number, limit: number | null) {
  return sql`
    insert into credit_usage (account_id, owner_id, month, used) values (${accountId}, ${ownerId}, ${month}, ${credits})
    on conflict (owner_id, month) do update set used = credit_usage.used + excluded.used
      where ${limit}::integer is null or credit_usage.used + excluded.used <= ${limit}::integer
    returning used`
}

/** The allowance of the plan plus what was granted for the month; null: without limit. */
async function limitOf(db: Db, accountId: AccountId, plan: string, month: string): Promise<number | null> {
  const allowance = planOf(plan).creditsPerMonth
  if (allowance === null) return null
  const { granted } = await db
    .selectFrom('credit_entries')
    .select((eb) => eb.fn.coalesce(eb.fn.sum<number>('amount'), eb.lit(0)).as('granted'))
    .where('account_id', '=', accountId)
    .where('month', '=', month)
    .where('kind', '=', 'grant')
    .executeTakeFirstOrThrow()
  return allowance + Number(granted)
}

/** Grants credits for the current month on top of the plan's allowance. */
export async function grantCredits(db: Db, accountId: AccountId, amount: number): Promise<void> {
  await db
    .insertInto('credit_entries')
    .values({
      id: newId(),
      account_id: accountId,
      agent_id: null,
      generation_id: null,
      kind: 'grant',
      state: 'settled',
      amount,
      month: monthOf(new Date()),
    })
    .execute()
}

export async function creditState(db: Db, accountId: AccountId, plan: string): Promise<CreditState> {
  const now = new Date()
  const month = monthOf(now)
  return {
    limit: await limitOf(db, accountId, plan, month),
    used: await creditsUsed(db, accountId, accountId),
    resetsAt: nextMonth(now),
  }
}

/** What an account or an agent has used this month, running replies included. */
export async function creditsUsed(db: Db, accountId: AccountId, ownerId: string): Promise<number> {
  const row = await db
    .selectFrom('credit_usage')
    .select('used')
    .where('account_id', '=', accountId)
    .where('owner_id', '=', ownerId)
    .where('month', '=', monthOf(new Date()))
    .executeTakeFirst()
  return row?.used ?? 0
}
