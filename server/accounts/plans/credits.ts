import { type RawBuilder, sql } from 'kysely'
import type { Purpose } from '../../ai/calls/call-use.ts'
import type { Db, Trx } from '../../platform/db/database.ts'
import { newId } from '../../platform/db/ids.ts'
import { type AgentRef, ownRow } from '../../platform/db/refs.ts'
import type { Guardrails } from '../../platform/db/tables/agents.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import { codeOf, messageOf } from '../../platform/unknown-values.ts'
import { accountOf } from '../records/accounts.ts'
import { planOf } from './plans.ts'

/** Returns the UTC month of a time as 'YYYY-MM'. Credits are whole numbers. */
export const monthOf = (time: Date): string => time.toISOString().slice(0, 7)

const nextMonth = (time: Date): Date => new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + 1, 1))

type CreditState = { limit: number | null; used: number; resetsAt: Date }

/**
 * The limits that the replies of an agent count against; `agentLimit` is null for an agent without a limit of its own.
 */
type Limits = {
  accountId: string
  agentId: string
  month: string
  /** The allowance of the account's plan, without credits granted on top; null means without limit. */
  allowance: number | null
  agentLimit: number | null
  accountSlot: number
  agentSlot: number
}

/** The SQLSTATE raised by the database function `refuse`, whose message is what was exhausted. */
const REFUSED = 'PY001'
type Exhausted = 'agent' | 'account'

/** Returns which limit was exhausted if that is why the statement was refused, else null. */
export function exhaustedIn(error: unknown): Exhausted | null {
  const message = codeOf(error) === REFUSED ? messageOf(error) : null
  return message === 'agent' || message === 'account' ? message : null
}

const SLOTS = 64
const anySlot = (): number => 1 + Math.floor(Math.random() * SLOTS)

export function limitsOf(owner: {
  accountId: AccountId
  plan: string
  agentId: string
  agentLimit: number | null
}): Limits {
  const { plan, ...rest } = owner
  const allowance = planOf(plan).creditsPerMonth
  return {
    ...rest,
    month: monthOf(new Date()),
    allowance,
    accountSlot: allowance === null ? anySlot() : 0,
    agentSlot: rest.agentLimit === null ? anySlot() : 0,
  }
}

/**
 * Reserves the credits of a reply of an agent, as the parts `entry`, `agent_use` and `account_use` of a statement.
 * `reply` is a query that returns a row with the columns `entryId`, `generationId`, `credits` and `entryKind`, which is
 * `trial` for playground runs, which are free and not counted. The last part, `reserved`, raises an error, and so undoes
 * the whole statement, when a limit would be exceeded.
 */
export const reserving = (p: Limits, reply: RawBuilder<unknown>) => sql`
  entry as (
    insert into credit_entries (id, account_id, agent_id, generation_id, kind, state, amount, month)
    select "entryId", ${p.accountId}::uuid, ${p.agentId}, "generationId", "entryKind", 'reserved', credits, ${p.month}
    from (${reply}) as reply
    returning amount
  ), ${counting(p)}`

/** The parts of a statement that count the amounts of its part `entry`, and raise an error when they exceed a limit. */
const counting = (p: Limits) => sql`
  agent_use as (
    ${raise(p, p.agentId, p.agentSlot, sql`${p.agentLimit}::integer`, sql`entry`)}
  ), account_use as (
    ${raise(p, p.accountId, p.accountSlot, limitOf(p), sql`entry cross join agent_use`)}
  ), reserved as (
    select case when not exists (select from agent_use) then refuse('agent')
      when not exists (select from account_use) then refuse('account') end
  )`

