import { type Dispatcher, request } from 'undici'
import { recordOf } from '../../platform/unknown-values.ts'
import type { RerankApi, RerankerEntry } from '../catalogue/catalogue.ts'
import { failureOfStatus, ModelFailure, toModelFailure } from '../failures/model-failure.ts'

export type Reranker = {
  /**
   * Returns how well each document answers the question, in the scale of the model: more is better. Documents that the
   * server leaves out get the lowest of its scores. It asks once and waits no longer than the entry's timeout. Throws
   * ModelFailure.
   */
  judge(question: string, documents: readonly string[], options: { signal: AbortSignal }): Promise<number[]>
}

/**
 * The most characters of a question and of a document that are sent, because such models read some 500 tokens of
 * both.
 */
const QUESTION_CHARACTERS = 2_000
const DOCUMENT_CHARACTERS = 4_000

/** Creates a reranker for a server with `POST {baseUrl}/rerank`. */
export function createReranker(entry: RerankerEntry, connections: Dispatcher): Reranker {
  return {
    async judge(question, documents, { signal }) {
      try {
        return await askOnce(entry, question, documents, connections, signal)
      } catch (error) {
        throw toModelFailure(error, [entry.apiKey])
      }
    },
  }
}

async function askOnce(
  { name, baseUrl, apiKey, timeout, api = 'cohere' }: RerankerEntry,
  question: string,
  documents: readonly string[],
  connections: Dispatcher,
  signal: AbortSignal,
): Promise<number[]> {
  const { ask, results, score } = APIS[api]
  const { statusCode, headers, body } = await request(`${baseUrl.replace(/\/+$/, '')}/rerank`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}) },
    body: JSON.stringify(
      ask(
        name,
        question.slice(0, QUESTION_CHARACTERS),
        documents.map((text) => text.slice(0, DOCUMENT_CHARACTERS)),
      ),
    ),
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeout)]),
    dispatcher: connections,
  })
  const text = await body.text()
  if (statusCode !== 200) {
    throw failureOfStatus(statusCode, headers['retry-after']?.toString(), new Error(`${statusCode} ${text}`))
  }
  return scoresOf(results(JSON.parse(text)), score, documents.length)
}

type Api = {
  ask(model: string, query: string, documents: string[]): object
  /** Returns the list of results in an answer. */
  results(answer: unknown): unknown
  /** The field of a result with its score. */
  score: 'relevance_score' | 'score'
}

const fieldOf =
  (name: string) =>
  (answer: unknown): unknown =>
    recordOf(answer)[name]

const APIS: Record<RerankApi, Api> = {
  // https://docs.cohere.com/reference/rerank, https://api.jina.ai/redoc#tag/rerank, vLLM's and llama.cpp's /v1/rerank
  cohere: {
    ask: (model, query, documents) => ({ model, query, documents, top_n: documents.length }),
    results: fieldOf('results'),
    score: 'relevance_score',
  },
  // https://docs.voyageai.com/reference/reranker-api
  voyage: {
    ask: (model, query, documents) => ({ model, query, documents }),
    results: fieldOf('data'),
    score: 'relevance_score',
  },
  // https://huggingface.github.io/text-embeddings-inference: /rerank
  tei: {
    ask: (_model, query, texts) => ({ query, texts, truncate: true }),
    results: (answer) => answer,
    score: 'score',
  },
}

/** A single invalid result makes the whole response useless, because the others can no longer be trusted. */
function scoresOf(results: unknown, field: Api['score'], count: number): number[] {
  if (!Array.isArray(results) || results.length === 0)
    throw invalid('no results; "api" of the reranker in MODELS_FILE may be another one')
  const scores = new Map<number, number>()
  for (const result of results) {
    const { index, [field]: score } = recordOf(result)
    if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index >= count) {
      throw invalid(`a result for document ${index} of ${count}`)
    }
    if (scores.has(index)) throw invalid(`two results for document ${index}`)
    if (typeof score !== 'number' || !Number.isFinite(score)) throw invalid(`the score ${score}`)
    scores.set(index, score)
  }
  const lowest = Math.min(...scores.values())
  return Array.from({ length: count }, (_, index) => scores.get(index) ?? lowest)
}

const invalid = (what: string): ModelFailure => new ModelFailure('invalid_response', new Error(what))
