/**
 * The evidence that a chunk holds the answer. `strangeness`, `unknownName`, `words`, `size` and `few` are about the
 * question or the index, and the others about the chunk.
 */
export type Evidence = {
  /** The BM25 score, as a share of the highest score that the question could reach. */
  terms: number
  /**
   * The same, counting words of similar meaning, too; 0 when the word vectors do not cover the question's language.
   */
  meanings: number
  /** The cosine of the best sentence; null when the word vectors do not cover the question's language. */
  sentence: number | null
  /** The weighted mean similarity of the question's words to their closest words in the chunk. */
  match: number
  /** The similarity of the question's most significant word to the closest word in the chunk. */
  rarest: number
  /** The same as `match`, for the heading alone. */
  heading: number
  /** The mean similarity of the heading's words to their closest words in the question. */
  headingShare: number
  /** The mean cosine of the passages found below the same heading. */
  around: number
  /**
   * How far the cosine by the vectors of the embedding provider stands out, in standard deviations; 0 without such
   * vectors.
   */
  standsOut: number
  /** The share of the question's words to which no word in the whole index is spelled similarly. */
  strangeness: number
  /** 1 when the question contains a name that does not occur in the index. */
  unknownName: number
  /**
   * The number of significant words in the question, up to a bound: a good match proves less when there is only one.
   */
  words: number
  /** The part of the question's words, weighted by rarity, that the chunk has. */
  held: number
  /** The reciprocal of the chunk's BM25 rank; 0 when it is not among the first. */
  first: number
  /**
   * A weight for the chunk's rank among the candidates by BM25 of all words, including stop words: 1 for the first
   * rank and less for the others.
   */
  placed: number
  /** The BM25 score by pieces of words, as a share of the best candidate's; 0 where the word vectors cover the language. */
  pieces: number
  /** The BM25 score, as a share of the best chunk's. */
  near: number
  /** The similarity in spelling, as a share of the best chunk's. */
  spelled: number
  /**
   * The logarithm of the number of chunks within bounds; 0 for many. Among many chunks, some are similar by chance.
   */
  size: number
  /** The logarithm of how many times fewer chunks there are than in the indexes that the weights were fitted to. */
  few: number
}

/**
 * The weight of vectors of an embedding provider in the order. With this weight, a weak model does hardly any harm, and
 * vectors that stand out as clearly as those of a good model outweigh the words.
 */
const VECTORS = 1
/**
 * Such vectors make a passage more likely from PROVES standard deviations on. Each further one raises the log odds by
 * PROOF, up to MOST_PROOF in all.
 */
const PROVES = 4
const PROOF = 1
const MOST_PROOF = 8
/** The number from which they show, without any word, that the documents cover the question. */
const PROVES_ALONE = 7

/**
 * Returns a score that orders the chunks found for one question; scores of different questions cannot be compared.
 * The weights lie between those of two fits: one to the questions that scripts/fit-relevance.ts uses, and one to the
 * lists of questions and answers in real documentation, with the headings as questions and removed from the passages.
 */
export function orderOf(evidence: Evidence): number {
  const { terms, held, first, near, spelled, match, heading, headingShare, placed, pieces } = evidence
  const { meanings, sentence, around, standsOut } = evidence
  // The negative weights are for evidence that counts the same words a second time.
  const byWords =
    sentence === null
      ? 2.9 * terms -
        2.5 * held +
        0.7 * first +
        0.9 * near +
        1.8 * spelled +
        2.5 * match +
        2.7 * headingShare +
        3.1 * placed +
        6 * pieces
      : -2.6 * terms +
        2.9 * held +
        2 * first -
        2.8 * near -
        0.4 * spelled +
        6.5 * match +
        0.7 * heading +
        2.6 * headingShare +
        0.2 * placed +
        8.8 * meanings +
        5.3 * sentence +
        2.8 * around
  return byWords + VECTORS * standsOut
}

/**
 * Returns the log odds that one of the first chunks contains the answer. `pair` is its worst pair, or null. The
 * weights were fitted by scripts/fit-relevance.ts to whether the passage is right: in collections left out of the
 * fit, nine in ten of the passages with a probability of 0.9 are right.
 */
export function oddsOf(evidence: Evidence, pair: number | null): number {
  return oddsAmongMany(evidence, pair) + oddsOfFew(evidence) + oddsByVectors(evidence)
}

/** Returns whether the vectors of an embedding provider connect the question to a passage in another language. */
export const isConnected = ({ standsOut }: Evidence): boolean => standsOut >= PROVES

