import { type Dispatcher, request } from 'undici'
import type { EmbeddingServer } from '../catalogue/embedding-entry.ts'
import { failureOfStatus, ModelFailure, toModelFailure } from '../failures/model-failure.ts'
import type { EmbeddingTransport } from './embedder.ts'
import { normalised } from './normalised.ts'

// Parsing the response to a larger batch would block other work for too long: 32 vectors of 3,072 numbers are 2 MB.
const MAX_COUNT = 32
const TIMEOUT_MS = 30_000

/** The way to a model on a server with OpenAI's API. */
export const embeddingServer = (entry: EmbeddingServer, connections: Dispatcher): EmbeddingTransport => ({
  most: MAX_COUNT,
  timeoutMs: TIMEOUT_MS,
  async send(texts, _lane, signal) {
    try {
      return await ask(entry, texts, connections, signal)
    } catch (error) {
      throw toModelFailure(error, [entry.apiKey])
    }
  },
})

type Answer = {
  data?: { index?: number; embedding?: number[] }[]
  usage?: { prompt_tokens?: unknown; total_tokens?: unknown } | null
}

async function ask(
  { name, baseUrl, apiKey, dimensions }: EmbeddingServer,
  texts: readonly string[],
  connections: Dispatcher,
  signal: AbortSignal,
): Promise<{ vectors: Float32Array[]; tokens: number | null }> {
  const { statusCode, headers, body } = await request(`${baseUrl.replace(/\/+$/, '')}/embeddings`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}) },
    body: JSON.stringify({ model: name, input: texts, ...(dimensions ? { dimensions } : {}) }),
    signal,
    dispatcher: connections,
  })
  const text = await body.text()
  if (statusCode !== 200) {
    throw failureOfStatus(statusCode, headers['retry-after']?.toString(), new Error(`${statusCode} ${text}`))
  }
  const { data, usage }: Answer = JSON.parse(text) ?? {}
  const vectors = texts.map((_, index) => {
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
  const tokens = usage?.prompt_tokens ?? usage?.total_tokens
  return { vectors, tokens: typeof tokens === 'number' && tokens > 0 ? tokens : null }
}
