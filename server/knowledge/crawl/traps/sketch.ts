/**
 * A sample of the pairs of words on a page: those with the lowest hashes, so that pages that say the same have the same
 * sample. In the second sample, any number stands for every other.
 */
export type Sketch = { plain: number[]; masked: number[] }

const SAMPLE = 64
const MAX_LENGTH = 50_000

export function sketchOf(texts: Iterable<string>): Sketch {
  const plain = new Set<number>()
  const masked = new Set<number>()
  let left = MAX_LENGTH
  for (const text of texts) {
    for (const line of text.slice(0, left).toLowerCase().split('\n')) {
      addPairs(plain, line)
      addPairs(masked, line.replace(/\p{N}+/gu, '0'))
    }
    left -= text.length
    if (left <= 0) break
  }
  return { plain: lowest(plain), masked: lowest(masked) }
}

function addPairs(pairs: Set<number>, line: string): void {
  let before = ''
  for (const [word] of line.matchAll(/[\p{L}\p{N}\p{M}]+/gu)) {
    pairs.add(hashOf(`${before} ${word}`))
    before = word
  }
}

/** FNV-1a, which is short and spreads well enough to sample by. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return hash >>> 0
}

const lowest = (hashes: Set<number>): number[] => [...hashes].sort((a, b) => a - b).slice(0, SAMPLE)

/** Returns the share of a sample that is not in others. */
export function shareOfNew(sample: readonly number[], known: ReadonlySet<number>): number {
  return sample.length === 0 ? 0 : sample.filter((hash) => !known.has(hash)).length / sample.length
}

export function isSame({ plain: a }: Sketch, { plain: b }: Sketch): boolean {
  return a.length > 0 && a.length === b.length && shareOfNew(a, new Set(b)) === 0
}
