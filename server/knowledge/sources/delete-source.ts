import { holdAgent } from '../../agents/records/find-agent.ts'
import { bumpKnowledgeVersion } from '../../agents/records/knowledge-state.ts'
import type { Context } from '../../context.ts'
import type { Db, Trx } from '../../platform/db/database.ts'
import { ownRow, type SourceRef } from '../../platform/db/refs.ts'
import { json } from '../../platform/db/statements/json.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import { ApiError } from '../../platform/http/errors.ts'
import { emptySource, leaseEnd, ROWS_AT_ONCE, removeSource } from './empty-source.ts'
import { requireSource, type SourceRow } from './queries.ts'

/**
 * Deletes a source with its chunks and raises the knowledge version, so that answers no longer use it. Returns the
 * deleted row. Throws SOURCE_NOT_FOUND and SOURCE_ALREADY_PENDING_DELETION.
 */
export async function deleteSource(
  { db, jobs, solvedTickets }: Pick<Context, 'db' | 'jobs' | 'solvedTickets'>,
  ref: SourceRef,
): Promise<SourceRow> {
  await requireDeletable(db, ref)
  const large = await isLarge(db, ref)
  const source = await transact(db, async (trx) => {
    await holdAgent(trx, ref)
    const row = await requireDeletable(trx, ref, true)
    if (large) await markDeleted(trx, row)
    else await removeSource(trx, jobs, row)
    await bumpKnowledgeVersion(trx, ref)
    // A source that somebody deleted must not be created from its ticket again.
    if (row.content.ticketId !== undefined) await solvedTickets.exclude(trx, ref, row.content.ticketId)
    return row
  })
  if (large) await emptySource({ db, jobs }, source)
  return source
}

async function requireDeletable(db: Db, ref: SourceRef, lock = false): Promise<SourceRow> {
  const row = await requireSource(db, ref, lock)
  if (row.status === 'toBeDeleted') throw new ApiError('SOURCE_ALREADY_PENDING_DELETION')
  return row
}

async function isLarge(db: Db, { accountId, sourceId }: SourceRef): Promise<boolean> {
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
 * Takes a source out of answers and ends what is running for it. Its URL, its external id and its size are released at
 * once, so that another source can take its place before its chunks are deleted.
 */
export async function markDeleted(trx: Trx, { id, account_id }: SourceRow): Promise<void> {
  await trx
    .updateTable('sources')
    .set((eb) => ({
      status: 'toBeDeleted',
      error: null,
      content_version: eb('content_version', '+', 1),
      live_version: null,
      next_sync_at: null,
      deletion_held_until: leaseEnd,
      size: 0,
      url: null,
      external_id: null,
      message_id: null,
      content: json({}),
      updated_at: new Date(),
    }))
    .where(ownRow(account_id, id))
    .execute()
}