/** Adds the amounts of `entries` to one owner's use of the month unless that would exceed the limit. */
function raise(
  p: Limits,
  owner: string,
  slot: number,
  limit: RawBuilder<unknown>,
  entries: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const others = sql`coalesce((select sum(used) from credit_usage as other
    where other.account_id = ${p.accountId}::uuid and other.owner_id = ${owner} and other.month = ${p.month} and other.slot <> 0), 0)`
  // The planner cannot see this value. Otherwise it would simplify the statement for each slot, and so plan it anew
  // for each call.
  const hidden = sql`(select ${slot}::smallint)`
  return sql`
    insert into credit_usage (account_id, owner_id, month, slot, used)
    select ${p.accountId}::uuid, ${owner}, ${p.month}, ${slot}::smallint, sum(amount) from ${entries}
    having sum(amount) is not null and (${hidden} <> 0 or sum(amount) + ${others} <= ${limit})
    on conflict (owner_id, month, slot) do update set used = credit_usage.used + excluded.used
      where excluded.slot <> 0 or credit_usage.used + excluded.used + ${others} <= ${limit}
    returning used`
}

/** The allowance of the plan plus what was granted for the month. */
const limitOf = (p: Pick<Limits, 'allowance' | 'accountId' | 'month'>) => sql`
  (${p.allowance}::integer + coalesce((select sum(amount) from credit_entries
    where account_id = ${p.accountId}::uuid and month = ${p.month} and kind = 'grant'), 0))`

/**
 * The statement that settles the reservation of a generation: what it reserved is spent. With a plain comparison of the
 * state, PostgreSQL would look through all reserved entries while the table is small, and continue doing so.
 */
export const settling = (accountId: AccountId, generationId: string): RawBuilder<unknown> => sql`
  update credit_entries set state = 'settled' where account_id = ${accountId}
    and generation_id = ${generationId}::uuid and state is not distinct from 'reserved'`

/** Returns whether the generation was paid, which outlasts its conversation. */
export async function isSettled(db: Db, accountId: AccountId, generationId: string): Promise<boolean> {
  const entry = await db
    .selectFrom('credit_entries')
    .select('state')
    .where('account_id', '=', accountId)
    .where('generation_id', '=', generationId)
    .executeTakeFirst()
  return entry?.state === 'settled'
}

/** Releases the reservation of a generation that failed before its first token. A second call changes nothing. */
export async function releaseCredits(trx: Trx, accountId: AccountId, generationId: string): Promise<void> {
  const entry = await trx
    .updateTable('credit_entries')
    .set({ state: 'released' })
    .where('account_id', '=', accountId)
    .where('generation_id', '=', generationId)
    .where('state', '=', 'reserved')
    .returning(['agent_id', 'amount', 'month'])
    .executeTakeFirst()
  if (entry) await giveBack(trx, accountId, entry, entry.amount)
}

/**
 * Changes the reservation of a reply that another model gives at its own price. A second call changes nothing. Throws what
 * `exhaustedIn` recognises when the limits do not allow a higher price.
 */
export async function changeReservation(
  trx: Trx,
  limits: Limits,
  accountId: AccountId,
  generationId: string,
  credits: number,
): Promise<void> {
  const entry = await trx
    .selectFrom('credit_entries')
    .select(['id', 'agent_id', 'amount', 'month'])
    .where('account_id', '=', accountId)
    .where('generation_id', '=', generationId)
    .where('state', '=', 'reserved')
    .forUpdate()
    .executeTakeFirst()
  if (!entry || entry.amount === credits) return
  await trx
    .updateTable('credit_entries')
    .set({ amount: credits })
    .where(ownRow(accountId, entry.id))
    .execute()
  const more = credits - entry.amount
  if (more < 0) await giveBack(trx, accountId, entry, -more)
  else
    await sql`with entry as (select ${more}::integer as amount), ${counting(limits)} select from reserved`.execute(
      trx,
    )
}

async function giveBack(
  trx: Trx,
  accountId: AccountId,
  { agent_id, month }: { agent_id: string | null; month: string },
  amount: number,
): Promise<void> {
  // Update the agent's row first, as a reservation does; otherwise the two could deadlock.
  for (const owner of [agent_id ?? '', accountId]) {
    await trx
      .insertInto('credit_usage')
      .values({ account_id: accountId, owner_id: owner, month, slot: 0, used: -amount })
      .onConflict((conflict) =>
        conflict
          .columns(['owner_id', 'month', 'slot'])
          .doUpdateSet({ used: sql<number>`credit_usage.used + excluded.used` }),
      )
      .execute()
  }
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
    limit: await monthlyLimit(db, accountId, plan, month),
    used: await creditsUsed(db, accountId, accountId),
    resetsAt: nextMonth(now),
  }
}

