import { createHash } from 'node:crypto'
import { createBreather } from '../../../fairness/breathe.ts'
import type { LoadedChunk } from '../load-content.ts'

/** Equal for equal chunks, in their order; what of a page never reaches an answer does not count. */
export async function contentHash(chunks: readonly LoadedChunk[]): Promise<string> {
  const breathe = createBreather()
  const hash = createHash('sha256')
  for (const { headingPath, page, text, questions, anchor } of chunks) {
    await breathe()
    hash.update(
      JSON.stringify([headingPath, page, text, questions, ...(anchor === undefined ? [] : [anchor])]),
    )
  }
  return hash.digest('base64url')
}
