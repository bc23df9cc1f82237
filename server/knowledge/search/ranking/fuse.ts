import type { Hits } from './top-hits.ts'

/** A small constant, so that the first ranks count much more than the rest. */
const RANK_OFFSET = 10

/** Reciprocal rank fusion. Scores are shares (0 to 1) of the highest possible one. */
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