async function monthlyLimit(
  db: Db,
  accountId: AccountId,
  plan: string,
  month: string,
): Promise<number | null> {
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

/** Returns the credits that an account or an agent has used this month, running replies included. */
export async function creditsUsed(db: Db, accountId: AccountId, ownerId: string): Promise<number> {
  const { used } = await db
    .selectFrom('credit_usage')
    .select((eb) => eb.fn.coalesce(eb.fn.sum<number>('used'), eb.lit(0)).as('used'))
    .where('account_id', '=', accountId)
    .where('owner_id', '=', ownerId)
    .where('month', '=', monthOf(new Date()))
    .executeTakeFirstOrThrow()
  return Number(used)
}

type Budget = Guardrails['budget']
type Spent = { dollars: number; unpricedCalls: number }

/** What the team tries out is counted, but is no part of a budget. */
const OF_THE_TEAM: readonly Purpose[] = ['playground', 'tests']

/**
 * Returns a query for what the models of an agent have cost in a month (`YYYY-MM`, UTC): answers to customers, calls
 * beside them, and embeddings.
 */
export function spendingIn(
  month: string,
  accountId: RawBuilder<unknown>,
  agentId: RawBuilder<unknown>,
): RawBuilder<Spent> {
  const first = `${month}-01`
  const isCounted = sql`account_id = ${accountId} and agent_id = ${agentId}
    and day >= ${first}::date and day < ${first}::date + interval '1 month'`
  return sql`
    select coalesce(sum(dollars), 0)::double precision as dollars,
      coalesce(sum(unpriced), 0)::bigint as "unpricedCalls"
    from (
      select dollars, unpriced_calls as unpriced from model_usage where ${isCounted}
      union all
      select dollars, unpriced_calls from model_side_usage
      where ${isCounted} and purpose <> all(${OF_THE_TEAM}::text[])
      union all
      select dollars, 0 from embedding_usage where ${isCounted} and kind <> 'trials') as spent`
}

/** Returns what the models of an agent have cost in the month of `now` (UTC). */
export async function spentInMonth(
  db: Db,
  { accountId, agentId }: AgentRef,
  now = new Date(),
): Promise<Spent> {
  const { rows } = await spendingIn(monthOf(now), sql`${accountId}::uuid`, sql`${agentId}`).execute(db)
  return rows[0] ?? { dollars: 0, unpricedCalls: 0 }
}

export function budgetState(budget: Budget, dollars: number): 'below' | 'alert' | 'reached' {
  if (!budget || dollars < budget.dollars * budget.alertShare) return 'below'
  return dollars < budget.dollars ? 'alert' : 'reached'
}

/** Returns whether models may no longer be called for an agent this month. */
export async function isBudgetUsedUp(db: Db, ref: AgentRef, budget: Budget): Promise<boolean> {
  if (budget?.atLimit !== 'stop') return false
  const { dollars } = await spentInMonth(db, ref)
  return dollars >= budget.dollars
}

/**
 * Returns whether an agent has credits left this month: neither its own limit, nor its account's, nor
 * its budget of money is used up.
 */
export async function hasCredits(
  db: Db,
  accountId: AccountId,
  { id, creditLimit, budget }: { id: string; creditLimit: number | null; budget: Budget | undefined },
): Promise<boolean> {
  const { plan } = await accountOf(db, accountId)
  const [{ limit, used }, usedByAgent] = await Promise.all([
    creditState(db, accountId, plan),
    creditLimit === null ? 0 : creditsUsed(db, accountId, id),
  ])
  if (await isBudgetUsedUp(db, { accountId, agentId: id }, budget ?? null)) return false
  return (limit === null || used < limit) && (creditLimit === null || usedByAgent < creditLimit)
}

export type Range = { first: Date; last: Date }
