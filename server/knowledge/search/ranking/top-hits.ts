import { LIVE, type SlotTable } from '../tables/slot-table.ts'

/** Slots with their scores, best first. */
export type Hits = { slots: number[]; scores: number[] }

type HitCollector = {
  offer(slot: number, score: number): void
  /** The score that a slot must exceed to be kept. */
  least(): number
  sorted(): Hits
}

/** Returns the best `limit` of the visible slots by their scores above zero. */
export function bestOfAll(
  { states, count }: SlotTable,
  scores: Float32Array | Int32Array,
  limit: number,
): Hits {
  const hits = collectHits(limit)
  let least = 0
  for (let slot = 0; slot < count; slot++) {
    const score = scores[slot]!
    if (score <= least || states[slot] !== LIVE) continue
    hits.offer(slot, score)
    least = hits.least()
  }
  return hits.sorted()
}

/** Keeps the best `limit` of the offered slots; scores of zero and below are ignored. */
export function collectHits(limit: number): HitCollector {
  const slots: number[] = []
  const scores: number[] = []

  const swap = (a: number, b: number): void => {
    const slot = slots[a]!
    const score = scores[a]!
    slots[a] = slots[b]!
    scores[a] = scores[b]!
    slots[b] = slot
    scores[b] = score
  }
  // A binary heap with the worst kept hit at the top.
  const siftUp = (): void => {
    let at = slots.length - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (scores[parent]! <= scores[at]!) return
      swap(at, parent)
      at = parent
    }
  }
  const siftDown = (): void => {
    let at = 0
    for (;;) {
      let least = at
      for (const child of [at * 2 + 1, at * 2 + 2]) {
        if (child < slots.length && scores[child]! < scores[least]!) least = child
      }
      if (least === at) return
      swap(at, least)
      at = least
    }
  }

  return {
    offer(slot, score) {
      if (!(score > 0)) return
      if (slots.length < limit) {
        slots.push(slot)
        scores.push(score)
        siftUp()
      } else if (score > scores[0]!) {
        slots[0] = slot
        scores[0] = score
        siftDown()
      }
    },
    least: () => (slots.length < limit ? 0 : scores[0]!),
    sorted() {
      const order = slots.map((_, i) => i).sort((a, b) => scores[b]! - scores[a]! || slots[a]! - slots[b]!)
      return { slots: order.map((i) => slots[i]!), scores: order.map((i) => scores[i]!) }
    },
  }
}
