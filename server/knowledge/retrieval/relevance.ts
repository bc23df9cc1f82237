import { informationOf } from '../../models/static/mean-vector.ts'
import { similarityOfRows, type WordVectors } from '../../models/static/word-vectors.ts'
import { splitWords } from '../../text/words.ts'
import type { IndexedChunk } from './passage.ts'

/** What speaks for a chunk holding the answer; all but `strangeness` are about the chunk. */
export type Evidence = {
  /** Share of the question's words, by weight, that the chunk has in some spelling. */
  coverage: number
  /** Share of the question's words spelled like nothing in the whole index. */
  strangeness: number
  /** Cosine of the best sentence; null when the word vectors do not speak the question's language. */
  sentence: number | null
  /** Mean closeness in meaning of the question's words to their closest in the chunk. */
  meaning: number
}

/**
 * The chance, 0..1, that a chunk answers the question: logistic regression on test/retrieval-corpus, positives and
 * negatives weighing the same. 0.5 is even odds on questions half of which have no answer.
 */
export function relevanceOf(evidence: Evidence): number {
  const { coverage, strangeness, sentence, meaning } = evidence
  const odds =
    sentence === null
      ? 5 * coverage - 4 * strangeness + 0.9
      : 1.6 * coverage + 2.2 * sentence + 1.6 * meaning - 3.4 * strangeness - 0.8
  return 1 / (1 + Math.exp(-odds))
}

/** For each word of the question the cosine of the closest word in the chunk; their mean, weighted by information. */
export function meaningShare(words: WordVectors, known: readonly string[], chunk: IndexedChunk): number {
  const text = [...chunk.headingPath, ...(chunk.questions ?? []), chunk.text].join(' ')
  const rows = new Set(splitWords(text).map((word) => words.row(word)))
  rows.delete(-1)
  let sum = 0
  let total = 0
  for (const word of known) {
    const row = words.row(word)
    const information = informationOf(words, row)
    sum += information * closest(words, row, rows)
    total += information
  }
  return total > 0 ? sum / total : 0
}

function closest(words: WordVectors, row: number, rows: ReadonlySet<number>): number {
  if (rows.has(row)) return 1
  let best = 0
  for (const other of rows) best = Math.max(best, similarityOfRows(words, row, other))
  return best
}
