import { sql } from 'kysely'
import type { Db } from '../../platform/db/database.ts'
import type { AgentRef } from '../../platform/db/refs.ts'
import type { Guardrails } from '../../platform/db/tables/agents.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import { accountOf } from '../records/accounts.ts'
import { creditState, creditsUsed, monthOf } from './credits.ts'
import type { Range } from './usage.ts'

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

type Counted = {
  calls: number
  inputTokens: number
  cachedTokens: number
  outputTokens: number
  reasoningTokens: number
  /** What is known of the price; null: nothing. */
  dollars: number | null
}

/**
 * Counts calls of a language model. Losing a count in a power failure does no harm, so the commit does not wait for the
 * disk, and answers of the same agent do not wait for each other.
 */
export async function countModelUse(
  db: Db,
  { accountId, agentId }: AgentRef,
  model: string,
  { calls, inputTokens, cachedTokens, outputTokens, reasoningTokens, dollars }: Counted,
): Promise<void> {
  await sql`
    with relaxed as materialized (select set_config('synchronous_commit', 'off', true))
    insert into model_usage as used
      (account_id, day, agent_id, model, calls, input_tokens, cached_tokens, output_tokens, reasoning_tokens, dollars,
        unpriced_calls)
    select ${accountId}::uuid, (now() at time zone 'utc')::date, ${agentId}, ${model}, ${calls}::bigint,
      ${inputTokens}::bigint, ${cachedTokens}::bigint, ${outputTokens}::bigint, ${reasoningTokens}::bigint,
      ${dollars}::double precision, ${dollars === null ? calls : 0}::bigint from relaxed
    on conflict (account_id, day, agent_id, model) do update
      set calls = used.calls + excluded.calls, input_tokens = used.input_tokens + excluded.input_tokens,
        cached_tokens = used.cached_tokens + excluded.cached_tokens,
        output_tokens = used.output_tokens + excluded.output_tokens,
        reasoning_tokens = used.reasoning_tokens + excluded.reasoning_tokens,
        dollars = coalesce(used.dollars + excluded.dollars, used.dollars, excluded.dollars),
        unpriced_calls = used.unpriced_calls + excluded.unpriced_calls`.execute(db)
}

type Used = Counted & {
  day: string
  agentId: string
  agentName: string | null
  model: string
  unpricedCalls: number
}

/** Returns what language models answered, by day and agent, oldest first. `only` restricts it to those agents. */
export async function modelsByDay(
  db: Db,
  accountId: AccountId,
  { first, last }: Range,
  only: string[] | null,
): Promise<Used[]> {
  const { rows } = await sql<Used>`
    select to_char(u.day, 'YYYY-MM-DD') as day, u.agent_id as "agentId", agents.name as "agentName", u.model, u.calls,
      u.input_tokens as "inputTokens", u.cached_tokens as "cachedTokens", u.output_tokens as "outputTokens",
      u.reasoning_tokens as "reasoningTokens", u.dollars,
      u.unpriced_calls as "unpricedCalls"
    from model_usage as u left join agents on agents.id = u.agent_id and agents.account_id = u.account_id
    where u.account_id = ${accountId} and u.day between ${first.toISOString().slice(0, 10)}::date
        and ${last.toISOString().slice(0, 10)}::date
      and (${only}::text[] is null or u.agent_id = any(${only}::text[]))
    order by u.day, u.agent_id, u.model`.execute(db)
  return rows
}
