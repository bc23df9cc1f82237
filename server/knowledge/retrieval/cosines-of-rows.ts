import { BLOCK_BYTES, BLOCK_ROWS, scanBlock, strideOf } from '../../models/static/scan-block.ts'
import type { WordVectors } from '../../models/static/word-vectors.ts'

/** For each of the `own` rows of the word vectors its cosines with the `others`; -1 stands for none, with cosine 0. */
export function cosinesOfRows(
  { values, lengths, dimensions }: WordVectors,
  own: readonly number[],
  others: Int32Array,
): (Float64Array | null)[] {
  const cosines = own.map((row) => (row < 0 ? null : new Float64Array(others.length)))
  if (cosines.every((each) => each === null)) return cosines
  const stride = strideOf(dimensions)
  const atOnce = Math.min(BLOCK_ROWS, Math.floor(BLOCK_BYTES / stride))
  const dots = new Int32Array(Math.min(atOnce, others.length))
  for (let from = 0; from < others.length; from += atOnce) {
    const some = others.subarray(from, from + atOnce)
    const block = new Int8Array(some.length * stride)
    for (let i = 0; i < some.length; i++) {
      const start = some[i]! * dimensions
      if (start >= 0) block.set(values.subarray(start, start + dimensions), i * stride)
    }
    for (let place = 0; place < own.length; place++) {
      const found = cosines[place]
      if (!found) continue
      const row = own[place]!
      scanBlock(values.subarray(row * dimensions, (row + 1) * dimensions), block, stride, dots, 0)
      for (let i = 0; i < some.length; i++) {
        const other = some[i]!
        if (other >= 0) found[from + i] = dots[i]! / (lengths[row]! * lengths[other]! || 1)
      }
    }
  }
  return cosines
}
