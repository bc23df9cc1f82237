import type { Context } from '../../context.ts'
import { isId } from '../../db/ids.ts'
import type { AccountId } from '../../db/tables/columns.ts'
import { ApiError } from '../../http/errors.ts'
import type { SourceRow } from '../sources/queries.ts'
import { describePassage, type Passage, type SearchResult, type Signals } from './knowledge.ts'
import { RERANKED, rerankFound } from './rerank.ts'

/** The most passages that any ranker is asked for. */
const DEPTH = 100

type Missing = {
  reason: 'not_live' | 'no_text' | 'no_signal' | 'further_down' | 'unlikely' | 'indexing'
  sentence: string
  /** The rank of its best passage among all passages found. */
  place: number | null
}

type Agent = { id: string; account_id: AccountId; knowledge_version: number }

const NOWHERE: Signals = { words: null, vectors: null }

/** Runs the search for a question as an answer would, and returns the evidence for each passage. */
export async function explainSearch(
  { db, knowledge, models, log }: Pick<Context, 'db' | 'knowledge' | 'models' | 'log'>,
  agent: Agent,
  { question, limit, expectedSourceId }: { question: string; limit: number; expectedSourceId?: string },
) {
  const expected = expectedSourceId === undefined ? null : await sourceOf(db, agent, expectedSourceId)
  const asked = { id: agent.id, accountId: agent.account_id, knowledgeVersion: agent.knowledge_version }
  const all = await knowledge.search(asked, [question], { limit: DEPTH, explain: true })
  const first = { ...all, passages: all.passages.slice(0, Math.max(limit, RERANKED)) }
  const { reranker } = models
  const signal = AbortSignal.timeout(30_000)
  const found = reranker
    ? await rerankFound({ reranker, log }, question, first, { limit, signal })
    : { ...first, passages: first.passages.slice(0, limit) }
  const placeOf = new Map(all.passages.map(({ chunkId }, at) => [chunkId, at + 1]))
  return {
    confidence: found.confidence,
    isFound: found.isFound,
    isIndexing: found.isIndexing,
    reranked: reranker !== null,
    passages: found.passages.map((passage, at) => ({
      place: at + 1,
      placeBeforeReranking: placeOf.get(passage.chunkId) ?? at + 1,
      chunkId: passage.chunkId,
      ...describePassage(passage),
      signals: all.signals?.get(passage.chunkId) ?? NOWHERE,
    })),
    missing: expected && (await whyMissing(db, expected, all, found)),
  }
}

type Source = Pick<SourceRow, 'id' | 'account_id' | 'status' | 'error' | 'live_version'>

async function sourceOf(db: Context['db'], agent: Agent, id: string): Promise<Source> {
  const row = isId(id)
    ? await db
        .selectFrom('sources')
        .select(['id', 'account_id', 'status', 'error', 'live_version'])
        .where('account_id', '=', agent.account_id)
        .where('agent_id', '=', agent.id)
        .where('id', '=', id)
        .executeTakeFirst()
    : undefined
  if (!row) throw new ApiError('SOURCE_NOT_FOUND')
  return row
}

/** Returns why the source is not among the passages offered; null when it is. */
async function whyMissing(
  db: Context['db'],
  source: Source,
  { passages: all, isIndexing, isFound }: SearchResult,
  { passages: shown }: SearchResult,
): Promise<Missing | null> {
  const ofSource = ({ sourceId }: Passage): boolean => sourceId === source.id
  const best = shown.find(ofSource)
  if (best && isFound) return null
  if (source.live_version === null)
    return {
      reason: 'not_live',
      place: null,
      sentence: source.error
        ? `It is not used in answers, because its training failed: ${source.error}`
        : 'It is not used in answers yet, because it is still being trained.',
    }
  const chunk = await db
    .selectFrom('chunks')
    .select('id')
    .where('account_id', '=', source.account_id)
    .where('source_id', '=', source.id)
    .limit(1)
    .executeTakeFirst()
  if (!chunk)
    return {
      reason: 'no_text',
      place: null,
      sentence: 'No text was found in it: look at what was extracted.',
    }
  const place = all.findIndex(ofSource) + 1
  if (place === 0 && isIndexing)
    return {
      reason: 'indexing',
      place: null,
      sentence: 'The texts of this agent are still being indexed: ask again in a minute.',
    }
  if (place === 0)
    return {
      reason: 'no_signal',
      place: null,
      sentence:
        'None of its passages has a rare word of the question or is near to it in meaning: it may use other words. Add the question to it, or a question and answer.',
    }
  if (!best)
    return {
      reason: 'further_down',
      place,
      sentence: `Its best passage has rank ${place}, after those that are shown.`,
    }
  return {
    reason: 'unlikely',
    place,
    sentence:
      'It was found, but the passages hold too little of the question, so an agent without a language model would say that it found nothing.',
  }
}
