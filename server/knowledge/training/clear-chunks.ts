import { setImmediate } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Db, Trx } from '../../platform/db/database.ts'
import { ownRow } from '../../platform/db/refs.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import { dropUnusedVectors } from '../vectors/vectors.ts'

/** The most chunks in one transaction, whose locks block other work on the source. */
export const CHUNKS_AT_ONCE = 200

/**
 * Deletes the chunks of a source that are not live, in small steps, unless it is being processed. If the process
 * dies, the next training deletes the rest. It must not be used for websites, whose live chunks have many versions.
 */
export async function clearChunks(
  db: Db,
  accountId: AccountId,
  sourceId: string,
  { keepsVectors = false } = {},
): Promise<void> {
  for (;;) {
    const gone = await transact(db, (trx) => clearSome(trx, accountId, sourceId, keepsVectors))
    if (gone < CHUNKS_AT_ONCE) return
    await setImmediate()
  }
}

async function clearSome(
  trx: Trx,
  accountId: AccountId,
  sourceId: string,
  keepsVectors: boolean,
): Promise<number> {
  const source = await trx
    .selectFrom('sources')
    .select(['live_version', 'agent_id'])
    .where(ownRow(accountId, sourceId))
    .where('status', 'in', ['trained', 'failed'])
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (!source) return 0
  const gone = await dropChunks(trx, accountId, sourceId, source.live_version)
  if (gone < CHUNKS_AT_ONCE && !keepsVectors)
    await dropUnusedVectors(trx, { id: sourceId, account_id: accountId, agent_id: source.agent_id })
  return gone
}

/** Deletes some chunks of a source that are not live. Returns their number. The caller has locked the source. */
async function dropChunks(
  trx: Trx,
  accountId: AccountId,
  sourceId: string,
  live: number | null,
): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from chunks where account_id = ${accountId} and id in (
      select id from chunks
      where account_id = ${accountId} and source_id = ${sourceId}
        and (${live}::int is null or version > ${live} or retired_in <= ${live})
      limit ${sql.lit(CHUNKS_AT_ONCE)})`.execute(trx)
  return Number(numAffectedRows ?? 0)
}
