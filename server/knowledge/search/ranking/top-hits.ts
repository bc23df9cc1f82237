/** Slots with their scores, best first. */
export type Hits = { slots: number[]; scores: number[] }

/** Keeps the best `limit` of the offered slots; scores of zero and below are ignored. */
export function collectHits(limit: number): { offer(slot: number, score: number): void; sorted(): Hits } {
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
    sorted() {
      const order = slots.map((_, i) => i).sort((a, b) => scores[b]! - scores[a]! || slots[a]! - slots[b]!)
      return { slots: order.map((i) => slots[i]!), scores: order.map((i) => scores[i]!) }
    },
  }
}
