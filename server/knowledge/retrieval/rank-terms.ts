import type { AnalysedQuestion } from './analyse-question.ts'
import { LIVE } from './slot-table.ts'
import type { Tables } from './tables.ts'
import { FREQUENCY_MASK, slotOf } from './term-table.ts'
import { collectHits, type Hits } from './top-hits.ts'

const SATURATION = 1.2
const LENGTH_SHARE = 0.75

/** Hits of the question's words, and for every slot touched the share (0..1) of the question that it holds. */
export type TermHits = Hits & { coverage: (slot: number) => number }

/** BM25 over stems. */
export function rankByTerms(tables: Tables, question: AnalysedQuestion, limit: number): TermHits {
  const { slots, terms } = tables
  const scores = new Float32Array(slots.count)
  const covered = new Float32Array(slots.count)
  const average = slots.live > 0 ? slots.liveLength / slots.live : 1
  let total = 0
  for (const term of question.terms) {
    const lists = term.forms.map((form) => terms.postings[terms.ids.get(form) ?? -1] ?? [])
    const idf = inverseFrequency(
      lists.reduce((sum, list) => sum + list.length, 0),
      slots.live + slots.dead,
    )
    total += idf * term.information
    for (const list of lists) {
      for (const posting of list) {
        const slot = slotOf(posting)
        const frequency = (posting & FREQUENCY_MASK) / 2
        const relative = 1 - LENGTH_SHARE + (LENGTH_SHARE * slots.lengths[slot]!) / average
        scores[slot]! += (idf * frequency * (SATURATION + 1)) / (frequency + SATURATION * relative)
        covered[slot]! += idf * term.information
      }
    }
  }
  const hits = collectHits(limit)
  for (let slot = 0; slot < slots.count; slot++) {
    if (scores[slot]! > 0 && slots.states[slot] === LIVE) hits.offer(slot, scores[slot]!)
  }
  return { ...hits.sorted(), coverage: (slot) => (total > 0 ? Math.min(1, (covered[slot] ?? 0) / total) : 0) }
}

/** Rarity of something found in `found` of `all` chunks; never negative. */
export function inverseFrequency(found: number, all: number): number {
  return Math.log(1 + Math.max(0, all - found + 0.5) / (found + 0.5))
}
