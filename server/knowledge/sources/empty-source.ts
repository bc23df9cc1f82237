import { setImmediate } from 'node:timers/promises'
import { sql } from 'kysely'
import { REMOVE_FILES, type RemoveFiles } from '../../agents/jobs.ts'
import type { Context } from '../../context.ts'
import type { Db, Trx } from '../../platform/db/database.ts'
import { ownRow } from '../../platform/db/refs.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import { deleteVectors } from '../vectors/vectors.ts'
import { folderOf } from './files.ts'
import type { SourceRow } from './queries.ts'

type Deps = Pick<Context, 'db' | 'jobs'>
type Doomed = Pick<SourceRow, 'id' | 'account_id' | 'agent_id' | 'type'>

/** The embedded database deletes this many rows in 10 ms, even with vectors of 1,536 numbers. */
export const ROWS_AT_ONCE = 500

const LEASE_SECONDS = 10
const RENEW_MS = 3_000
/** The end of the process waits for this recurring job, so it leaves the rest for the next time. */
const RESUME_MS = 5_000

/** The time until which a process that has just started or continued a deletion keeps it from others. */
export const leaseEnd = sql<Date>`now() + ${sql.lit(LEASE_SECONDS)} * interval '1 second'`

/** Deletes the rows of a source that is no longer used in small steps, and then the source. */
export async function emptySource({ db, jobs }: Deps, source: Doomed): Promise<void> {
  const { id, account_id } = source
  const renewal = setInterval(() => void keepLease(db, source).catch(() => {}), RENEW_MS)
  try {
    while ((await deleteVectors(db, source, ROWS_AT_ONCE)) === ROWS_AT_ONCE) await setImmediate()
    await inSteps((from: Chunk) => deleteChunks(db, account_id, id, from), { version: -1, ordinal: -1 })
    await transact(db, (trx) => removeSource(trx, jobs, source))
  } finally {
    clearInterval(renewal)
  }
}

/** Deletes the source itself with its remaining chunks. A job deletes its files. */
export async function removeSource(trx: Trx, jobs: Context['jobs'], source: Doomed): Promise<void> {
  const { id, account_id, agent_id, type } = source
  await trx.deleteFrom('sources').where('account_id', '=', account_id).where('id', '=', id).execute()
  // A training may have stored some until the row was locked.
  await deleteVectors(trx, source)
  if (type !== 'file') return
  await jobs.enqueue<RemoveFiles>(trx, REMOVE_FILES, {
    folder: folderOf({ accountId: account_id, agentId: agent_id }, id),
  })
}

/** Continues deletions whose process has ended. Returns the number of deleted sources. Several processes may run it. */
export async function resumeDeletions({ db, jobs }: Deps): Promise<number> {
  const begun = performance.now()
  let gone = 0
  while (performance.now() - begun < RESUME_MS) {
    const source = await claimDeletion(db)
    if (!source) break
    await emptySource({ db, jobs }, source)
    gone++
  }
  return gone
}

/** Releases the deletions of the last process. It is called by a process that has the database to itself. */
export async function freeDeletions(db: Db): Promise<void> {
  await db
    .updateTable('sources')
    .set({ deletion_held_until: null })
    .where('status', '=', 'toBeDeleted')
    .execute()
}

async function claimDeletion(db: Db): Promise<Doomed | undefined> {
  const { rows } = await sql<Doomed>`
    update sources set deletion_held_until = ${leaseEnd}
    where id = (
      select id from sources
      where status = 'toBeDeleted' and (deletion_held_until is null or deletion_held_until < now())
      limit 1 for no key update skip locked)
    returning id, account_id, agent_id, type`.execute(db)
  return rows[0]
}

async function keepLease(db: Db, { id, account_id }: Doomed): Promise<void> {
  await db
    .updateTable('sources')
    .set({ deletion_held_until: leaseEnd })
    .where(ownRow(account_id, id))
    .execute()
}

type Chunk = { version: number; ordinal: number }

// Each step begins where the last one ended, because a search from the start would scan the deleted rows.
async function inSteps<T>(step: (from: T) => Promise<T[]>, first: T): Promise<void> {
  for (let from = first; ; ) {
    await setImmediate()
    const gone = await step(from)
    from = gone.at(-1) ?? from
    if (gone.length < ROWS_AT_ONCE) return
  }
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
