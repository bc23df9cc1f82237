/** What speaks for a chunk holding the answer; the last four are about the question and the index. */
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
  /** Mean cosine of the passages found below the same heading. */
  around: number
  /** Share of the question's words spelled like nothing in the whole index. */
  strangeness: number
  /** 1 when the question has a name that is nowhere in the index. */
  unknownName: number
  /** Words of the question that tell something, up to a bound: of one word a good match is less of a proof. */
  words: number
  /** Logarithm of the number of chunks within bounds, 0 for many: among many some are alike by chance. */
  size: number
}

/**
 * Orders the chunks found for one question; has no meaning across questions. Fitted by scripts/fit-relevance.ts; the
 * weight of `terms` is negative because `meanings` and `match` count the same words again.
 */
export function orderOf(evidence: Evidence): number {
  const { terms, meanings, sentence, match, heading, headingShare, around } = evidence
  return sentence === null
    ? 2.3 * terms + 5.5 * match + 0.5 * heading + 4.6 * headingShare
    : -4.1 * terms +
        5.6 * match +
        0.9 * heading +
        3.5 * headingShare +
        10.9 * meanings +
        6.6 * sentence +
        4 * around
}

/**
 * The chance, 0..1, that a chunk answers the question. `pair` is its worst pair, or null. Fitted by
 * scripts/fit-relevance.ts; constants and weights of `size` are moved so that at 0.5 as many answerable questions are
 * lost as unanswerable ones are let through, in large and in small sets.
 */
export function relevanceOf(evidence: Evidence, pair: number | null): number {
  const { meanings, sentence, match, rarest, strangeness, unknownName, words, size } = evidence
  const paired = pair ?? match
  const odds =
    sentence === null
      ? 5 * match - 3 * strangeness + 1.2 * words - 1.3 * size - 4.9
      : 0.6 * match +
        0.7 * rarest +
        2.7 * paired -
        3.3 * strangeness +
        0.76 * words -
        0.6 * size +
        6.7 * meanings -
        3.7 * sentence -
        3.3 * unknownName -
        3.2
  return 1 / (1 + Math.exp(-odds))
}
