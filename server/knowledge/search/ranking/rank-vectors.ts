import { greatestProduct } from '../../../models/static/best-row.ts'
import { scaleFor } from '../../../models/static/compact-vector.ts'
import { LIVE, type SlotTable } from '../tables/slot-table.ts'
import { cosineOf, cosinesOf, likeSigns, type VectorTable } from '../tables/vector-table.ts'
import { bestOfAll, collectHits, type Hits } from './top-hits.ts'

/**
 * Up to this many slots, the whole vectors of all are compared; above, only those that come first in the approximate
 * order.
 */
const FEW = 2_000
const KEPT = 300

/** Ranks visible slots by the cosine of their passage vectors. */
export function rankByVector(slots: SlotTable, table: VectorTable, vector: Int8Array, limit: number): Hits {
  const rough = slots.count > FEW ? likeSigns(table, vector, slots.count) : null
  if (!rough) return bestOfAll(slots, cosinesOf(table, vector, slots.count), limit)
  const hits = collectHits(limit)
  for (const slot of bestOfAll(slots, rough, KEPT).slots) hits.offer(slot, cosineOf(table, vector, slot))
  return hits.sorted()
}

/** Ranks the candidates by the cosine of their best sentence. */
export function rankBySentence(
  slots: SlotTable,
  candidates: Iterable<number>,
  vector: Int8Array,
  limit: number,
): Hits {
  const hits = collectHits(limit)
  for (const slot of candidates) {
    if (slots.states[slot] === LIVE) hits.offer(slot, bestSentence(slots, slot, vector))
  }
  return hits.sorted()
}

/** Returns the cosine of a slot's best sentence, heading or stored question; 0 if it has none. */
export function bestSentence(slots: SlotTable, slot: number, vector: Int8Array): number {
  const rows = slots.sentences[slot]
  if (!rows) return 0
  return greatestProduct(vector, rows) / scaleFor(vector.length) ** 2
}
