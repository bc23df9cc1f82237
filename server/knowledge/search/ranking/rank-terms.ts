import type { AnalysedQuestion } from '../question/analyse-question.ts'
import type { SlotTable } from '../tables/slot-table.ts'
import type { Tables } from '../tables/tables.ts'
import { FREQUENCY_MASK, slotOf } from '../tables/term-table.ts'
import { bestOfAll, type Hits } from './top-hits.ts'

const SATURATION = 1.2
const LENGTH_SHARE = 0.75
/**
 * In a smaller index, rarity is computed as if there were this many chunks, because among three chunks nothing is
 * rare.
 */
const FEWEST_CHUNKS = 200
/** The weight of a word that documents use for the same subject, relative to the question's own word. */
const KIN = 1
/** The same where word vectors are used, which already find many such words. */
export const KIN_BESIDE_VECTORS = 0.35
/** Such a word is skipped if more than this share of the passages has it, because then it does not tell them apart. */
const MOST_OF_KIN = 0.25

/** The most that the frequency of a term can count for. */
export const MOST_A_TERM_COUNTS = SATURATION + 1

/**
 * Hits for the question's words. `share` is a slot's score as a part (0..1) of the highest score that the question
 * could reach.
 */
export type TermHits = Hits & {
  share: (slot: number) => number
  /** The part (0..1) of the question's words, weighted by rarity, that a slot has. */
  held: (slot: number) => number
  /** The BM25 score of a slot, from which `share` is computed. */
  score: (slot: number) => number
  /** A slot's length relative to the average length. */
  relative: (slot: number) => number
}

/** Ranks slots by BM25 over stems. */
export function rankByTerms(tables: Tables, question: AnalysedQuestion, limit: number): TermHits {
  const { slots } = tables
  const scores = new Float32Array(slots.count)
  const average = slots.live > 0 ? slots.liveLength / slots.live : 1
  const slowness = slownessOf(slots, average)
  const held = new Float32Array(slots.count)
  const seenFor = new Int32Array(slots.count).fill(-1)
  const kinWeight = question.vector ? KIN_BESIDE_VECTORS : KIN
  let total = 0
  const scoreOf = (posting: number, slot: number, weight: number): number => {
    const frequency = (posting & FREQUENCY_MASK) / 2
    return (weight * (frequency * MOST_A_TERM_COUNTS)) / (frequency + slowness[slot]!)
  }
  const countOf = (lists: readonly (readonly number[])[]): number =>
    lists.reduce((sum, list) => sum + list.length, 0)
  for (const [place, term] of question.terms.entries()) {
    const lists = postingsOf(tables, term.forms)
    const ofKin = term.kin.map(({ forms }) => postingsOf(tables, forms))
    const idf = rarity(slots, countOf(term.isAdded ? ofKin.flat() : lists)) * Math.max(1, term.information)
    total += idf
    for (const list of lists) {
      for (const posting of list) {
        const slot = slotOf(posting)
        scores[slot]! += scoreOf(posting, slot, idf)
        if (seenFor[slot] !== place) held[slot]! += idf
        seenFor[slot] = place
      }
    }
    // A slot without the word scores by the best of the words that documents use for its subject.
    const best = new Map<number, { score: number; weight: number }>()
    for (const lists of ofKin) {
      const found = countOf(lists)
      if (found > MOST_OF_KIN * Math.max(slots.live, FEWEST_CHUNKS)) continue
      const weight = kinWeight * Math.min(idf, rarity(slots, found))
      for (const posting of lists.flat()) {
        const slot = slotOf(posting)
        if (seenFor[slot] === place) continue
        const score = scoreOf(posting, slot, weight)
        if (score > (best.get(slot)?.score ?? 0)) best.set(slot, { score, weight })
      }
    }
    for (const [slot, { score, weight }] of best) {
      scores[slot]! += score
      held[slot]! += weight
    }
  }
  const top = total * MOST_A_TERM_COUNTS
  return {
    ...bestOfAll(slots, scores, limit),
    share: (slot) => (top > 0 ? (scores[slot] ?? 0) / top : 0),
    held: (slot) => (total > 0 ? (held[slot] ?? 0) / total : 0),
    score: (slot) => scores[slot] ?? 0,
    relative: (slot) => slots.lengths[slot]! / average,
  }
}

const postingsOf = ({ terms }: Tables, forms: readonly string[]): (readonly number[])[] =>
  forms.map((form) => terms.postings[terms.ids.get(form) ?? -1] ?? [])

/** Returns the weight of a term's frequency in a chunk of `relative` times the average length. */
export function saturated(frequency: number, relative: number): number {
  return (frequency * MOST_A_TERM_COUNTS) / (frequency + slownessFor(relative))
}

const slownessFor = (relative: number): number => SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * relative)

/** Returns for each slot what is added to the frequency of a term in the weight of the frequency. */
export function slownessOf({ lengths, count }: SlotTable, average: number): Float64Array {
  const slowness = new Float64Array(count)
  for (let slot = 0; slot < count; slot++) slowness[slot] = slownessFor(lengths[slot]! / average)
  return slowness
}

/** Returns the rarity of a term found in `found` chunks. */
export function rarity({ live, dead }: SlotTable, found: number): number {
  return inverseFrequency(found, Math.max(live + dead, FEWEST_CHUNKS))
}

/** Returns the rarity of something found in `found` of `all` chunks; it is never negative. */
export function inverseFrequency(found: number, all: number): number {
  return Math.log(1 + Math.max(0, all - found + 0.5) / (found + 0.5))
}
