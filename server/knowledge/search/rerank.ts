import type { Logger } from 'pino'
import type { Reranker } from '../../ai/embeddings/reranker.ts'
import { visibleText } from '../../platform/text/words/words.ts'
import type { Passage, SearchResult } from './knowledge.ts'

/** The number of passages that a reranking model scores. */
export const RERANKED = 24

type Options = { limit: number; signal: AbortSignal }

/**
 * Returns the first `limit` passages in the order of a reranking model, which only orders: how well the documents cover
 * the question remains what the search says. If the model fails, or the first place is taken by what was stored or
 * pinned for the question, the order is that of the search, too.
 */
export async function rerankFound(
  { reranker, log }: { reranker: Reranker; log: Pick<Logger, 'warn'> },
  question: string,
  found: SearchResult,
  { limit, signal }: Options,
): Promise<SearchResult> {
  const { passages } = found
  const unchanged = { ...found, passages: passages.slice(0, limit) }
  if (passages.length < 2 || passages[0]?.isFirst) return unchanged
  try {
    const scores = await reranker.judge(question, passages.map(documentOf), { signal })
    const judged = passages.map((passage, at) => ({ passage, score: scores[at] ?? 0 }))
    const ordered = judged.sort((a, b) => b.score - a.score).slice(0, limit)
    return { ...found, passages: ordered.map(({ passage }) => passage) }
  } catch (error) {
    if (!signal.aborted) log.warn({ err: error }, 'the passages could not be reranked')
    return unchanged
  }
}

/** Returns the text of a passage that the model reads, with the headings that say what it is about. */
function documentOf({ headingPath, questions = [], text }: Passage): string {
  return [headingPath.join(' > '), ...questions, visibleText(text)].filter((line) => line !== '').join('\n')
}
