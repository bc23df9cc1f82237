import type { Language } from '../../platform/text/languages/language.ts'
import type { Stemmer } from '../../platform/text/languages/stem.ts'
import { splitWords, wordsOnly } from '../../platform/text/words/words.ts'
import { type AskedWord, codesIn, gramsOfWord, type Searchable, searchedText, termsOfWord } from './terms.ts'

/** The usual constants of BM25: how soon repetitions stop to count, and how much the length of a text does. */
const K = 1.2
const B = 0.75
/** What the similarity of vectors counts beside the words: as untuned as the rest, and enough. */
const VECTORS = 1.5

export type Candidate = Searchable & {
  id: string
  language: Language
  /** When its content was last changed or read. */
  updatedAt: Date
  similarity: number | null
  /** Whether its owner wants it first for this question. */
  isPinned: boolean
}

export type Scored = {
  id: string
  /** What the candidates are ordered by; comparable within one question only. */
  score: number
  /** The weight of the question's words that it holds, of those of all (0 to 1), stop words aside. */
  held: number
  /** The score by words alone, to show its place by them. */
  words: number
  similarity: number | null
  /** Whether one of its own questions is the question (2), or it is pinned for it (1); such candidates are first. */
  first: 0 | 1 | 2
}

/**
 * Scores candidates for a question: BM25 over stems and over character grams, each divided by its best, plus the
 * similarity of vectors between the worst and the best. `weights` are the idf of the words. Best first; of
 * several with this very question as their own, the newest.
 */
export function scoreCandidates(
  question: { text: string; words: readonly AskedWord[]; weights: readonly number[] },
  candidates: readonly Candidate[],
  stem: Stemmer,
): Scored[] {
  if (candidates.length === 0) return []
  const { words, weights } = question
  const hasCode = codesIn(question.text).length > 0
  const wantedTerms = placesOf(words.map(({ terms }) => terms))
  const askedGrams = [...new Set(splitWords(question.text).flatMap(gramsOfWord))]
  const wantedGrams = placesOf(askedGrams.map((gram) => [gram]))
  /** Words are taken apart once, because the candidates share most of theirs. */
  const known = new Map<Language, Map<string, { terms: WordPlaces; grams: WordPlaces }>>()
  const terms: Counts[] = []
  const grams: Counts[] = []
  for (const candidate of candidates) {
    const { language } = candidate
    const ofLanguage = known.get(language) ?? new Map()
    known.set(language, ofLanguage)
    const [ofTerms, ofGrams] = [noCounts(words.length), noCounts(askedGrams.length)]
    const text = searchedText(candidate)
    for (const word of splitWords(text)) {
      let parts = ofLanguage.get(word)
      if (!parts) {
        parts = {
          terms: countWanted(termsOfWord(word, language, stem), wantedTerms),
          grams: countWanted(gramsOfWord(word), wantedGrams),
        }
        ofLanguage.set(word, parts)
      }
      add(ofTerms, parts.terms)
      add(ofGrams, parts.grams)
    }
    if (hasCode) add(ofTerms, countWanted(codesIn(text), wantedTerms))
    terms.push(ofTerms)
    grams.push(ofGrams)
  }
  const byStems = bm25(terms, weights)
  const gramWeights = askedGrams.map((_, at) => {
    const holders = grams.filter(({ counts }) => (counts[at] ?? 0) > 0).length
    return Math.log(1 + (candidates.length - holders + 0.5) / (holders + 0.5))
  })
  const byGrams = bm25(grams, gramWeights)

  const [stems, spelled] = [byBest(byStems), byBest(byGrams)]
  const byWords = byBest(stems.map((score, i) => score + (spelled[i] ?? 0)))
  const similar = bySpan(candidates.map(({ similarity }) => similarity))
  const isOnlyStops = words.every(({ isStopWord }) => isStopWord)
  const counted = words.map(({ isStopWord }, at) => (isStopWord && !isOnlyStops ? 0 : (weights[at] ?? 0)))
  const whole = counted.reduce((sum, weight) => sum + weight, 0)
  const said = wordsOnly(question.text)
  const exact = new Map(
    candidates
      .filter(({ questions }) => said !== '' && questions?.some((own) => wordsOnly(own) === said))
      .map(({ id, updatedAt }) => [id, updatedAt.getTime()]),
  )
  return candidates
    .map((candidate, i) => ({
      id: candidate.id,
      similarity: candidate.similarity,
      score: (byWords[i] ?? 0) + VECTORS * (similar[i] ?? 0),
      words: byWords[i] ?? 0,
      held: whole === 0 ? 0 : heldBy(terms[i], counted) / whole,
      first: exact.has(candidate.id) ? (2 as const) : candidate.isPinned ? (1 as const) : (0 as const),
    }))
    .sort(
      (a, b) =>
        b.first - a.first ||
        (exact.get(b.id) ?? 0) - (exact.get(a.id) ?? 0) ||
        b.score - a.score ||
        (a.id < b.id ? -1 : 1),
    )
}

/** Returns the weight of the words that a candidate holds. */
function heldBy(terms: Counts | undefined, weights: readonly number[]): number {
  return weights.reduce((sum, weight, at) => sum + (terms?.counts[at] ? weight : 0), 0)
}

/** How many parts there are, and the places of those that are wanted. */
type WordPlaces = { length: number; places: readonly number[] }
type Counts = { length: number; counts: number[] }

function placesOf(groups: readonly (readonly string[])[]): Map<string, number[]> {
  const places = new Map<string, number[]>()
  for (const [at, group] of groups.entries())
    for (const part of group) places.set(part, [...(places.get(part) ?? []), at])
  return places
}

const countWanted = (
  parts: readonly string[],
  wanted: ReadonlyMap<string, readonly number[]>,
): WordPlaces => ({
  length: parts.length,
  places: parts.flatMap((part) => wanted.get(part) ?? []),
})

const noCounts = (size: number): Counts => ({ length: 0, counts: new Array<number>(size).fill(0) })

function add(to: Counts, { length, places }: WordPlaces): void {
  to.length += length
  for (const at of places) to.counts[at] = (to.counts[at] ?? 0) + 1
}

function bm25(texts: readonly Counts[], weights: readonly number[]): number[] {
  const mean = texts.reduce((sum, { length }) => sum + length, 0) / texts.length || 1
  return texts.map(({ counts, length }) => {
    const norm = K * (1 - B + (B * length) / mean)
    return counts.reduce(
      (sum, n, at) => sum + (n === 0 ? 0 : ((weights[at] ?? 0) * n * (K + 1)) / (n + norm)),
      0,
    )
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
