import { sql } from 'kysely'
import { releaseCredits } from '../../accounts/plans/credits.ts'
import type { Db } from '../../platform/db/database.ts'
import { transact } from '../../platform/db/statements/transact.ts'

export type Balance = { balanced: boolean; difference: number }

/**
 * Checks the ledger. Every generation that has ended must have a settled entry with exactly the usage.credits that its
 * caller was told (none if there were none), and its message must exist unless a retry has replaced it. Nothing may
 * stay reserved for a generation that has ended, and each month's counter must be the sum of its entries. `difference`
 * is the sum of all deviations, in credits.
 */
export async function reconcile(db: Db): Promise<Balance> {
  const { rows } = await sql<{ difference: number }>`
    with told as (
      select coalesce(sum(abs(coalesce(entry.amount, 0) - generations.usage_credits)), 0) as deviation
      from generations left join credit_entries as entry
        on entry.generation_id = generations.id and entry.state = 'settled'
      where generations.status <> 'running'
    ), lost as (
      select coalesce(sum(usage_credits), 0) as deviation from generations
      where message_state = 'stored' and not exists (select from messages where messages.id = message_id)
    ), forgotten as (
      select coalesce(sum(amount), 0) as deviation from credit_entries
      where kind = 'usage' and state = 'reserved'
        and generation_id not in (select id from generations where status = 'running')
    ), owed as (
      select owner_id, month, sum(amount) as used from (
        select account_id::text as owner_id, month, amount, state, kind from credit_entries
        union all
        select agent_id, month, amount, state, kind from credit_entries
      ) as entries
      where kind = 'usage' and state in ('reserved', 'settled') group by owner_id, month
    ), counted as (
      select coalesce(sum(abs(coalesce(owed.used, 0) - coalesce(credit_usage.used, 0))), 0) as deviation
      from owed full join (
        select owner_id, month, sum(used) as used from credit_usage group by owner_id, month
      ) as credit_usage using (owner_id, month)
    )
    select (told.deviation + lost.deviation + forgotten.deviation + counted.deviation)::bigint as difference
    from told, lost, forgotten, counted`.execute(db)
  const difference = rows[0]?.difference ?? 0
  return { balanced: difference === 0, difference }
}

const FORGOTTEN_AT_ONCE = 100

/**
 * Releases reservations of generations that no longer exist, because they were deleted with their agent or
 * conversation and their process died before it could settle them. Returns the number of reservations.
 */
export async function releaseForgotten(db: Db): Promise<number> {
  const forgotten = await db
    .selectFrom('credit_entries')
    .select(['account_id', 'generation_id'])
    .where('state', '=', 'reserved')
    .where((eb) =>
      eb.not(
        eb.exists(
          eb.selectFrom('generations').whereRef('generations.id', '=', 'credit_entries.generation_id'),
        ),
      ),
    )
    .limit(FORGOTTEN_AT_ONCE)
    .execute()
  for (const { account_id, generation_id } of forgotten)
    await transact(db, (trx) => releaseCredits(trx, account_id, generation_id ?? ''))
  return forgotten.length
}
