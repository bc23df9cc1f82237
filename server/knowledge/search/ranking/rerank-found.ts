import type { Logger } from 'pino'
import type { Reranker } from '../../../models/vectors/reranker.ts'
import type { Passage } from '../passage.ts'
import type { SearchResult } from '../search-tables.ts'

/** Only a stored question that equals this one has such a score, and nothing fits better. */
export const SAME_QUESTION = 1

/**
 * Returns the first `limit` passages in the order of a reranking model. The scores stay with the ranks, because
 * scores of two models cannot be compared, and whether to answer at all is decided by our own evidence. If the model
 * fails, the order is unchanged.
 */
export async function rerankFound(
  { reranker, log }: { reranker: Reranker; log: Logger },
  question: string,
  found: SearchResult,
  { limit, signal }: { limit: number; signal: AbortSignal },
): Promise<SearchResult> {
  const { passages, confidence } = found
  const unchanged = { passages: passages.slice(0, limit), confidence }
  if (passages.length < 2 || confidence >= SAME_QUESTION) return unchanged
  try {
    const order = await reranker.order(question, passages.map(documentOf), { signal })
    const reordered = order.map((from, place) => ({ ...passages[from]!, score: passages[place]!.score }))
    return { passages: reordered.slice(0, limit), confidence }
  } catch (error) {
    if (!signal.aborted) log.warn({ err: error }, 'the passages could not be reranked')
    return unchanged
  }
}

/** Returns the text of a passage that the model reads, with the headings that say what it is about. */
function documentOf({ headingPath, questions = [], text }: Passage): string {
  return [headingPath.join(' > '), ...questions, text].filter((line) => line !== '').join('\n')
}
