/** What speaks for a chunk holding the answer; all but `strangeness` are about the chunk. */
export type Evidence = {
  /** BM25, as a share of the most that the question could score. */
  terms: number
  /** The same with neighbours in meaning; 0 when the word vectors do not speak the question's language. */
  meanings: number
  /** Cosine of the best sentence; null when the word vectors do not speak the question's language. */
  sentence: number | null
  /** Mean likeness, by weight, of the question's words to their closest in the chunk. */
  match: number
  /** Likeness of the question's most telling word to its closest in the chunk. */
  rarest: number
  /** As `match`, in the heading alone. */
  heading: number
  /** Mean likeness of the heading's words to their closest in the question. */
  headingShare: number
  /** Share of the question's words spelled like nothing in the whole index. */
  strangeness: number
}

/** Orders the chunks found for one question; has no meaning across questions. Fitted by scripts/fit-relevance.ts. */
export function orderOf(evidence: Evidence): number {
  const { terms, meanings, sentence, match, heading, headingShare } = evidence
  return sentence === null
    ? 0.8 * terms + 3.3 * match + 1.7 * heading + 3.2 * headingShare
    : 1.7 * terms + 2 * meanings + 3.1 * match + 2.1 * sentence + 1.9 * heading + 2.3 * headingShare
}

/**
 * The chance, 0..1, that a chunk answers the question. Fitted by scripts/fit-relevance.ts; the constants are moved so
 * that at 0.5 as many answerable questions are lost as unanswerable ones are let through.
 */
export function relevanceOf(evidence: Evidence): number {
  const { meanings, sentence, match, rarest, strangeness } = evidence
  const odds =
    sentence === null
      ? 3.6 * match + 0.8 * rarest - 2.3 * strangeness - 0.1
      : 1.8 * match + 1.2 * rarest + 1.7 * meanings - 3.4 * strangeness - 0.7
  return 1 / (1 + Math.exp(-odds))
}
