import { setImmediate } from 'node:timers/promises'
import { holdAgent } from '../../agents/records/find-agent.ts'
import { bumpKnowledgeVersion } from '../../agents/records/knowledge-state.ts'
import type { Context } from '../../context.ts'
import type { Db, Trx } from '../../platform/db/database.ts'
import { ownRow } from '../../platform/db/refs.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import type { Attempt } from '../../platform/jobs/jobs.ts'
import type { SourceRow } from '../sources/queries.ts'
import { fitsStorageLimit } from '../sources/storage-limit.ts'
import { switchSpace } from '../vectors/fill-space.ts'
import { CHUNKS_AT_ONCE, clearChunks } from './clear-chunks.ts'
import { embedChunks } from './embed-chunks.ts'
import { enqueueAskAgain } from './enqueue-ask-again.ts'
import type { TrainSource } from './enqueue-training.ts'
import { type Loaded, loadContent, TrainingFailure } from './load-content.ts'
import {
  type ChunkPlace,
  compareChunks,
  countWords,
  insertChunks,
  moveChunks,
  ROWS_AT_ONCE,
  retireChunks,
  undoUnpublished,
} from './store-chunks.ts'
import { contentHash, liveColumns, recordedTraining } from './training-columns.ts'

type Deps = Pick<
  Context,
  | 'db'
  | 'process'
  | 'jobs'
  | 'log'
  | 'fetcher'
  | 'renderer'
  | 'extractor'
  | 'ocr'
  | 'filesDir'
  | 'models'
  | 'secrets'
>

/**
 * Trains one version of a source and makes it live. A job for a source that is gone, changed since, or done does
 * nothing, so jobs may run twice. Throws when a retry may help; on the last attempt, the source fails with the
 * reason.
 */
export async function trainSource(
  ctx: Deps,
  { sourceId, version }: TrainSource,
  attempt: Attempt,
): Promise<void> {
  const source = await currentSource(ctx.db, sourceId, version)
  if (!source) return
  try {
    const loaded = await loadContent(ctx, source, attempt.signal)
    await embedChunks(ctx, source, loaded.chunks, attempt.signal)
    const hash = await contentHash(loaded.chunks)
    const version = await storeVersion(ctx.db, source, loaded)
    await transact(ctx.db, (trx) => goLive(ctx, trx, source, loaded, hash, version))
    await clearChunks(ctx.db, source.account_id, source.id)
  } catch (error) {
    if (error instanceof Superseded) return
    const failure =
      error instanceof TrainingFailure
        ? error
        : new TrainingFailure('It could not be stored. Try again.', true, error)
    ctx.log.warn({ err: failure.cause ?? failure, source: sourceId }, failure.message)
    // An aborted attempt says nothing about the source, and the next start resumes it.
    if (attempt.signal.aborted || (failure.transient && !attempt.isLast(failure))) throw failure
    await markFailed(ctx.db, source, failure.message)
    // The next attempt can use the vectors.
    await clearChunks(ctx.db, source.account_id, source.id, { keepsVectors: true })
  }
}

async function currentSource(db: Db, sourceId: string, version: number): Promise<SourceRow | undefined> {
  return db
    .selectFrom('sources')
    .selectAll()
    .where('id', '=', sourceId)
    .where('content_version', '=', version)
    .where('status', 'in', ['untrained', 'updated'])
    .executeTakeFirst()
}

/** A later attempt has begun, or the source is gone or changed: what this attempt stores would never be used. */
class Superseded extends Error {}

/**
 * Stores the new version of a source beside the live one, in short transactions. Unchanged chunks stay; the others are
 * used, or no longer used, from the number that this returns, which no other attempt has. Throws Superseded.
 */
async function storeVersion(db: Db, source: SourceRow, { chunks, title }: Loaded): Promise<number> {
  const place: ChunkPlace = {
    accountId: source.account_id,
    agentId: source.agent_id,
    sourceId: source.id,
    sourceName: title ?? source.name,
    page: null,
  }
  const version = await beginVersion(db, source, place)
  const { added, moved, retired } = await compareChunks(db, place, chunks)
  const stepwise = async <T>(items: T[], size: number, work: (trx: Trx, some: T[]) => Promise<void>) => {
    for (let from = 0; from < items.length; from += size) {
      await setImmediate()
      await transact(db, async (trx) => {
        await requireCurrent(trx, source, version)
        await work(trx, items.slice(from, from + size))
      })
    }
  }
  await stepwise(added, ROWS_AT_ONCE, (trx, some) => insertChunks(trx, place, version, some))
  await stepwise(moved, CHUNKS_AT_ONCE, (trx, some) => moveChunks(trx, place, some))
  await stepwise(retired, CHUNKS_AT_ONCE, (trx, some) => retireChunks(trx, place, version, some))
  return version
}

