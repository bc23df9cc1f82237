import { sql } from 'kysely'
import type { Trx } from '../../platform/db/database.ts'

/** Changes folded at a time. */
const BATCH = 5_000

/**
 * The key of the advisory lock for updating the search index and for folding counts. The number is arbitrary, but must
 * be the same in every process.
 */
export const FOLDING = 7_275_395

/**
 * Merges appended changes of conversation_counts into the folded row of their key. The caller holds
 * the lock FOLDING, so that only one process does so at a time.
 */
export async function foldCounts(trx: Trx): Promise<void> {
  await sql`
    with fresh as (
      select id, account_id, agent_id, source, user_id, day from conversation_counts
      where not is_folded order by id limit ${BATCH}
    ), keys as (
      select distinct account_id, agent_id, source, user_id, day from fresh
    ), gone as (
      delete from conversation_counts as counts using keys
      where counts.agent_id = keys.agent_id and counts.user_id = keys.user_id and counts.source = keys.source
        and counts.day is not distinct from keys.day and (counts.is_folded or counts.id in (select id from fresh))
      returning counts.account_id, counts.agent_id, counts.source, counts.user_id, counts.day, counts.n
    )
    insert into conversation_counts (account_id, agent_id, source, user_id, day, n, is_folded)
    select account_id, agent_id, source, user_id, day, sum(n), true from gone
    group by account_id, agent_id, source, user_id, day having sum(n) <> 0`.execute(trx)
}
