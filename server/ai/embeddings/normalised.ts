/** Returns the vector with the same direction and length 1. */
export function normalised(values: ArrayLike<number>): Float32Array {
  const vector = Float32Array.from(values)
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0)) || 1
  return vector.map((value) => value / length)
}

/** Returns the first numbers of a vector, made as long as before; all of them for null. */
export const shortened = (vector: Float32Array, dimensions: number | null): Float32Array =>
  dimensions === null || vector.length <= dimensions ? vector : normalised(vector.subarray(0, dimensions))
