import { releaseCredits } from '../../accounts/plans/credits.ts'
import type { Db } from '../../platform/db/database.ts'
import { transact } from '../../platform/db/statements/transact.ts'

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
