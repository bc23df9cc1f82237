import { setTimeout as wait } from 'node:timers/promises'
import { type Dispatcher, request } from 'undici'
import type { EmbeddingServer } from '../catalogue/embedding-entry.ts'
import { failureOfStatus, ModelFailure, toModelFailure } from '../failures/model-failure.ts'
import { normalised, shortened } from './normalised.ts'
import { shortenedTo } from './shortened-to.ts'
import { spaceOf } from './vector-space.ts'

export type Embedder = {
  /**
   * The embedding space of the vectors. Only vectors of the same space can be compared; another model, server or size
   * makes another space.
   */
  space: string
  /** The number of dimensions that are kept of longer vectors; null for all. */
  dimensions: number | null
  /** The most texts that embed() sends at once. A caller that stores vectors as they arrive should pass no more. */
  batch: number
  /**
   * Returns one vector of length 1 for each text, in the same order. The texts are passages unless `areQuestions` is
   * set. Throws ModelFailure.
   */
  embed(texts: string[], options?: { signal?: AbortSignal; areQuestions?: boolean }): Promise<Float32Array[]>
}

// Parsing the response to a larger batch would block other work for too long: 32 vectors of 3,072 numbers are 2 MB.
const BATCH = 32
const TRIES = 4
const TIMEOUT_MS = 30_000
/** A single passage may take this long on a busy machine. */
const LONGEST_TIMEOUT_MS = 300_000
/** If a server asks for a longer pause, the next attempt of the job takes over. */
const LONGEST_WAIT_MS = 60_000

/**
 * Creates an embedder for a server with OpenAI's API. When a batch of passages takes too long, half of it is sent next
 * with twice the time, because the server is probably still busy with the first one. Later batches keep what worked.
 */
export function createEmbedder(
  entry: EmbeddingServer,
  connections: Dispatcher,
  timeoutMs = TIMEOUT_MS,
): Embedder {
  const passages = { size: BATCH, timeoutMs }
  const dimensions = entry.dimensions ?? shortenedTo(entry.name)
  return {
    space: spaceOf(entry),
    dimensions,
    batch: BATCH,
    async embed(texts, { signal, areQuestions = false } = {}) {
      const { query, passage } = entry.prefixes
      const prefixed = texts.map((text) => (areQuestions ? query : passage) + text)
      const pace = areQuestions ? { size: BATCH, timeoutMs } : passages
      const vectors: Float32Array[] = []
      while (vectors.length < texts.length) {
        const batch = prefixed.slice(vectors.length, vectors.length + pace.size)
        const given = pace.timeoutMs
        try {
          vectors.push(...(await embedBatch(entry, batch, connections, given, signal)))
        } catch (error) {
          const isSlow = error instanceof ModelFailure && error.kind === 'timeout' && !signal?.aborted
          const isLast = areQuestions || (batch.length === 1 && given >= LONGEST_TIMEOUT_MS)
          if (!isSlow || isLast) throw error
          pace.size = Math.min(pace.size, Math.ceil(batch.length / 2))
          pace.timeoutMs = Math.max(pace.timeoutMs, Math.min(2 * given, LONGEST_TIMEOUT_MS))
        }
      }
      if (new Set(vectors.map(({ length }) => length)).size > 1) {
        throw new ModelFailure('invalid_response', new Error('vectors of different sizes'))
      }
      return vectors.map((vector) => shortened(vector, dimensions))
    },
  }
}

async function embedBatch(
  entry: EmbeddingServer,
  texts: string[],
  connections: Dispatcher,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<Float32Array[]> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await askOnce(entry, texts, connections, timeoutMs, signal)
    } catch (error) {
      const failure = toModelFailure(error, [entry.apiKey])
      const pause = failure.retryAfterMs ?? 250 * 2 ** attempt
      if (!failure.retryable || attempt === TRIES || signal?.aborted || pause > LONGEST_WAIT_MS) throw failure
      await wait(pause, undefined, { signal }).catch((reason: unknown) => {
        throw toModelFailure(reason, [])
      })
    }
  }
}

async function askOnce(
  { name, baseUrl, apiKey, dimensions }: EmbeddingServer,
  texts: string[],
  connections: Dispatcher,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<Float32Array[]> {
  const timeout = AbortSignal.timeout(timeoutMs)
  const { statusCode, headers, body } = await request(`${baseUrl.replace(/\/+$/, '')}/embeddings`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}) },
    body: JSON.stringify({ model: name, input: texts, ...(dimensions ? { dimensions } : {}) }),
    signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    dispatcher: connections,
  })
  const text = await body.text()
  if (statusCode !== 200) {
    throw failureOfStatus(statusCode, headers['retry-after']?.toString(), new Error(`${statusCode} ${text}`))
  }
  const { data } = JSON.parse(text) as { data?: { index?: number; embedding?: number[] }[] }
  return texts.map((_, index) => {
    const embedding = data?.find((item, place) => (item.index ?? place) === index)?.embedding
    if (
      !Array.isArray(embedding) ||
      embedding.length === 0 ||
      (dimensions && embedding.length !== dimensions)
    ) {
      throw new ModelFailure('invalid_response', new Error(`no vector of the right size for text ${index}`))
    }
    return normalised(embedding)
  })
}
