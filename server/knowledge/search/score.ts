import type { Language } from '../../text/languages/language.ts'
import type { Stemmer } from '../../text/languages/stem.ts'
import { wordsOnly } from '../../text/words/words.ts'
import { type AskedWord, gramsOf, type Searchable, searchedText, termsOf } from './terms.ts'

/** The usual constants of BM25: how soon repetitions stop to count, and how much the length of a text does. */
const K = 1.2
const B = 0.75
/** What the similarity of vectors counts beside the words: as untuned as the rest, and enough. */
const VECTORS = 1.5

export type Candidate = Searchable & { id: string; language: Language; similarity: number | null }

export type Scored = {
  id: string
  /** What the candidates are ordered by; comparable within one question only. */
  score: number
  /** The weight of the question's words that it holds, of those of all (0 to 1), stop words aside. */
  held: number
  /** The score by words alone, to show its place by them. */
  words: number
  similarity: number | null
  /** Whether one of its own questions is the question. */
  isExact: boolean
}

/**
 * Scores candidates for a question: BM25 over stems and over character grams, each divided by its best, plus the
 * similarity of vectors between the worst and the best. `weights` are the idf of the words. Best first.
 */
export function scoreCandidates(
  question: { text: string; words: readonly AskedWord[]; weights: readonly number[] },
  candidates: readonly Candidate[],
  stem: Stemmer,
): Scored[] {
  if (candidates.length === 0) return []
  const { words, weights } = question
  const texts = candidates.map(searchedText)
  const terms = texts.map((text, i) => countAsked(termsOf(text, candidates[i]!.language, stem), asked(words)))
  const countsOfWord = terms.map(({ counts }) =>
    words.map((word) => word.terms.reduce((sum, term) => sum + (counts.get(term) ?? 0), 0)),
  )
  const byStems = bm25(
    countsOfWord,
    terms.map(({ length }) => length),
    weights,
  )

  const askedGrams = [...new Set(gramsOf(question.text))]
  const grams = texts.map((text) => countAsked(gramsOf(text), new Set(askedGrams)))
  const countsOfGram = grams.map(({ counts }) => askedGrams.map((gram) => counts.get(gram) ?? 0))
  const gramWeights = askedGrams.map((_, at) => {
    const holders = countsOfGram.filter((counts) => counts[at]! > 0).length
    return Math.log(1 + (candidates.length - holders + 0.5) / (holders + 0.5))
  })
  const byGrams = bm25(
    countsOfGram,
    grams.map(({ length }) => length),
    gramWeights,
  )

  const [stems, spelled] = [byBest(byStems), byBest(byGrams)]
  const byWords = byBest(stems.map((score, i) => score + spelled[i]!))
  const similar = bySpan(candidates.map(({ similarity }) => similarity))
  const isOnlyStops = words.every(({ isStopWord }) => isStopWord)
  const counted = words.map(({ isStopWord }, at) => (isStopWord && !isOnlyStops ? 0 : weights[at]!))
  const whole = counted.reduce((sum, weight) => sum + weight, 0)
  const said = wordsOnly(question.text)
  return candidates
    .map(({ id, questions, similarity }, i) => ({
      id,
      similarity,
      score: byWords[i]! + VECTORS * similar[i]!,
      words: byWords[i]!,
      held:
        whole === 0
          ? 0
          : countsOfWord[i]!.reduce((sum, n, at) => sum + (n > 0 ? counted[at]! : 0), 0) / whole,
      isExact: said !== '' && (questions ?? []).some((own) => wordsOnly(own) === said),
    }))
    .sort((a, b) => Number(b.isExact) - Number(a.isExact) || b.score - a.score || (a.id < b.id ? -1 : 1))
}

const asked = (words: readonly AskedWord[]): Set<string> => new Set(words.flatMap(({ terms }) => terms))

function countAsked(terms: readonly string[], wanted: ReadonlySet<string>) {
  const counts = new Map<string, number>()
  for (const term of terms) if (wanted.has(term)) counts.set(term, (counts.get(term) ?? 0) + 1)
  return { counts, length: terms.length }
}

function bm25(counts: readonly number[][], lengths: readonly number[], weights: readonly number[]): number[] {
  const mean = lengths.reduce((sum, length) => sum + length, 0) / lengths.length || 1
  return counts.map((ofText, i) => {
    const norm = K * (1 - B + (B * lengths[i]!) / mean)
    return ofText.reduce((sum, n, at) => sum + (n === 0 ? 0 : (weights[at]! * n * (K + 1)) / (n + norm)), 0)
  })
}

function byBest(scores: readonly number[]): number[] {
  const best = Math.max(...scores)
  return scores.map((score) => (best > 0 ? score / best : 0))
}

/** Scales similarities to 0..1. A candidate without one was not among the nearest, so it gets 0. */
function bySpan(similarities: readonly (number | null)[]): number[] {
  const known = similarities.filter((similarity) => similarity !== null)
  const [low, high] = [Math.min(...known), Math.max(...known)]
  return similarities.map((similarity) =>
    similarity === null ? 0 : high === low ? 1 : (similarity - low) / (high - low),
  )
}
