import { createHash } from 'node:crypto'
import type { LoadedChunk } from '../load-content.ts'

/** Equal for equal chunks, in their order; what of a page never reaches an answer does not count. */
export function contentHash(chunks: readonly LoadedChunk[]): string {
  const hash = createHash('sha256')
  for (const { headingPath, page, text, questions } of chunks) {
    hash.update(JSON.stringify([headingPath, page, text, questions]))
  }
  return hash.digest('base64url')
}
