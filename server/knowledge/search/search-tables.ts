import type { Language } from '../../text/languages/language.ts'
import { wordsOnly } from '../../text/words/words.ts'
import { type IndexedChunk, type Passage, passageOf } from './passage.ts'
import { type AnalysedQuestion, analyseQuestion } from './question/analyse-question.ts'
import { findQuestion } from './question/exact-questions.ts'
import { besideAllWords } from './ranking/beside-all-words.ts'
import { gatherEvidence } from './ranking/gather-evidence.ts'
import { OFFERED_FROM } from './ranking/offered-from.ts'
import { rankByVector } from './ranking/rank-vectors.ts'
import {
  chanceOf,
  type Evidence,
  isConnected,
  isProved,
  oddsAt,
  orderOf,
  reachOf,
} from './ranking/relevance.ts'
import type { Hits } from './ranking/top-hits.ts'
import { worstPair } from './ranking/worst-pair.ts'
import { splitListFinder } from './split-lists.ts'
import type { Tables } from './tables/tables.ts'

/** The number of hits by the provider's vectors. */
const PROVIDED = 100
/** The penalty, in units of the order, that each chunk of a section puts on the later chunks of the same section. */
const SAME_SECTION = 0.5
/** The penalties for a chunk in another language than the question, in units of the order and of the odds. */
const FOREIGN = 4
const FOREIGN_ODDS = 3
/** The bonus for a section whose title is the question, word for word, as in lists of questions and answers. */
const ASKED = 6
const ASKED_ODDS = 2
const LONGEST_TITLE = 500
/**
 * The fewest words of a title that can be a question, because many sections have the same single word as their title.
 */
const FEWEST_WORDS = 3

export type SearchOptions = {
  limit: number
  queryVector?: Float32Array | null
  /** Whether to return the signals of each passage, too. */
  explain?: boolean
}
export type SearchResult = {
  passages: Passage[]
  confidence: number
  /** The signals by chunk id. */
  signals?: Map<string, Signals>
}

/** The signals that speak for a passage, each from 0 to 1; null when the passage has no such signal. */
export type Signals = {
  words: number
  spelling: number
  heading: number
  meaning: number | null
  sentence: number | null
  /** The similarity of the vectors from the embedding provider. */
  vectors: number | null
}

/** Returns the passages most likely to answer, best first, and the probability (0..1) that the best one does. */
export function searchTables(tables: Tables, question: string, options: SearchOptions): SearchResult {
  const exact = findQuestion(tables.exact, question)
  const analysed = analyseQuestion(question, tables, options.queryVector)
  const ranked = rankChunks(tables, analysed, wordsOnly(question.slice(0, LONGEST_TITLE)), options.limit)
  const others = ranked.slots.map((slot, i) => ({ slot, score: ranked.scores[i]! }))
  const first = exact.map((slot) => ({ slot, score: 1 }))
  const found = [...first, ...others.filter(({ slot }) => !exact.includes(slot))].slice(0, options.limit)
  const listsOf = splitListFinder(tables.slots)
  return {
    passages: found.map(({ slot, score }) => ({
      ...passageOf(tables.slots.chunks[slot]!, score),
      ...listsOf(slot),
    })),
    confidence: found[0]?.score ?? 0,
    ...(options.explain
      ? { signals: new Map(found.map(({ slot }) => [tables.slots.chunks[slot]!.id, ranked.signalsOf(slot)])) }
      : {}),
  }
}

const within = (value: number): number => Math.min(1, Math.max(0, value))

function signalsOf(evidence: Evidence | undefined, vectors: number | undefined): Signals {
  const speaks = evidence?.sentence ?? null
  return {
    words: within(evidence?.terms ?? 0),
    spelling: within(evidence?.spelled ?? 0),
    heading: within(evidence?.heading ?? 0),
    meaning: speaks === null ? null : within(evidence?.meanings ?? 0),
    sentence: speaks === null ? null : within(speaks),
    vectors: vectors === undefined ? null : within(vectors),
  }
}

type Ranked = Hits & { signalsOf(slot: number): Signals }

