import { createHash } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { type Dispatcher, request } from 'undici'
import type { EmbeddingEntry } from './catalogue.ts'
import { failureOfStatus, ModelFailure, toModelFailure } from './model-failure.ts'

export type Embedder = {
  /** Vectors of one space can be compared; another model, server or size is another space. */
  space: string
  /** One vector of length 1 for each text, in their order. Throws ModelFailure. */
  embed(texts: string[], options?: { signal?: AbortSignal }): Promise<Float32Array[]>
}

const BATCH = 64
const TRIES = 4
const TIMEOUT_MS = 30_000

/** An embedding model behind OpenAI's wire. */
export function createEmbedder(entry: EmbeddingEntry, connections: Dispatcher): Embedder {
  const { name, baseUrl, dimensions } = entry
  const identity = createHash('sha256').update(baseUrl).digest('hex').slice(0, 8)
  return {
    space: `${name}@${identity}${dimensions ? `/${dimensions}` : ''}`,
    async embed(texts, { signal } = {}) {
      const vectors: Float32Array[] = []
      for (let from = 0; from < texts.length; from += BATCH) {
        vectors.push(...(await embedBatch(entry, texts.slice(from, from + BATCH), connections, signal)))
      }
      if (new Set(vectors.map(({ length }) => length)).size > 1) {
        throw new ModelFailure('invalid_response', new Error('vectors of different sizes'))
      }
      return vectors
    },
  }
}

async function embedBatch(
  entry: EmbeddingEntry,
  texts: string[],
  connections: Dispatcher,
  signal: AbortSignal | undefined,
): Promise<Float32Array[]> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await askOnce(entry, texts, connections, signal)
    } catch (error) {
      const failure = toModelFailure(error, [entry.apiKey])
      if (!failure.retryable || attempt === TRIES || signal?.aborted) throw failure
      await wait(failure.retryAfterMs ?? 250 * 2 ** attempt)
    }
  }
}

async function askOnce(
  { name, baseUrl, apiKey, dimensions }: EmbeddingEntry,
  texts: string[],
  connections: Dispatcher,
  signal: AbortSignal | undefined,
): Promise<Float32Array[]> {
  const timeout = AbortSignal.timeout(TIMEOUT_MS)
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

function normalised(values: number[]): Float32Array {
  const vector = Float32Array.from(values)
  const length = Math.hypot(...vector) || 1
  return vector.map((value) => value / length)
}
