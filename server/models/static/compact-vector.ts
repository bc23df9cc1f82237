/**
 * Stores one byte per number. The numbers of a unit-length vector with n dimensions are around 1/sqrt(n). Values up to
 * five times that are represented, and the rare larger ones are clipped.
 */
export function scaleFor(dimensions: number): number {
  return (127 * Math.sqrt(dimensions)) / 5
}

/** Writes a unit-length vector into `target` from `offset` on, one byte per number. */
export function writeCompact(vector: Float32Array, target: Int8Array, offset: number): void {
  const scale = scaleFor(vector.length)
  for (let i = 0; i < vector.length; i++) {
    target[offset + i] = Math.max(-127, Math.min(127, Math.round(vector[i]! * scale)))
  }
}

/** Returns a unit-length vector as bytes. */
export function compactVector(vector: Float32Array): Int8Array {
  const bytes = new Int8Array(vector.length)
  writeCompact(vector, bytes, 0)
  return bytes
}

/** Returns the cosine of a compact vector and the compact row that starts at `offset` of `rows`. */
export function compactCosine(vector: Int8Array, rows: Int8Array, offset: number): number {
  const length = vector.length
  let a = 0
  let b = 0
  let i = 0
  for (; i + 3 < length; i += 4) {
    a += vector[i]! * rows[offset + i]! + vector[i + 1]! * rows[offset + i + 1]!
    b += vector[i + 2]! * rows[offset + i + 2]! + vector[i + 3]! * rows[offset + i + 3]!
  }
  for (; i < length; i++) a += vector[i]! * rows[offset + i]!
  const scale = scaleFor(length)
  return (a + b) / (scale * scale)
}
