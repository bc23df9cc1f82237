import { sql } from 'kysely'
import type { Db } from '../db/database.ts'

export type Balance = { balanced: boolean; difference: number }

/**
 * Proves the ledger: what was settled is what the messages say they cost (of agents that still exist), and
 * each month's counter is the sum of its entries. `difference` is the sum of all deviations, in credits.
 */
export async function reconcile(db: Db): Promise<Balance> {
  const { rows } = await sql<{ difference: number }>`
    with settled as (
      select agent_id, sum(amount) as credits from credit_entries
      where kind = 'usage' and state = 'settled' and agent_id in (select id from agents) group by agent_id
    ), spoken as (
      select agent_id, sum((metadata->>'credits')::integer) as credits from messages
      where role = 'assistant' group by agent_id
    ), owed as (
      select owner_id, month, sum(amount) as used from (
        select account_id::text as owner_id, month, amount, state, kind from credit_entries
        union all
        select agent_id, month, amount, state, kind from credit_entries
      ) as entries
      where kind = 'usage' and state in ('reserved', 'settled') group by owner_id, month
    )
    select (
      coalesce((select sum(abs(coalesce(settled.credits, 0) - coalesce(spoken.credits, 0)))
        from settled full join spoken using (agent_id)), 0)
      + coalesce((select sum(abs(coalesce(owed.used, 0) - coalesce(credit_usage.used, 0)))
        from owed full join credit_usage using (owner_id, month)), 0)
    )::bigint as difference`.execute(db)
  const difference = rows[0]?.difference ?? 0
  return { balanced: difference === 0, difference }
}
