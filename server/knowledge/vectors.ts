/** A vector as it is stored: little-endian float32. */
export function bytesOfVector(vector: Float32Array): Uint8Array {
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength)
}

export function vectorOfBytes(bytes: Uint8Array): Float32Array {
  // A copy: the driver's buffer need not begin at a multiple of four.
  return new Float32Array(Uint8Array.from(bytes).buffer)
}
