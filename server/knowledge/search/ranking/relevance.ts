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
  /** The share of the question's words, by weight, that the chunk has only as words for the same subject. */
  kin: number
  /** The weight of the most significant word of the question that the chunk lacks, as a share of the weight of all words. */
  missing: number
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
 * The weights lie between those of two fits: one to the questions of test/retrieval-corpus, and one to the lists of
 * questions and answers in real documentation, with the headings as questions and removed from the passages.
 */
export const orderOf = (evidence: Evidence): number => orderByWords(evidence) + VECTORS * evidence.standsOut

function orderByWords(evidence: Evidence): number {
  const { terms, held, first, near, spelled, match, heading, headingShare, placed, pieces } = evidence
  const { meanings, sentence, around } = evidence
  // The negative weights are for evidence that counts the same words a second time.
  return sentence === null
    ? 2.9 * terms -
        2.5 * held +
        0.7 * first +
        0.9 * near +
        5 * spelled +
        2.5 * match +
        2.7 * headingShare +
        3.1 * placed +
        5 * pieces
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
}

const LEAST_AHEAD = -3
const MOST_AHEAD = 5

/** Returns how far the chunk at `place` in a list, best first, is ahead of the best other one, within bounds. */
export function aheadAt(place: number, found: readonly Evidence[]): number {
  const rival = found[place === 0 ? 1 : 0]
  const ahead = rival ? orderByWords(found[place]!) - orderByWords(rival) : MOST_AHEAD
  return Math.min(MOST_AHEAD, Math.max(LEAST_AHEAD, ahead))
}

/**
 * Returns the log odds that one of several chunks, best first, contains the answer. The weights are those of
 * scripts/fit-relevance.ts.
 */
export function oddsAt(place: number, found: readonly Evidence[]): number {
  const evidence = found[place]!
  const { held, first, match, rarest, kin, headingShare, strangeness, words, size, few, meanings, sentence } =
    evidence
  const ahead = aheadAt(place, found)
  const byWords =
    sentence === null
      ? 1.1 * held +
        3.18 * match +
        0.53 * rarest -
        0.85 * kin -
        1.73 * strangeness +
        0.36 * words -
        0.33 * size +
        0.27 * few +
        0.44 * ahead -
        5.84
      : 1.74 * held +
        1.52 * first +
        1.59 * match +
        0.55 * headingShare -
        1.67 * strangeness -
        1.51 * evidence.unknownName -
        0.31 * size +
        0.34 * few +
        2.19 * meanings +
        0.46 * ahead -
        5.32
  return byWords + oddsByVectors(evidence)
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

export const chanceOf = (odds: number): number => 1 / (1 + Math.exp(-odds))

/** The bound of `few`. Without it, the smallest indexes would answer too many questions about something else. */
const MOST_FEW = 1.6

/**
 * Estimates the probability (0 to 1) that the documents cover the question at all, from one of the first chunks. It
 * decides whether any passage is offered, which is easier than deciding whether a passage is right. `pair` is its
 * worst pair, or null. Without word vectors, the weights are those of scripts/fit-relevance.ts. With word vectors, the
 * result is the lower of two models: one was fitted to whole collections, the other also to samples of 1 to 16 chunks.
 */
export function reachOf(evidence: Evidence, pair: number | null): number {
  const { match, rarest, strangeness, unknownName, words, size, few, meanings, sentence } = evidence
  if (sentence === null) {
    return chanceOf(
      3.55 * evidence.held +
        5.4 * match +
        1.9 * rarest +
        5.1 * evidence.headingShare -
        4 * evidence.kin -
        3.8 * strangeness +
        1.1 * words -
        0.75 * size +
        1.67 * Math.min(few, MOST_FEW) -
        8.4,
    )
  }
  const paired = pair ?? match
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
    3.04
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
    1.64
  return chanceOf(Math.min(ofWhole, ofParts) + 0.25 * few)
}
