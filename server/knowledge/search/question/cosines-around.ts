import type { Tables } from '../tables/tables.ts'
import { cosineOf } from '../tables/vector-table.ts'

/** Returns for each slot the mean cosine of the passages found below the same heading. */
export function cosinesAround(
  { slots, passages }: Tables,
  candidates: Iterable<number>,
  vector: Int8Array,
): Map<number, number> {
  const families = new Map<string, number[]>()
  for (const slot of candidates) {
    const { sourceId, headingPath } = slots.chunks[slot]!
    const parent = JSON.stringify([sourceId, ...headingPath.slice(0, -1)])
    const family = families.get(parent)
    if (family) family.push(slot)
    else families.set(parent, [slot])
  }
  const means = new Map<number, number>()
  for (const family of families.values()) {
    const sum = family.reduce((total, slot) => total + cosineOf(passages, vector, slot), 0)
    for (const slot of family) means.set(slot, sum / family.length)
  }
  return means
}
