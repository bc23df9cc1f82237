import { sql } from 'kysely'
import type { Context } from '../../context.ts'
import { isId } from '../../platform/db/ids.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import { ApiError } from '../../platform/http/errors.ts'
import { isLiveChunk } from '../sources/live-chunks.ts'
import type { SourceRow } from '../sources/queries.ts'
import { describePassage } from './answering/given-passages.ts'
import { RERANKED, rerankFound } from './answering/retrieve.ts'
import type { AgentKnowledge } from './knowledge.ts'
import type { Passage, SearchResult, Signals } from './search-result.ts'

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
  const { id, account_id: accountId, knowledge_version: knowledgeVersion } = agent
  const asked = { id, accountId, knowledgeVersion, isTrial: true }
  const all = await knowledge.search(asked, [question], { limit: DEPTH, explain: true })
  const first = { ...all, passages: all.passages.slice(0, Math.max(limit, RERANKED)) }
  const { reranker } = models
  const signal = AbortSignal.timeout(30_000)
  const found = reranker
    ? await rerankFound({ reranker, log }, question, first, { limit, signal })
    : { ...first, passages: first.passages.slice(0, limit) }
  const pinnedFor = await pinsOf(
    db,
    asked,
    found.passages.map(({ chunkId }) => chunkId),
  )
  const placeOf = new Map(all.passages.map(({ chunkId }, at) => [chunkId, at + 1]))
  return {
    confidence: found.confidence,
    isFound: found.isFound,
    isIndexing: found.isIndexing,
    reranked: reranker !== null,
    vectorProblem: all.vectorProblem,
    embedding: all.embeddingUse,
    passages: found.passages.map((passage, at) => ({
      place: at + 1,
      placeBeforeReranking: placeOf.get(passage.chunkId) ?? at + 1,
      chunkId: passage.chunkId,
      ...describePassage(passage),
      isFirst: passage.isFirst ?? false,
      pinnedFor: pinnedFor.get(passage.chunkId) ?? [],
      signals: all.signals?.get(passage.chunkId) ?? NOWHERE,
    })),
    missing: expected && (await whyMissing(db, expected, all, found)),
  }
}

async function pinsOf(
  db: Context['db'],
  { id, accountId }: AgentKnowledge,
  chunkIds: readonly string[],
): Promise<Map<string, string[]>> {
  if (chunkIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('passage_choices as chosen')
    .innerJoin('chunks', (join) =>
      join
        .onRef('chunks.source_id', '=', 'chosen.source_id')
        .onRef('chunks.vector_key', '=', 'chosen.vector_key'),
    )
    .select(['chunks.id', 'chosen.question'])
    .where('chosen.account_id', '=', accountId)
    .where('chosen.agent_id', '=', id)
    .where('chosen.question', 'is not', null)
    .where('chunks.account_id', '=', accountId)
    .where('chunks.id', 'in', chunkIds)
    .orderBy('chosen.id')
    .execute()
  const byChunk = Map.groupBy(rows, (row) => row.id)
  return new Map([...byChunk].map(([chunk, pins]) => [chunk, pins.flatMap(({ question }) => question ?? [])]))
}

type Source = Pick<SourceRow, 'id' | 'account_id' | 'status' | 'error' | 'live_version' | 'left_out'>

async function sourceOf(db: Context['db'], agent: Agent, id: string): Promise<Source> {
  const row = isId(id)
    ? await db
        .selectFrom('sources')
        .select(['id', 'account_id', 'status', 'error', 'live_version', 'left_out'])
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
  if (source.left_out)
    return {
      reason: 'not_live',
      place: null,
      sentence: 'Live answers leave it out: only the draft or an earlier version of the agent has it.',
    }
  if (source.live_version === null)
    return {
      reason: 'not_live',
      place: null,
      sentence: source.error
        ? `It is not used in answers, because its training failed: ${source.error}`
        : 'It is not used in answers yet, because it is still being trained.',
    }
  const { count, excluded } = await countChunks(db, source)
  if (count === excluded)
    return {
      reason: 'no_text',
      place: null,
      sentence:
        count > 0
          ? 'All of its passages are excluded: include one again on the page of the source.'
          : 'No text was found in it: look at what was extracted.',
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
      sentence: `None of its passages has a rare word of the question or is near to it in meaning: it may use other words. Add the question to it, or a question and answer.${
        excluded > 0 ? ` Excluded passages (${excluded} of ${count}) are never found.` : ''
      }`,
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

/** Counts the live chunks of a source, and those of them that are excluded. */
async function countChunks(
  db: Context['db'],
  { id, account_id, live_version }: Source,
): Promise<{ count: number; excluded: number }> {
  const { rows } = await sql<{ count: number; excluded: number }>`
    select count(*)::int as count, count(*) filter (where exists (
      select from passage_choices as chosen where chosen.account_id = ${account_id}
        and chosen.source_id = chunks.source_id and chosen.vector_key = chunks.vector_key
        and chosen.question is null))::int as excluded
    from chunks where account_id = ${account_id} and source_id = ${id}
      and ${isLiveChunk(live_version ?? 0)}`.execute(db)
  return rows[0] ?? { count: 0, excluded: 0 }
}