/** Takes a number for an attempt and undoes what earlier attempts have left. */
async function beginVersion(db: Db, { id, account_id }: SourceRow, place: ChunkPlace): Promise<number> {
  return transact(db, async (trx) => {
    const source = await trx
      .updateTable('sources')
      .set((eb) => ({ chunks_version: eb('chunks_version', '+', 1) }))
      .where(ownRow(account_id, id))
      .returning(['chunks_version', 'live_version'])
      .executeTakeFirst()
    if (!source) throw new Superseded()
    await undoUnpublished(trx, place, source.live_version ?? 0)
    return source.chunks_version
  })
}

/** Locks the source's row, so that a later attempt waits, and throws Superseded if there is one. */
async function requireCurrent(trx: Trx, { id, account_id }: SourceRow, version: number): Promise<void> {
  const current = await trx
    .selectFrom('sources')
    .select('id')
    .where(ownRow(account_id, id))
    .where('chunks_version', '=', version)
    .forShare()
    .executeTakeFirst()
  if (!current) throw new Superseded()
}

/** Makes the stored version live by one row, if the source still exists and still has this content. Throws Superseded. */
async function goLive(
  { jobs, models }: Pick<Deps, 'jobs' | 'models'>,
  trx: Trx,
  source: SourceRow,
  loaded: Loaded,
  hash: string,
  version: number,
): Promise<void> {
  const { id, account_id, agent_id } = source
  const agent = await holdAgent(trx, { accountId: account_id, agentId: agent_id })
  const still = agent && (await stillWanted(trx, source, version))
  if (!still) throw new Superseded()
  // The size of a file or page is known only now.
  if (!(await fitsStorageLimit(trx, { id: account_id, plan: still.plan }, agent_id, loaded.bytes, id)))
    throw new TrainingFailure(
      "With this source, the agent's sources would exceed the plan's training size.",
      false,
    )
  const counts = await countWords(trx, { accountId: account_id, agentId: agent_id, sourceId: id }, version)
  await trx
    .updateTable('sources')
    .set({
      status: 'trained',
      live_version: version,
      ...counts,
      size: loaded.bytes,
      error: null,
      updated_at: new Date(),
      ...recordedTraining('live', { bytes: loaded.bytes }),
    })
    .set(liveColumns(still, loaded, hash))
    .where(ownRow(account_id, id))
    .execute()
  await bumpKnowledgeVersion(trx, { accountId: account_id, agentId: agent_id }, !still.left_out)
  if (!still.left_out) await enqueueAskAgain(jobs, trx, { accountId: account_id, agentId: agent_id })
  // The first source of an agent brings its space with it.
  const space = models.embedder?.space ?? null
  if (agent.vector_space !== space)
    await switchSpace(trx, { accountId: account_id, agentId: agent_id }, space)
}

/** Locks and returns the source's row if this version is still to be made live. */
async function stillWanted(trx: Trx, { id, account_id, content_version }: SourceRow, version: number) {
  return trx
    .selectFrom('sources')
    .innerJoin('accounts', 'accounts.id', 'sources.account_id')
    .select(['sources.name', 'sources.content', 'sources.type', 'sources.metadata', 'sources.left_out'])
    .select('accounts.plan')
    .where('sources.account_id', '=', account_id)
    .where('sources.id', '=', id)
    .where('content_version', '=', content_version)
    .where('chunks_version', '=', version)
    .where('status', 'in', ['untrained', 'updated'])
    .forNoKeyUpdate('sources')
    .executeTakeFirst()
}

/** Marks the source as failed. An earlier live version remains in use. */
async function markFailed(db: Db, source: SourceRow, reason: string): Promise<void> {
  await db
    .updateTable('sources')
    .set({
      status: 'failed',
      error: reason,
      updated_at: new Date(),
      ...recordedTraining('failed', { reason }),
    })
    .where('id', '=', source.id)
    .where('account_id', '=', source.account_id)
    .where('content_version', '=', source.content_version)
    .execute()
}
