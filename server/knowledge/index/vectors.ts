import { type RawBuilder, sql } from 'kysely'

// Vectors are exchanged with the database as base64, because the embedded one takes five times as long for bytes.

/** Returns a vector in its stored form: little-endian float32. */
export function storedVector(vector: Float32Array): RawBuilder<Uint8Array> {
  const bytes = Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength)
  return sql`decode(${bytes.toString('base64')}, 'base64')`
}

/** Parses a stored vector as the database encodes it: base64, with line ends. */
export function vectorOfText(base64: string): Float32Array {
  // The bytes are copied, because a small buffer is part of a larger one and need not begin at a multiple of four.
  return new Float32Array(Uint8Array.from(Buffer.from(base64, 'base64')).buffer)
}
