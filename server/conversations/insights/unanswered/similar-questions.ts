import type { Owner } from '../../../ai/embeddings/embedding-use.ts'
import type { Context } from '../../../context.ts'

/** The vectors of questions, by their texts. */
export type QuestionVectors = Map<string, Float32Array>

/** Questions about nothing that one agent is asked together, by which a space shows how near unrelated ones lie. */
const UNRELATED = [
  'How do I prune an apple tree?',
  'When did the Roman Empire end?',
  'Who invented the steam engine?',
  'Why is the sky blue?',
  'How many players are in a volleyball team?',
]
/** Two questions are the same if they lie at most this share of the distance apart that unrelated ones do. */
const NEAR = 0.2

/**
 * Adds the vectors of the questions that have none yet. Without an embedding model, or when it fails, none are added,
 * and only equal questions are the same.
 */
export async function addVectors(
  { models, log }: Pick<Context, 'models' | 'log'>,
  vectors: QuestionVectors,
  questions: readonly string[],
  signal: AbortSignal,
  owner: Owner | null = null,
): Promise<void> {
  const { embedder } = models
  const missing = [...new Set([...UNRELATED, ...questions])].filter((question) => !vectors.has(question))
  if (!embedder || missing.length === 0) return
  try {
    const added = await embedder.embed(missing, { signal, areQuestions: true, owner })
    for (const [i, vector] of added.entries()) vectors.set(missing[i] ?? '', vector)
  } catch (error) {
    signal.throwIfAborted()
    log.debug({ err: error }, 'unanswered questions are grouped without vectors')
  }
}

/** Returns the candidate that asks the same as the question, or the nearest of several; null if none does. */
export function sameQuestion<T extends { question: string }>(
  question: string,
  candidates: readonly T[],
  vectors: ReadonlyMap<string, Float32Array>,
): T | null {
  const asked = vectors.get(question)
  if (!asked) return null
  const near = (other: string): number => {
    const vector = vectors.get(other)
    return vector?.length === asked.length
      ? vector.reduce((sum, value, i) => sum + value * (asked[i] ?? 0), 0)
      : -1
  }
  const unrelated = UNRELATED.map(near).sort((a, b) => a - b)[UNRELATED.length >> 1] ?? 0
  const best = candidates
    .map((candidate) => ({ candidate, reached: near(candidate.question) }))
    .reduce<{ candidate: T | null; reached: number }>((a, b) => (b.reached > a.reached ? b : a), {
      candidate: null,
      reached: 1 - NEAR * (1 - unrelated),
    })
  return best.candidate
}
