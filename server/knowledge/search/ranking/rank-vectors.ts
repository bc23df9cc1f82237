import { compactCosine } from '../../../models/static/compact-vector.ts'
import { LIVE, type SlotTable } from '../tables/slot-table.ts'
import { cosinesOf, type VectorTable } from '../tables/vector-table.ts'
import { collectHits, type Hits } from './top-hits.ts'

/** Exact scan of all live slots by the cosine of their passage vectors. */
export function rankByVector(slots: SlotTable, table: VectorTable, vector: Int8Array, limit: number): Hits {
  const hits = collectHits(limit)
  const cosines = cosinesOf(table, vector, slots.count)
  for (let slot = 0; slot < slots.count; slot++) {
    if (slots.states[slot] === LIVE) hits.offer(slot, cosines[slot]!)
  }
  return hits.sorted()
}

/** The candidates by the cosine of their best sentence. */
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

/** Cosine of a slot's best sentence, heading or stored question; 0 when it has none. */
export function bestSentence(slots: SlotTable, slot: number, vector: Int8Array): number {
  const rows = slots.sentences[slot]
  if (!rows) return 0
  let best = 0
  for (let at = 0; at < rows.length; at += vector.length)
    best = Math.max(best, compactCosine(vector, rows, at))
  return best
}