/** Returns whether the vectors of an embedding provider alone show that the documents cover the question. */
export const isProved = ({ standsOut }: Evidence): boolean => standsOut >= PROVES_ALONE

/**
 * Returns the change of the odds by the vectors of an embedding provider. Among a thousand vectors without any
 * information, the best stands out by three or four deviations. With a weak model, so does the best for any question.
 */
const oddsByVectors = ({ standsOut }: Evidence): number =>
  Math.min(MOST_PROOF, PROOF * Math.max(0, standsOut - PROVES))

/**
 * Returns the change of the odds in a small index, where fewer other chunks compete with the right one. Fitted to
 * runs of 1, 3, 8 and 20 chunks of test/retrieval-corpus, with the right chunk and without it.
 */
const oddsOfFew = ({ few, rarest, sentence }: Evidence): number =>
  few * (sentence === null ? 0.2 : 0.28 + 0.1 * rarest)

function oddsAmongMany(evidence: Evidence, pair: number | null): number {
  const { terms, held, first, match, rarest, heading, headingShare, strangeness, words, meanings, sentence } =
    evidence
  const paired = pair ?? match
  return sentence === null
    ? -2.7 * terms +
        2.8 * first +
        5.3 * match +
        0.6 * rarest +
        0.7 * heading +
        2.1 * headingShare +
        1.3 * strangeness -
        6.8
    : -0.2 * terms +
        0.4 * held +
        1.8 * first +
        2 * match +
        rarest +
        0.2 * paired +
        0.6 * heading +
        1.6 * headingShare +
        1.9 * strangeness +
        0.2 * words +
        meanings +
        0.5 * sentence -
        0.9 * evidence.unknownName -
        7
}

/**
 * The observed frequencies for estimates by `oddsOf` in the collections of bench/answers, roughly and chosen by hand:
 * of passages with an estimate of 0.5, eight in ten were right. Values between two points are interpolated linearly.
 */
const CAME_TO: readonly (readonly [chance: number, share: number])[] = [
  [0, 0],
  [0.15, 0.15],
  [0.3, 0.5],
  [0.5, 0.75],
  [0.65, 0.83],
  [0.85, 0.89],
  [1, 0.95],
]

/** Returns how often passages with such an estimate are right. */
export function shareRight(chance: number): number {
  const above = CAME_TO.findIndex(([from]) => from >= chance)
  if (above <= 0) return CAME_TO[0]![1]
  const [[from, low], [to, high]] = [CAME_TO[above - 1]!, CAME_TO[above]!]
  return low + ((chance - from) / (to - from)) * (high - low)
}

export const chanceOf = (odds: number): number => 1 / (1 + Math.exp(-odds))

/**
 * Estimates the probability (0 to 1) that the documents cover the question at all, from one of the top-ranked chunks.
 * It decides whether any passage is offered, which is easier than deciding whether a passage is right. The result is
 * the lower of two models: one was fitted to whole collections, the other also to samples of 1 to 16 chunks. At about
 * 0.45, as many answerable questions are lost as unanswerable ones are accepted. Without word vectors, the first
 * model lies halfway between two fits, the second of which is to the older sets of bench/answers and to 70 everyday
 * questions that no document answers, so that documents do not cover a question if they only contain its common
 * words.
 */
export function reachOf(evidence: Evidence, pair: number | null): number {
  const { meanings, sentence, match, rarest, strangeness, unknownName, words, size } = evidence
  const paired = pair ?? match
  if (sentence === null) {
    const { held, headingShare } = evidence
    const ofWhole =
      3.15 * match +
      0.8 * held +
      0.95 * rarest +
      0.8 * paired +
      0.65 * headingShare -
      2.85 * strangeness +
      1.26 * words -
      1.3 * size -
      5.76
    const ofParts = 2.4 * match + 0.2 * rarest + 0.3 * paired - 1.9 * strangeness + 0.18 * match * words - 0.1
    return chanceOf(Math.min(ofWhole, ofParts))
  }
  const ofWhole =
    0.6 * match +
    0.7 * rarest +
    2.7 * paired -
    3.3 * strangeness +
    0.76 * words -
    0.6 * size +
    6.7 * meanings -
    3.7 * sentence -
    3.3 * unknownName -
    3.2
  const ofParts =
    1.2 * match +
    0.5 * rarest +
    0.5 * paired -
    1.7 * strangeness +
    0.05 * words +
    0.11 * match * words +
    1.9 * sentence +
    2.3 * meanings -
    0.6 * unknownName -
    1.8
  return chanceOf(Math.min(ofWhole, ofParts))
}
