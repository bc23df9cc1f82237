import { greatestProduct } from '../../../models/static/best-row.ts'
import { scaleFor } from '../../../models/static/compact-vector.ts'
import { LIVE, type SlotTable } from '../tables/slot-table.ts'
import { cosinesAt, cosinesOf, nearestBySigns, type VectorTable } from '../tables/vector-table.ts'
import { bestOfAll, collectHits, type Hits } from './top-hits.ts'

/**
 * Up to this many slots, the whole vectors of all are compared; above, only those that come first in the approximate
 * order.
 */
const FEW = 2_000
const KEPT = 300

/** Ranks visible slots by the cosine of their passage vectors. */
export function rankByVector(slots: SlotTable, table: VectorTable, vector: Int8Array, limit: number): Hits {
  const { count, states } = slots
  const isLive = (slot: number): boolean => states[slot] === LIVE
  const nearest = count > FEW ? nearestBySigns(table, vector, count, isLive, KEPT) : null
  if (!nearest) return bestOfAll(slots, cosinesOf(table, vector, count), limit)
  const hits = collectHits(limit)
  const cosines = cosinesAt(table, vector, nearest)
  for (const [place, slot] of nearest.entries()) hits.offer(slot, cosines[place]!)
  return hits.sorted()
}

/** Ranks the candidates by the cosine of their best sentence, which `bestSentence` returns. */
export function rankBySentence(
  slots: SlotTable,
  candidates: Iterable<number>,
  bestSentence: (slot: number) => number,
  limit: number,
): Hits {
  const hits = collectHits(limit)
  for (const slot of candidates) {
    if (slots.states[slot] === LIVE) hits.offer(slot, bestSentence(slot))
  }
  return hits.sorted()
}

/**
 * Returns a function that computes once for each slot the cosine of its best sentence, heading or stored question; 0 if
 * it has none.
 */
export function bestSentenceFinder(slots: SlotTable, vector: Int8Array): (slot: number) => number {
  const known = new Map<number, number>()
  const scale = scaleFor(vector.length) ** 2
  return (slot) => {
    let best = known.get(slot)
    if (best === undefined) {
      const rows = slots.sentences[slot]
      best = rows ? greatestProduct(vector, rows) / scale : 0
      known.set(slot, best)
    }
    return best
  }
}
