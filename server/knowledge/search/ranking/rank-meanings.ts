import type { AnalysedQuestion, QuestionTerm } from '../question/analyse-question.ts'
import type { Tables } from '../tables/tables.ts'
import { FREQUENCY_MASK, slotOf } from '../tables/term-table.ts'
import { KIN_BESIDE_VECTORS, MOST_A_TERM_COUNTS, rarity, slownessOf } from './rank-terms.ts'
import { bestOfAll, type Hits } from './top-hits.ts'

/**
 * Finding the neighbours of a word takes milliseconds the first time, so only those of the most significant words are
 * used.
 */
const MOST_WIDENED = 8

/** `share` is a slot's part (0 to 1) of the highest score that the question could reach. */
type MeaningHits = Hits & { share: (slot: number) => number }

/**
 * BM25 in which a word of the question also matches words of similar meaning, with a weight that decreases with the
 * distance.
 */
export function rankByMeanings(tables: Tables, question: AnalysedQuestion, limit: number): MeaningHits {
  const { slots, terms } = tables
  const scores = new Float32Array(slots.count)
  const best = new Float32Array(slots.count)
  const average = slots.live > 0 ? slots.liveLength / slots.live : 1
  const slowness = slownessOf(slots, average)
  let most = 0
  for (const [place, term] of question.terms.entries()) {
    const found = term.forms.reduce(
      (sum, form) => sum + (terms.postings[terms.ids.get(form) ?? -1]?.length ?? 0),
      0,
    )
    const weight = rarity(slots, found)
    most += weight
    for (const [id, closeness] of termsMeant(tables, term, place < MOST_WIDENED && !term.isName)) {
      const factor = weight * closeness * MOST_A_TERM_COUNTS
      const postings = terms.postings[id]!
      for (let i = 0; i < postings.length; i++) {
        const posting = postings[i]!
        const slot = slotOf(posting)
        const frequency = (posting & FREQUENCY_MASK) * 0.5
        const score = (factor * frequency) / (frequency + slowness[slot]!)
        const before = best[slot]!
        if (score > before) best[slot] = score
      }
    }
    // A slot counts once for each word of the question, by the word of the most similar meaning.
    for (let slot = 0; slot < best.length; slot++) scores[slot]! += best[slot]!
    best.fill(0)
  }
  const top = most * MOST_A_TERM_COUNTS
  return { ...bestOfAll(slots, scores, limit), share: (slot) => (top > 0 ? (scores[slot] ?? 0) / top : 0) }
}

/**
 * Returns the numbers of the index's terms that a word matches, with the weight 1 for itself and less for its
 * neighbours.
 */
function termsMeant(
  { words, terms, lexicon }: Tables,
  { word, forms, kin }: QuestionTerm,
  isWidened: boolean,
): Map<number, number> {
  const meant = new Map<number, number>()
  for (const form of forms) {
    const id = terms.ids.get(form)
    if (id !== undefined) meant.set(id, 1)
  }
  const row = isWidened ? words.row(word) : -1
  for (const form of kin.flatMap((one) => one.forms)) {
    const id = terms.ids.get(form)
    if (id !== undefined && !meant.has(id)) meant.set(id, KIN_BESIDE_VECTORS)
  }
  if (row < 0) return meant
  // The neighbours are sorted by similarity, so a stem keeps the weight of its most similar word.
  for (const { row: other, similarity } of words.neighbours(row)) {
    const id = terms.ids.get(lexicon.stemOfRow(other))
    if (id !== undefined && !meant.has(id)) meant.set(id, similarity * similarity)
  }
  return meant
}