/** Returns up to `limit` of the best chunks, with a probability for each. */
function rankChunks(tables: Tables, question: AnalysedQuestion, asked: string, limit: number): Ranked {
  if (question.terms.length === 0 && !question.provided)
    return { slots: [], scores: [], signalsOf: () => signalsOf(undefined, undefined) }
  const provided = question.provided
    ? rankByVector(tables.slots, tables.provided!, question.provided, PROVIDED)
    : null
  const { candidates: found, matcher } = gatherEvidence(tables, question, provided)
  const evidenceOf = new Map(found.map(({ slot, evidence }) => [slot, evidence]))
  const isForeign = (slot: number): boolean =>
    question.isSure && !readsBoth(question.language, tables.languageOf[slot]!)
  // Vectors can connect two languages.
  const isBehind = (slot: number): boolean => !provided && isForeign(slot)
  const isUnread = (slot: number): boolean => isForeign(slot) && !isConnected(evidenceOf.get(slot)!)
  const titled = new Set(
    found.filter(({ slot }) => titleOf(tables.slots.chunks[slot]!) === asked).map(({ slot }) => slot),
  )
  const isAsked = (slot: number): boolean => titled.has(slot)
  const candidates = found
    .map(({ slot, evidence }) => {
      const order = orderOf(evidence) - (isBehind(slot) ? FOREIGN : 0)
      return { slot, order: order + (isAsked(slot) ? ASKED : 0) }
    })
    .sort((a, b) => b.order - a.order || a.slot - b.slot)
  spreadSections(tables, candidates)
  const slots = candidates.map(({ slot }) => slot)
  const inBoth = besideAllWords(slots, (slot) => evidenceOf.get(slot)!, isBehind)
  const order = [...inBoth.filter(isAsked), ...inBoth.filter((slot) => !isAsked(slot))]
  const kept = distinct(tables, order, limit)
  const evidence = kept.map((slot) => evidenceOf.get(slot)!)
  const chances = kept.map((slot, place) => {
    const odds = oddsAt(place, evidence) + (isAsked(slot) ? ASKED_ODDS : 0)
    return chanceOf(isUnread(slot) ? odds - FOREIGN_ODDS : odds)
  })
  const pairOf = (slot: number): number | null =>
    question.vector && worstPair(tables.slots.chunks[slot]!, question, matcher)
  const first = chances[0] ?? 0
  const reachedFrom = question.vector === null && first < UNLIKELY ? UNLIKELY_REACHED_FROM : REACHED_FROM
  const isReached =
    first >= LIKELY ||
    kept
      .slice(0, REACHING)
      .some((slot) => !isUnread(slot) && reachOf(evidenceOf.get(slot)!, pairOf(slot)) >= reachedFrom) ||
    kept.some((slot) => isProved(evidenceOf.get(slot)!))
  // The order and the probability weigh the evidence differently, but scores must not rise from one rank to the next.
  let score = 1
  const providedPlace = (slot: number): number => provided?.slots.indexOf(slot) ?? -1
  return {
    signalsOf: (slot) => signalsOf(evidenceOf.get(slot), provided?.scores[providedPlace(slot)]),
    slots: kept,
    scores: chances.map((chance, place) => {
      score = Math.min(score, withinReach(chance, isReached, place), mostFor(evidence[place]!))
      return score
    }),
  }
}

/** Returns up to `limit` slots without those whose chunk says the same as an earlier one, such as a site's footer. */
function distinct({ slots }: Tables, order: readonly number[], limit: number): number[] {
  const kept = new Map<string, number>()
  for (const slot of order) {
    if (kept.size === limit) break
    const { headingPath, text, questions } = slots.chunks[slot]!
    const said = JSON.stringify([headingPath, text, questions])
    if (!kept.has(said)) kept.set(said, slot)
  }
  return [...kept.values()]
}

/** Returns the words of a chunk's own heading without its number; null for a heading too short to be a question. */
function titleOf({ headingPath }: IndexedChunk): string | null {
  const words = wordsOnly(headingPath.at(-1) ?? '').replace(/^(?:\d+ )+/, '')
  return words.split(' ').length >= FEWEST_WORDS ? words : null
}

/** The number of first passages from which the search estimates whether the documents cover the question. */
const REACHING = 3
const REACHED_FROM = 0.5
/**
 * Without word vectors, the estimate must be higher if the probability of the first passage is below UNLIKELY, because
 * nine in ten such passages are wrong and most such questions are about something else.
 */
const UNLIKELY = 0.25
const UNLIKELY_REACHED_FROM = 0.85
/** The probability of the first passage from which that estimate does not matter. */
const LIKELY = 0.6
/**
 * A passage with less than half of the question, by weight, or without a word that makes up a quarter of it, is never
 * given as the answer, however far ahead of the others it is: it may be about the right product without saying what is
 * asked. Embeddings may connect the rest.
 */
const HALF = 0.55
const QUARTER = 0.25
const MOST_OF_PART = 0.65

function mostFor(evidence: Evidence): number {
  const isPart = evidence.held < HALF || evidence.missing >= QUARTER
  return evidence.sentence === null && isPart && !isConnected(evidence) ? MOST_OF_PART : 1
}

/**
 * Nothing is offered for a question that the documents do not cover. If they do, the first passage is offered even if
 * there is little evidence for it alone.
 */
function withinReach(chance: number, isReached: boolean, place: number): number {
  if (!isReached) return Math.min(chance, OFFERED_FROM * 0.99)
  return place === 0 ? Math.max(chance, OFFERED_FROM) : chance
}

/**
 * Returns whether somebody who asks in one language reads the other. Text without a recognised language, such as
 * code, counts as readable for everybody.
 */
function readsBoth(asked: Language, written: Language): boolean {
  const isNordic = (language: Language): boolean => language === 'da' || language === 'no'
  return asked === written || written === 'other' || (isNordic(asked) && isNordic(written))
}

/**
 * Lowers later chunks of a section, because chunks of one section say much the same and other sections should be
 * seen, too.
 */
function spreadSections(tables: Tables, candidates: { slot: number; order: number }[]): void {
  const taken = new Map<string, number>()
  for (const candidate of candidates) {
    const { sourceId, headingPath } = tables.slots.chunks[candidate.slot]!
    const section = JSON.stringify([sourceId, headingPath])
    const before = taken.get(section) ?? 0
    taken.set(section, before + 1)
    candidate.order -= before * SAME_SECTION
  }
  candidates.sort((a, b) => b.order - a.order || a.slot - b.slot)
}
