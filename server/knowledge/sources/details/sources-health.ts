import { type SqlBool, sql } from 'kysely'
import type { Static } from 'typebox'
import type { Db } from '../../../platform/db/database.ts'
import { type AgentRef, ofAgent } from '../../../platform/db/refs.ts'
import { EMBEDDED_LIMIT, passagesNearLimit } from '../../search/embedded-limit.ts'
import type { readSourcesHealth } from './contract.ts'

const MAX_SHOWN = 5

/** A website whose pages are all left out has no text either. */
const isTroubled = sql<SqlBool>`(status = 'failed' or (status = 'trained' and size = 0))`

/** Counts the sources of an agent and names the newest of those that it cannot answer from. */
export async function sourcesHealth(
  { db, embedded }: { db: Db; embedded: boolean },
  ref: AgentRef,
): Promise<Static<(typeof readSourcesHealth)['success']['schema']>> {
  const sources = db
    .selectFrom('sources')
    .where(ofAgent(ref))
    .where('left_out', '=', false)
    .where('status', '<>', 'toBeDeleted')
  const counts = await sources
    .select((eb) => [
      eb.fn.countAll<number>().as('count'),
      sql<number>`coalesce(sum(size), 0)::bigint`.as('size'),
      sql<number>`count(*) filter (where status in ('untrained', 'updated'))`.as('training'),
      sql<number>`count(*) filter (where ${isTroubled})`.as('troubled'),
    ])
    .executeTakeFirstOrThrow()
  const rows = await sources
    .select(['id', 'name', 'status', 'error'])
    .where(isTroubled)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(MAX_SHOWN)
    .execute()
  const passages = embedded ? await passagesNearLimit(db, ref) : null
  return {
    ...counts,
    ...(passages === null ? {} : { nearLimit: { passages, limit: EMBEDDED_LIMIT } }),
    data: rows.map(({ id, name, status, error }) => ({
      id,
      name,
      problem: status === 'failed' ? 'failed' : 'empty',
      reason: status === 'failed' ? error : null,
    })),
  }
}
