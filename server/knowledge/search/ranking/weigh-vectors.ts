import type { Hits } from './top-hits.ts'

/**
 * How far, in standard deviations, the best cosine stands out when the vectors decide the order, and when they do
 * not.
 */
const STANDS_OUT = 4
const DROWNS = 2
/**
 * The same bounds for whether the answer is certain. Among many vectors that carry no information, the best stands
 * out by three or four deviations.
 */
const PROVES = 7
const PROVES_NOTHING = 4
/** The weight of informative vectors exceeds that of all other evidence; the weight of others is almost zero. */
const MOST_WEIGHT = 3
const LEAST_WEIGHT = 0.3
const MOST_ODDS = 6
const LEAST_ODDS = -1
/**
 * The distance from the best cosine, as a share of how far that stands out, at which another cosine also supports its
 * passage.
 */
const BESIDE = 0.2

/**
 * Returns how much a provider's vectors count for one question. Models differ in the general level of their cosines.
 * What matters is how far the best one stands out among the others, which it hardly does if the model knows nothing
 * about the subject.
 */
export function weighVectors({ slots, scores }: Hits): { weight: number; oddsOf(slot: number): number } {
  const rest = scores.slice(Math.min(3, scores.length - 1))
  const mean = rest.reduce((sum, score) => sum + score, 0) / (rest.length || 1)
  const spread = Math.sqrt(rest.reduce((sum, score) => sum + (score - mean) ** 2, 0) / (rest.length || 1))
  const best = scores[0] ?? 0
  const out = (best - mean) / Math.max(spread, LEAST_SPREAD)
  const trust = shareBetween(DROWNS, STANDS_OUT, out)
  const proof = shareBetween(PROVES_NOTHING, PROVES, out)
  const placeOf = new Map(slots.map((slot, place) => [slot, place]))
  return {
    weight: LEAST_WEIGHT + trust * (MOST_WEIGHT - LEAST_WEIGHT),
    oddsOf(slot) {
      const place = placeOf.get(slot)
      const isBeside = place !== undefined && best - scores[place]! <= BESIDE * (best - mean)
      return isBeside ? LEAST_ODDS + proof * (MOST_ODDS - LEAST_ODDS) : LEAST_ODDS
    },
  }
}

const shareBetween = (from: number, to: number, value: number): number =>
  Math.min(1, Math.max(0, (value - from) / (to - from)))

/** Cosines of vectors with few dimensions are rounded, and a smaller spread comes from the rounding. */
const LEAST_SPREAD = 0.02
