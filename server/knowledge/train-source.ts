import { setImmediate } from 'node:timers/promises'
import { sql } from 'kysely'
import { planOf } from '../accounts/plans.ts'
import type { Context } from '../context.ts'
import type { Db, Trx } from '../db/database.ts'
import { newId } from '../db/ids.ts'
import { json } from '../db/json.ts'
import { transact } from '../db/transact.ts'
import { storable } from '../http/storable.ts'
import { dropUnusedVectors, embedChunks, vectorKey } from './embed-chunks.ts'
import { type Loaded, loadContent, TrainingFailure } from './load-content.ts'
import { moveKnowledge, type SourceRow } from './queries.ts'
import { contentHash } from './sync/content-hash.ts'
import { liveColumns } from './sync/live-columns.ts'
import type { TrainSource } from './train-task.ts'
import { swapSpace } from './vector-spaces.ts'

type Needs = Pick<
  Context,
  'db' | 'jobs' | 'log' | 'fetcher' | 'renderer' | 'extractor' | 'filesDir' | 'models' | 'secrets'
>

const ROWS_AN_INSERT = 200

/**
 * Makes one version of a source live. A job for a source that is gone, changed since, or done does nothing, so
 * jobs may run twice. Throws when another attempt may help; on the last one the source fails with the reason.
 */
export async function trainSource(
  ctx: Needs,
  { sourceId, version }: TrainSource,
  attempt: { last: boolean; signal: AbortSignal },
): Promise<void> {
  const source = await currentSource(ctx.db, sourceId, version)
  if (!source) return
  try {
    const loaded = await loadContent(ctx, source, attempt.signal)
    await embedChunks(ctx, source, loaded.chunks, attempt.signal)
    const hash = await contentHash(loaded.chunks)
    await transact(ctx.db, (trx) => goLive(ctx, trx, source, loaded, hash))
  } catch (error) {
    const failure =
      error instanceof TrainingFailure
        ? error
        : new TrainingFailure('It could not be stored. Try again.', true, error)
    ctx.log.warn({ err: failure.cause ?? failure, source: sourceId }, failure.message)
    // An attempt that was broken off says nothing of the source: the next start takes it up again.
    if (attempt.signal.aborted || (failure.transient && !attempt.last)) throw failure
    await markFailed(ctx.db, source, failure.message)
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

/** Puts the new chunks in the place of the old, if the source is still there and still this version. */
async function goLive(
  { jobs, models }: Pick<Needs, 'jobs' | 'models'>,
  trx: Trx,
  source: SourceRow,
  loaded: Loaded,
  hash: string,
): Promise<void> {
  const { chunks, bytes } = loaded
  const { id, account_id, agent_id, content_version: version } = source
  const still = await trx
    .selectFrom('sources')
    .innerJoin('accounts', 'accounts.id', 'sources.account_id')
    .select(['sources.name', 'sources.content', 'accounts.plan'])
    .where('sources.id', '=', id)
    .where('content_version', '=', version)
    .forUpdate('sources')
    .executeTakeFirst()
  if (!still) return
  await refuseOverPlan(trx, source, still.plan, bytes)
  await trx.deleteFrom('chunks').where('account_id', '=', account_id).where('source_id', '=', id).execute()
  for (let from = 0; from < chunks.length; from += ROWS_AN_INSERT) {
    // The embedded database works in this thread: without a pause a large source would hold up every request.
    await setImmediate()
    await trx
      .insertInto('chunks')
      .values(
        chunks.slice(from, from + ROWS_AN_INSERT).map((chunk, place) => ({
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
        })),
      )
      .execute()
  }
  await trx
    .updateTable('sources')
    .set({ status: 'trained', live_version: version, size: bytes, error: null, updated_at: new Date() })
    .set(liveColumns(still, loaded, hash))
    .where('account_id', '=', account_id)
    .where('id', '=', id)
    .execute()
  await moveKnowledge(trx, account_id, agent_id, true)
  await dropUnusedVectors(trx, account_id, id)
  // The first source of an agent brings its space with it.
  await swapSpace(trx, jobs, account_id, agent_id, models.embedder?.space ?? null)
}

/** The size of a file or page is known only now. */
async function refuseOverPlan(trx: Trx, source: SourceRow, plan: string, bytes: number): Promise<void> {
  const { trainingBytes } = planOf(plan)
  if (trainingBytes === null) return
  const { used } = await trx
    .selectFrom('sources')
    .select(sql<number>`coalesce(sum(size), 0)::bigint`.as('used'))
    .where('account_id', '=', source.account_id)
    .where('agent_id', '=', source.agent_id)
    .where('id', '<>', source.id)
    .executeTakeFirstOrThrow()
  if (used + bytes > trainingBytes) {
    throw new TrainingFailure("With it the agent's sources would exceed the plan's training size.", false)
  }
}

/** The earlier live version, if there is one, goes on answering. */
async function markFailed(db: Db, source: SourceRow, reason: string): Promise<void> {
  await db
    .updateTable('sources')
    .set({ status: 'failed', error: reason, updated_at: new Date() })
    .where('id', '=', source.id)
    .where('account_id', '=', source.account_id)
    .where('content_version', '=', source.content_version)
    .execute()
}
