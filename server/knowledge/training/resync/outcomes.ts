import type { Updateable } from 'kysely'
import { holdAgent } from '../../../agents/records/find-agent.ts'
import { bumpKnowledgeVersion } from '../../../agents/records/knowledge-state.ts'
import type { Db, Trx } from '../../../platform/db/database.ts'
import { ownRow } from '../../../platform/db/refs.ts'
import { transact } from '../../../platform/db/statements/transact.ts'
import type { SourcesTable } from '../../../platform/db/tables/knowledge.ts'
import type { Jobs } from '../../../platform/jobs/jobs.ts'
import type { SourceRow } from '../../sources/queries.ts'
import { clearChunks } from '../clear-chunks.ts'
import { TRAIN_SOURCE, type TrainSource } from '../enqueue-training.ts'
import type { Loaded } from '../load-content.ts'
import { recordedTraining } from '../training-columns.ts'
import { WEEK_MS } from './eligible.ts'

type Deps = { db: Db; jobs: Jobs }

const nextWeek = (): Date => new Date(Date.now() + WEEK_MS)

/** Nothing has changed, so the next check is in a week. A source that had failed is trained again. */
export async function keepVersion(db: Db, source: SourceRow, origin: Loaded['origin']): Promise<void> {
  await changeIdle(db, source, {
    next_sync_at: nextWeek(),
    ...recordedTraining('unchanged'),
    ...(origin ? { origin_etag: origin.etag, origin_modified: origin.modified } : {}),
    ...(source.status === 'failed' ? { status: 'trained', error: null, updated_at: new Date() } : {}),
  })
}

/**
 * Enqueues the training of a new version, while the live one is used. The next check is in a day until the new
 * version is live.
 */
export async function startVersion({ db, jobs }: Deps, source: SourceRow): Promise<void> {
  const version = source.content_version + 1
  await transact(db, async (trx) => {
    const isStarted = await changeIdle(trx, source, {
      content_version: version,
      status: source.live_version === null ? 'untrained' : 'updated',
      error: null,
      updated_at: new Date(),
    })
    const payload = { sourceId: source.id, version }
    if (isStarted) await jobs.enqueue<TrainSource>(trx, TRAIN_SOURCE, payload, 0, source.account_id)
  })
}

/** The live version stays in use, and the next check is in a day. */
export async function noteFailure(db: Db, source: SourceRow, reason: string): Promise<void> {
  const error =
    source.live_version === null
      ? reason
      : `It could not be updated: ${reason} The earlier version remains in use, and it is tried again tomorrow.`
  await changeIdle(db, source, {
    status: 'failed',
    error,
    updated_at: new Date(),
    ...recordedTraining('failed', { reason }),
  })
}

/** Removes the content that the origin has withdrawn. The source stays and is live again when the origin returns. */
export async function takeOut(db: Db, source: SourceRow, reason: string): Promise<void> {
  const { id, account_id, agent_id } = source
  await transact(db, async (trx) => {
    await holdAgent(trx, { accountId: account_id, agentId: agent_id })
    const isOut = await changeIdle(trx, source, {
      status: 'failed',
      error: reason,
      live_version: null,
      size: 0,
      origin_etag: null,
      origin_modified: null,
      content_hash: null,
      updated_at: new Date(),
      ...recordedTraining('removed', { reason }),
    })
    if (!isOut) return
    await bumpKnowledgeVersion(trx, { accountId: account_id, agentId: agent_id })
  })
  await clearChunks(db, account_id, id)
}

/**
 * Changes the row if it has not changed since it was read. A change by hand, a training or a deletion takes
 * precedence.
 */
async function changeIdle(
  db: Db | Trx,
  source: SourceRow,
  change: Updateable<SourcesTable>,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('sources')
    .set(change)
    .where(ownRow(source.account_id, source.id))
    .where('content_version', '=', source.content_version)
    .where('status', 'in', ['trained', 'failed'])
    .executeTakeFirst()
  return numUpdatedRows === 1n
}
