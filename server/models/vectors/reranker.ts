import { type Dispatcher, request } from 'undici'
import type { RerankerEntry } from '../catalogue/catalogue.ts'
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
  { name, baseUrl, apiKey, timeout }: RerankerEntry,
  question: string,
  documents: readonly string[],
  connections: Dispatcher,
  signal: AbortSignal,
): Promise<number[]> {
  const { statusCode, headers, body } = await request(`${baseUrl.replace(/\/+$/, '')}/rerank`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}) },
    body: JSON.stringify({
      model: name,
      query: question.slice(0, QUESTION_CHARACTERS),
      documents: documents.map((text) => text.slice(0, DOCUMENT_CHARACTERS)),
      top_n: documents.length,
    }),
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeout)]),
    dispatcher: connections,
  })
  const text = await body.text()
  if (statusCode !== 200) {
    throw failureOfStatus(statusCode, headers['retry-after']?.toString(), new Error(`${statusCode} ${text}`))
  }
  return scoresOf(JSON.parse(text), documents.length)
}

/** A single invalid result makes the whole response useless, because the others can no longer be trusted. */
function scoresOf(answer: unknown, count: number): number[] {
  const results = (answer as { results?: unknown } | null)?.results
  if (!Array.isArray(results) || results.length === 0) throw invalid('no results')
  const scores = new Map<number, number>()
  for (const result of results as ({ index?: unknown; relevance_score?: unknown } | null)[]) {
    const { index, relevance_score: score } = result ?? {}
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
