import type { Logger } from 'pino'
import type { Reranker } from '../../../models/vectors/reranker.ts'
import { visibleText } from '../../../text/words/visible-text.ts'
import type { Passage } from '../passage.ts'
import type { SearchResult } from '../search-tables.ts'
import { weighReranking } from './weigh-reranking.ts'

/** The number of passages that a reranking model scores. */
export const RERANKED = 24
/** Only a stored question that equals this one has such a score, and nothing fits better. */
export const SAME_QUESTION = 1

type Options = { limit: number; signal: AbortSignal }

/**
 * Returns the first `limit` passages in the order that follows from the search and the scores of a reranking model,
 * which also change the probabilities. If the model fails, everything is as the search returned it.
 */
export async function rerankFound(
  { reranker, log }: { reranker: Reranker; log: Pick<Logger, 'warn'> },
  question: string,
  found: SearchResult,
  { limit, signal }: Options,
): Promise<SearchResult> {
  const { passages, confidence } = found
  const unchanged = { ...found, passages: passages.slice(0, limit) }
  if (passages.length < 2 || confidence >= SAME_QUESTION) return unchanged
  try {
    const scores = await reranker.judge(question, passages.map(documentOf), { signal })
    const weighed = weighReranking(passages, scores)
    return { ...found, passages: weighed.slice(0, limit), confidence: weighed[0]!.score }
  } catch (error) {
    if (!signal.aborted) log.warn({ err: error }, 'the passages could not be reranked')
    return unchanged
  }
}

/** Returns the text of a passage that the model reads, with the headings that say what it is about. */
function documentOf({ headingPath, questions = [], text }: Passage): string {
  return [headingPath.join(' > '), ...questions, visibleText(text)].filter((line) => line !== '').join('\n')
}
