import { createHash } from 'node:crypto'
import type { Logger } from 'pino'
import type { Embedder } from '../../ai/embeddings/embedder.ts'
import { ModelFailure } from '../../ai/failures/model-failure.ts'
import type { Models } from '../../ai/models.ts'
import { createYielder } from '../../platform/concurrency/yield-to-event-loop.ts'
import type { Db } from '../../platform/db/database.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import { canHavePgvector } from '../../platform/db/upkeep/pgvector.ts'
import { storable } from '../../platform/http/bodies/storable.ts'
import { ServiceAway } from '../../platform/jobs/jobs.ts'
import { visibleText } from '../../platform/text/words/words.ts'
import { findSpace, liveSpace, SpaceRefused, sampleNear } from '../vectors/spaces.ts'
import { storedKeys, storeVectors } from '../vectors/vectors.ts'
import { type LoadedChunk, TrainingFailure } from './load-content.ts'

type Deps = { db: Db; log: Logger; models: Models }
type Owner = { id: string; account_id: AccountId; agent_id: string }
type Embeddable = Pick<LoadedChunk, 'headingPath' | 'questions' | 'text'>

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
  { db, log, models }: Deps,
  source: Owner,
  chunks: readonly Embeddable[],
  signal: AbortSignal,
): Promise<void> {
  const { embedder } = models
  // Nothing is asked of a model whose vectors cannot be stored.
  if (!embedder || !(await canHavePgvector(db))) return
  try {
    await embedMissing(db, embedder, source, chunks, signal)
  } catch (error) {
    if (error instanceof SpaceRefused) throw new TrainingFailure(error.message, false, error)
    if (!(error instanceof ModelFailure)) throw error
    if (error.kind === 'rejected')
      throw new TrainingFailure(
        'The embedding service refused the request. Ask your operator to check its model and key.',
        false,
        error,
      )
    // What has been stored stays, and the rest is tried for more than an hour.
    throw new TrainingFailure(
      'The embedding service did not respond. Try again later.',
      true,
      new ServiceAway(error.message, { cause: error }),
    )
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
  source: Owner,
  chunks: readonly Embeddable[],
  signal: AbortSignal,
): Promise<void> {
  const texts = new Map<string, string>()
  const breathe = createYielder()
  for (const chunk of chunks) {
    texts.set(vectorKey(chunk), embeddedText(chunk))
    await breathe()
  }
  const keys = [...texts.keys()]
  const space = await findSpace(db, embedder.space)
  for (let from = 0; space && from < keys.length; from += KEYS_AT_ONCE) {
    const stored = await storedKeys(db, space, source, keys.slice(from, from + KEYS_AT_ONCE))
    for (const key of stored) texts.delete(key)
  }
  const missing = [...texts.keys()]
  const owner = { accountId: source.account_id, agentId: source.agent_id }
  let done = 0
  for await (const vectors of embedder.inBatches([...texts.values()], { signal, owner })) {
    const rows = vectors.map((vector, i) => ({
      source_id: source.id,
      vector_key: missing[done + i]!,
      vector,
    }))
    await storeVectors(db, source, embedder.space, rows)
    done += vectors.length
  }
  // From then on, a recurring job samples the space every minute.
  if (done > 0) await sampleNear(db, embedder.space, { isFirst: true })
}
