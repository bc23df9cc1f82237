import { setImmediate } from 'node:timers/promises'
import { holdAgent } from '../../agents/records/find-agent.ts'
import { moveKnowledge } from '../../agents/records/knowledge-state.ts'
import type { Context } from '../../context.ts'
import type { Db, Trx } from '../../db/database.ts'
import { newId } from '../../db/ids.ts'
import { json } from '../../db/statements/json.ts'
import { transact } from '../../db/statements/transact.ts'
import { storable } from '../../http/bodies/storable.ts'
import type { Attempt } from '../../jobs/jobs.ts'
import { swapSpace } from '../index/vector-spaces.ts'
import type { SourceRow } from '../sources/queries.ts'
import { hasRoom } from '../sources/room.ts'
import { CHUNKS_AT_ONCE, clearChunks, dropChunks } from './clear-chunks.ts'
import { dropUnusedVectors, embedChunks, vectorKey } from './embed-chunks.ts'
import { enqueueAskAgain } from './enqueue-ask-again.ts'
import type { TrainSource } from './enqueue-training.ts'
import { type Loaded, loadContent, TrainingFailure } from './load-content.ts'
import { contentHash, liveColumns, recordedTraining } from './training-columns.ts'

/** The most chunks in one statement, because other work waits for it on the embedded database. */
const STORED_AT_ONCE = 50

type Needs = Pick<
  Context,
  'db' | 'process' | 'jobs' | 'log' | 'fetcher' | 'renderer' | 'extractor' | 'filesDir' | 'models' | 'secrets'
>

/**
 * Trains one version of a source and makes it live. A job for a source that is gone, changed since, or done does
 * nothing, so jobs may run twice. Throws when a retry may help; on the last attempt, the source fails with the
 * reason.
 */
export async function trainSource(
  ctx: Needs,
  { sourceId, version }: TrainSource,
  attempt: Attempt,
): Promise<void> {
  const source = await currentSource(ctx.db, sourceId, version)
  if (!source) return
  try {
    const loaded = await loadContent(ctx, source, attempt.signal)
    await embedChunks(ctx, source, loaded.chunks, attempt.signal)
    const hash = await contentHash(loaded.chunks)
    const stored =
      loaded.chunks.length > CHUNKS_AT_ONCE ? await storeAhead(ctx.db, source, loaded.chunks) : null
    const left = await transact(ctx.db, (trx) => goLive(ctx, trx, source, loaded, hash, stored))
    if (left) await clearChunks(ctx.db, source.account_id, source.id)
  } catch (error) {
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

/**
 * Stores the chunks of a large source before they go live, under a number that no other attempt has. Transactions
 * that wait for the source or its agent then wait only for the short switch. Returns the number.
 */
async function storeAhead(db: Db, source: SourceRow, chunks: Loaded['chunks']): Promise<number> {
  const { chunks_version: number } = await db
    .updateTable('sources')
    .set((eb) => ({ chunks_version: eb('chunks_version', '+', 1) }))
    .where('account_id', '=', source.account_id)
    .where('id', '=', source.id)
    .returning('chunks_version')
    .executeTakeFirstOrThrow()
  for (let from = 0; from < chunks.length; from += STORED_AT_ONCE) {
    await setImmediate()
    await insertChunks(db, source, number, chunks.slice(from, from + STORED_AT_ONCE), from)
  }
  return number
}

async function insertChunks(
  db: Db,
  { id, account_id, agent_id }: SourceRow,
  version: number,
  chunks: Loaded['chunks'],
  from: number,
): Promise<void> {
  if (chunks.length === 0) return
  await db
    .insertInto('chunks')
    .values(
      chunks.map((chunk, place) => ({
        id: newId(),
        account_id,
        agent_id,
        source_id: id,
        version,
        ordinal: from + place,
        heading_path: json(chunk.headingPath.map(storable)),
        page: chunk.page,
        text: storable(chunk.text),
        questions: json(chunk.questions),
        vector_key: vectorKey(chunk),
        anchor: chunk.anchor === undefined ? null : storable(chunk.anchor),
      })),
    )
    .execute()
}

/**
 * Makes the new chunks live if the source still exists and still has this version. Returns true when more old chunks
 * are left than this transaction should delete.
 */
async function goLive(
  { jobs, models }: Pick<Needs, 'jobs' | 'models'>,
  trx: Trx,
  source: SourceRow,
  loaded: Loaded,
  hash: string,
  stored: number | null,
): Promise<boolean> {
  const { id, account_id, agent_id } = source
  const agent = await holdAgent(trx, { accountId: account_id, agentId: agent_id })
  const still = agent && (await stillWanted(trx, source))
  if (!still) return stored !== null
  // The size of a file or page is known only now.
  if (!(await hasRoom(trx, { id: account_id, plan: still.plan }, agent_id, loaded.bytes, id)))
    throw new TrainingFailure(
      "With this source, the agent's sources would exceed the plan's training size.",
      false,
    )
  const version = stored ?? still.chunks_version + 1
  const gone = await dropChunks(trx, account_id, id, version)
  if (stored === null) await insertChunks(trx, source, version, loaded.chunks, 0)
  await trx
    .updateTable('sources')
    .set({
      status: 'trained',
      live_version: version,
      size: loaded.bytes,
      error: null,
      updated_at: new Date(),
      ...recordedTraining('live', { bytes: loaded.bytes }),
    })
    .set((eb) => ({ chunks_version: eb.fn('greatest', ['chunks_version', eb.val(version)]) }))
    .set(liveColumns(still, loaded, hash))
    .where('account_id', '=', account_id)
    .where('id', '=', id)
    .execute()
  await moveKnowledge(trx, { accountId: account_id, agentId: agent_id }, true)
  await enqueueAskAgain(jobs, trx, { accountId: account_id, agentId: agent_id })
  // The first source of an agent brings its space with it.
  const space = models.embedder?.space ?? null
  if (agent.vector_space !== space)
    await swapSpace(trx, jobs, { accountId: account_id, agentId: agent_id }, space)
  const isSmall = stored === null && gone < CHUNKS_AT_ONCE
  if (isSmall) await dropUnusedVectors(trx, account_id, id)
  return !isSmall
}

/** Locks and returns the source's row if this version is still to be made live. */
async function stillWanted(trx: Trx, { id, account_id, content_version }: SourceRow) {
  return trx
    .selectFrom('sources')
    .innerJoin('accounts', 'accounts.id', 'sources.account_id')
    .select(['sources.name', 'sources.content', 'chunks_version', 'accounts.plan'])
    .where('sources.account_id', '=', account_id)
    .where('sources.id', '=', id)
    .where('content_version', '=', content_version)
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
