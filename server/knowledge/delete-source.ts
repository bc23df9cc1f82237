import { setImmediate } from 'node:timers/promises'
import { sql } from 'kysely'
import { REMOVE_FILES, type RemoveFiles } from '../agents/tasks.ts'
import type { Context } from '../context.ts'
import type { Db } from '../db/database.ts'
import type { AccountId } from '../db/tables.ts'
import { transact } from '../db/transact.ts'
import { folderOf } from './files.ts'
import { moveKnowledge, requireSource, type SourceRow } from './queries.ts'
import { excludeTicket } from './tickets/exclude-ticket.ts'

/** The embedded database deletes so many rows, vectors of 1,536 numbers and all, in 10 ms. */
const ROWS_AT_ONCE = 500

/** Deletes a source with its chunks; answers read the moved knowledge version and no longer find it. */
export async function deleteSource(
  { db, jobs }: Pick<Context, 'db' | 'jobs'>,
  accountId: AccountId,
  agentId: string,
  sourceId: string,
): Promise<SourceRow> {
  await requireSource(db, accountId, agentId, sourceId)
  if (await isLarge(db, accountId, sourceId)) await empty(db, accountId, agentId, sourceId)
  return transact(db, async (trx) => {
    const row = await requireSource(trx, accountId, agentId, sourceId, true)
    await trx.deleteFrom('sources').where('account_id', '=', accountId).where('id', '=', sourceId).execute()
    await moveKnowledge(trx, accountId, agentId)
    if (row.type === 'ticket') await excludeTicket(trx, row)
    if (row.type === 'file') {
      await jobs.enqueue<RemoveFiles>(trx, REMOVE_FILES, { folder: folderOf(accountId, agentId, sourceId) })
    }
    return row
  })
}

async function isLarge(db: Db, accountId: AccountId, sourceId: string): Promise<boolean> {
  const beyond = await db
    .selectFrom('chunks')
    .select('id')
    .where('account_id', '=', accountId)
    .where('source_id', '=', sourceId)
    .offset(ROWS_AT_ONCE)
    .limit(1)
    .executeTakeFirst()
  return beyond !== undefined
}

/**
 * Takes a source out of answers and whatever works on it, and then its rows in small steps. One that is left over,
 * because the process ended meanwhile, says so and can be deleted again.
 */
async function empty(db: Db, accountId: AccountId, agentId: string, sourceId: string): Promise<void> {
  await transact(db, async (trx) => {
    await requireSource(trx, accountId, agentId, sourceId, true)
    await trx
      .updateTable('sources')
      .set((eb) => ({
        status: 'failed',
        error: 'It was being deleted when the service ended. Delete it again.',
        content_version: eb('content_version', '+', 1),
        live_version: null,
        next_sync_at: null,
      }))
      .where('account_id', '=', accountId)
      .where('id', '=', sourceId)
      .execute()
    await moveKnowledge(trx, accountId, agentId)
  })
  await inSteps((from: Vector) => deleteVectors(db, accountId, sourceId, from), { space: '', vector_key: '' })
  await inSteps((from: Chunk) => deleteChunks(db, accountId, sourceId, from), { version: -1, ordinal: -1 })
}

type Vector = { space: string; vector_key: string }
type Chunk = { version: number; ordinal: number }

// Each step begins where the last one ended: rows just deleted are still in the way of a search from the start.
async function inSteps<T>(step: (from: T) => Promise<T[]>, first: T): Promise<void> {
  for (let from = first; ; ) {
    await setImmediate()
    const gone = await step(from)
    from = gone.at(-1) ?? from
    if (gone.length < ROWS_AT_ONCE) return
  }
}

async function deleteVectors(
  db: Db,
  accountId: AccountId,
  sourceId: string,
  from: Vector,
): Promise<Vector[]> {
  const { rows } = await sql<Vector>`
    with step as materialized (
      select space, vector_key from chunk_vectors
      where account_id = ${accountId} and source_id = ${sourceId}
        and (space, vector_key) >= (${from.space}, ${from.vector_key})
      order by space, vector_key limit ${ROWS_AT_ONCE}),
    gone as (
      delete from chunk_vectors using step
      where chunk_vectors.source_id = ${sourceId} and chunk_vectors.space = step.space and chunk_vectors.vector_key = step.vector_key)
    select space, vector_key from step order by space, vector_key`.execute(db)
  return rows
}

async function deleteChunks(db: Db, accountId: AccountId, sourceId: string, from: Chunk): Promise<Chunk[]> {
  const { rows } = await sql<Chunk>`
    with step as materialized (
      select id, version, ordinal from chunks
      where account_id = ${accountId} and source_id = ${sourceId}
        and (version, ordinal) >= (${from.version}::int, ${from.ordinal}::int)
      order by version, ordinal limit ${ROWS_AT_ONCE}),
    gone as (delete from chunks using step where chunks.id = step.id)
    select version, ordinal from step order by version, ordinal`.execute(db)
  return rows
}
