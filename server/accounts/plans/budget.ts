import { sql } from 'kysely'
import type { Db } from '../../platform/db/database.ts'
import type { AgentRef } from '../../platform/db/refs.ts'
import type { Guardrails } from '../../platform/db/tables/agents.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import { accountOf } from '../records/accounts.ts'
import { creditState, creditsUsed, monthOf } from './credits.ts'

type Budget = Guardrails['budget']
type Spent = { dollars: number; unpricedCalls: number }

/** Returns what the language models of an agent have cost in the month of `now` (UTC). */
export async function spentInMonth(
  db: Db,
  { accountId, agentId }: AgentRef,
  now = new Date(),
): Promise<Spent> {
  const first = `${monthOf(now)}-01`
  const { rows } = await sql<Spent>`
    select coalesce(sum(dollars), 0)::double precision as dollars,
      coalesce(sum(unpriced_calls), 0)::bigint as "unpricedCalls"
    from model_usage where account_id = ${accountId} and agent_id = ${agentId}
      and day >= ${first}::date and day < ${first}::date + interval '1 month'`.execute(db)
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
