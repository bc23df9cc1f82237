import { createHash } from 'node:crypto'
import type { Context } from '../../context.ts'
import type { Db, Trx } from '../../db/database.ts'
import type { AccountId } from '../../db/tables/columns.ts'
import { createBreather } from '../../fairness/breathe.ts'
import { storable } from '../../http/bodies/storable.ts'
import { ModelFailure } from '../../models/failures/model-failure.ts'
import type { Embedder } from '../../models/vectors/embedder.ts'
import { visibleText } from '../../text/words/visible-text.ts'
import { liveSpace } from '../index/vector-spaces.ts'
import { storedVector } from '../index/vectors.ts'
import { type LoadedChunk, TrainingFailure } from './load-content.ts'

type Needs = Pick<Context, 'db' | 'log' | 'models'>
type Owner = { id: string; account_id: AccountId; agent_id: string }
type Embeddable = Pick<LoadedChunk, 'headingPath' | 'questions' | 'text'>
type NewVector = { source_id: string; vector_key: string; vector: Float32Array }

/** Returns the text of a chunk that is embedded. */
export function embeddedText({ headingPath, questions, text }: Embeddable): string {
  return storable([...headingPath, ...(questions ?? []), visibleText(text)].join('\n'))
}

/**
 * Returns the key of a chunk's vectors in every space. Chunks of one source with the same text share their vectors.
 */
export function vectorKey(chunk: Embeddable): string {
  return createHash('sha256').update(embeddedText(chunk)).digest('hex').slice(0, 32)
}

/**
 * Stores the vectors that chunks still lack, before the chunks themselves. A second attempt resumes where the first
 * ended, and text that was there before costs nothing. While another space is still in use, its vectors are created
 * as well, as far as its model can be reached. Throws TrainingFailure.
 */
export async function embedChunks(
  { db, log, models }: Needs,
  source: Owner,
  chunks: readonly Embeddable[],
  signal: AbortSignal,
): Promise<void> {
  const { embedder } = models
  if (!embedder) return
  try {
    await embedMissing(db, embedder, source, chunks, signal)
  } catch (error) {
    if (!(error instanceof ModelFailure)) throw error
    const message =
      error.kind === 'rejected'
        ? 'The embedding service refused the request. Ask your operator to check its model and key.'
        : 'The embedding service did not respond. Try again later.'
    throw new TrainingFailure(message, error.kind !== 'rejected', error)
  }
  const live = await liveSpace(db, { accountId: source.account_id, agentId: source.agent_id })
  const former = live !== null && live !== embedder.space ? models.embedderOf(live) : null
  if (!former) return
  await embedMissing(db, former, source, chunks, signal).catch((error: unknown) => {
    // Until the new space is in use, these chunks are found by their words.
    log.warn({ err: error, space: live }, 'the previous embedding model did not respond')
  })
}

/**
 * The number of keys in one query. A page queries only its own keys, because a website has those of thousands of
 * pages.
 */
const KEYS_AT_ONCE = 500

async function embedMissing(
  db: Db,
  embedder: Embedder,
  { id: source_id, account_id, agent_id }: Owner,
  chunks: readonly Embeddable[],
  signal: AbortSignal,
): Promise<void> {
  const texts = new Map<string, string>()
  const breathe = createBreather()
  for (const chunk of chunks) {
    texts.set(vectorKey(chunk), embeddedText(chunk))
    await breathe()
  }
  const keys = [...texts.keys()]
  for (let from = 0; from < keys.length; from += KEYS_AT_ONCE) {
    const stored = await db
      .selectFrom('chunk_vectors')
      .select('vector_key')
      .where('account_id', '=', account_id)
      .where('source_id', '=', source_id)
      .where('space', '=', embedder.space)
      .where('vector_key', 'in', keys.slice(from, from + KEYS_AT_ONCE))
      .execute()
    for (const { vector_key } of stored) texts.delete(vector_key)
  }
  const missing = [...texts]
  for (let from = 0; from < missing.length; from += embedder.batch) {
    const batch = missing.slice(from, from + embedder.batch)
    const vectors = await embedder.embed(
      batch.map(([, text]) => text),
      { signal },
    )
    const rows = batch.map(([vector_key], i) => ({ source_id, vector_key, vector: vectors[i]! }))
    await storeVectors(db, { account_id, agent_id, space: embedder.space }, rows)
  }
}

/** Stores vectors that do not exist yet, except those of a source that has been deleted meanwhile. */
export async function storeVectors(
  db: Db,
  where: { account_id: AccountId; agent_id: string; space: string },
  vectors: readonly NewVector[],
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const sources = await trx
      .selectFrom('sources')
      .select('id')
      .where('account_id', '=', where.account_id)
      .where('id', 'in', [...new Set(vectors.map(({ source_id }) => source_id))])
      .orderBy('id')
      .forKeyShare()
      .execute()
    const there = new Set(sources.map(({ id }) => id))
    const rows = vectors
      .filter(({ source_id }) => there.has(source_id))
      // Whoever adds the same vectors at the same time does so in the same order.
      .sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
    if (rows.length === 0) return
    await trx
      .insertInto('chunk_vectors')
      .values(rows.map((row) => ({ ...where, ...row, vector: storedVector(row.vector) })))
      .onConflict((conflict) => conflict.doNothing())
      .execute()
  })
}

const keyOf = ({ source_id, vector_key }: NewVector): string => `${source_id} ${vector_key}`

/** Deletes the vectors that no chunk of the source needs any more. No chunks may be added at the same time. */
export async function dropUnusedVectors(trx: Trx, accountId: AccountId, sourceId: string): Promise<void> {
  await trx
    .deleteFrom('chunk_vectors')
    .where('account_id', '=', accountId)
    .where('source_id', '=', sourceId)
    // `not exists` might be planned as a loop over all pairs.
    .where('vector_key', 'not in', (eb) =>
      eb
        .selectFrom('chunks')
        .select('chunks.vector_key')
        .where('chunks.account_id', '=', accountId)
        .where('chunks.source_id', '=', sourceId),
    )
    .execute()
}
