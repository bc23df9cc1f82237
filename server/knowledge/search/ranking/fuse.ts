import type { Hits } from './top-hits.ts'

/** Small, so that the first places count much more than the tail. */
const RANK_OFFSET = 10

/** Reciprocal rank fusion. Scores are shares of the best possible one, 0..1. */
export function fuse(
  rankings: readonly { hits: Hits; weight: number }[],
  limit: number,
  offset = RANK_OFFSET,
): Hits {
  const scores = new Map<number, number>()
  let best = 0
  for (const { hits, weight } of rankings) {
    best += weight / (offset + 1)
    hits.slots.forEach((slot, place) => {
      scores.set(slot, (scores.get(slot) ?? 0) + weight / (offset + 1 + place))
    })
  }
  const sorted = [...scores].sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, limit)
  return { slots: sorted.map(([slot]) => slot), scores: sorted.map(([, score]) => score / (best || 1)) }
}
