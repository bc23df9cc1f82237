import { createHash } from 'node:crypto'
import { asFailure, type ModelFailure } from '../failures/model-failure.ts'
import type { EmbeddingUse, Owner } from './embedding-use.ts'

type Made = { vectors: Float32Array[]; use: EmbeddingUse }

/** The vectors that are remembered: at most 8 MB. */
const MAX_KEPT = 500
/** After a failure, a model counts as unavailable for this long, and questions are not sent to it. */
const AWAY_MS = 30_000
/** While a model is unavailable, one question at a time is sent to it in the background, at most this often. */
const PROBE_EVERY_MS = 1_000

type QuestionVectors = {
  of(texts: readonly string[], owner: Owner | null): Promise<Made>
  keep(text: string, vector: Float32Array): void
}

const keyOf = (text: string): string => createHash('sha256').update(text).digest('base64')

/**
 * Remembers the vectors of questions, those that were not asked for the longest time go first, and whether the model is
 * away. `none` is the use of no text.
 */
export function createQuestionVectors(
  ask: (texts: readonly string[], owner: Owner | null) => Promise<Made>,
  none: EmbeddingUse,
): QuestionVectors {
  const kept = new Map<string, Float32Array>()
  let away: { failure: ModelFailure; until: number } | null = null
  let probedAt = 0
  let isProbing = false

  const find = (key: string): Float32Array | undefined => {
    const vector = kept.get(key)
    if (vector) {
      kept.delete(key)
      kept.set(key, vector)
    }
    return vector
  }
  const keep = (key: string, vector: Float32Array): void => {
    kept.set(key, vector)
    for (const oldest of kept.keys()) {
      if (kept.size <= MAX_KEPT) return
      kept.delete(oldest)
    }
  }
  const askAndKeep = async (texts: ReadonlyMap<string, string>, owner: Owner | null): Promise<Made> => {
    try {
      const made = await ask([...texts.values()], owner)
      away = null
      const keys = [...texts.keys()]
      for (const [i, vector] of made.vectors.entries()) keep(keys[i] ?? '', vector)
      return made
    } catch (error) {
      const failure = asFailure(error)
      // What was refused for good, such as a question that is too long, says nothing about the next one.
      if (failure.retryable && failure.kind !== 'aborted')
        away = { failure, until: performance.now() + AWAY_MS }
      throw failure
    }
  }
  const probe = (texts: ReadonlyMap<string, string>, owner: Owner | null): void => {
    if (isProbing || performance.now() - probedAt < PROBE_EVERY_MS) return
    isProbing = true
    probedAt = performance.now()
    askAndKeep(texts, owner)
      .catch(() => {})
      .finally(() => {
        isProbing = false
      })
  }

  return {
    keep: (text, vector) => keep(keyOf(text), vector),
    async of(texts, owner) {
      const keys = texts.map(keyOf)
      const found = new Map(keys.map((key) => [key, find(key)]))
      const missing = new Map(keys.flatMap((key, i) => (found.get(key) ? [] : [[key, texts[i]!] as const])))
      let use = none
      if (missing.size > 0) {
        if (away && performance.now() < away.until) {
          probe(missing, owner)
          throw away.failure
        }
        const made = await askAndKeep(missing, owner)
        for (const [i, key] of [...missing.keys()].entries()) found.set(key, made.vectors[i])
        use = made.use
      }
      return { vectors: keys.map((key) => found.get(key)!), use }
    },
  }
}
