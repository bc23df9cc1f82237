import { LIVE, type SlotTable } from '../tables/slot-table.ts'
import { cosineOf, sampleCosines, type VectorTable } from '../tables/vector-table.ts'

/** The most cosines that do not count for the mean, and the share of all that they may be: those of right passages. */
const MOST_LEFT_OUT = 3
const SHARE_LEFT_OUT = 0.25
/** Cosines of vectors with few dimensions are rounded, and a smaller deviation comes from the rounding. */
const LEAST_DEVIATION = 0.02
/** The deviation that is expected before any cosine is known, and the number of cosines that it counts for. */
const USUAL_DEVIATION = 0.08
const USUAL_COUNTS = 10

/**
 * Returns by how many standard deviations a passage's cosine with the question exceeds the mean of all passages; 0 for
 * one below the mean or without a vector. Models differ in the general level of their cosines, so that only this can
 * be compared.
 */
export function measureStandingOut(
  { states, count }: SlotTable,
  table: VectorTable,
  vector: Int8Array,
): (slot: number) => number {
  const cosines = sampleCosines(table, vector, count)
    .filter(({ slot, cosine }) => states[slot] === LIVE && cosine !== 0)
    .map(({ cosine }) => cosine)
    .sort((a, b) => b - a)
  const rest = cosines.slice(Math.min(MOST_LEFT_OUT, Math.floor(cosines.length * SHARE_LEFT_OUT)))
  const number = rest.length || 1
  const mean = rest.reduce((sum, cosine) => sum + cosine, 0) / number
  const squares = rest.reduce((sum, cosine) => sum + (cosine - mean) ** 2, 0)
  // The deviation of a few cosines may be small by chance, and an unrelated passage would then stand out.
  const variance = (squares + USUAL_COUNTS * USUAL_DEVIATION ** 2) / (rest.length + USUAL_COUNTS)
  const deviation = Math.max(Math.sqrt(variance), LEAST_DEVIATION)
  return (slot) => {
    const cosine = cosineOf(table, vector, slot)
    return cosine === 0 ? 0 : Math.max(0, (cosine - mean) / deviation)
  }
}
