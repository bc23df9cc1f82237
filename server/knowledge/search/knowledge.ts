import { sql } from 'kysely'
import type { Logger } from 'pino'
import type { Models } from '../../ai/models.ts'
import type { Db, Trx } from '../../platform/db/database.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import type { Language } from '../../platform/text/languages/language.ts'
import { createStemmer, type Stemmer } from '../../platform/text/languages/stem.ts'
import { nearestChunks } from '../vectors/nearest-chunks.ts'
import { nearFrom } from '../vectors/spaces.ts'
import {
  type AskedWord,
  askedWords,
  type Candidate,
  type FoundByWords,
  findByKeys,
  findByWords,
  pinsFor,
  readSearchState,
  type Scope,
  type Scored,
  type SearchState,
  scoreCandidates,
} from './find-by-words.ts'
import { NOTHING_FOUND, type Passage, type SearchResult, type Signals } from './search-result.ts'

/** The confidence from which the documents count as covering a question: a third of what its words weigh. */
export const FOUND_FROM = 1 / 3

/** An agent to search; `knowledgeVersion` is read in the transaction that the answer belongs to. */
export type AgentKnowledge = {
  id: string
  accountId: AccountId
  knowledgeVersion: number
  /** The sources of a version of the agent; by default those of the live one. */
  sourceIds?: readonly string[] | undefined
}

export type SearchOptions = {
  limit: number
  /** Only these sources are searched. */
  sourceIds?: readonly string[]
  /** Reserved for sources that only some readers may see; there are none yet. */
  audiences?: readonly string[]
  /** Whether to return the signals of each passage, too. */
  explain?: boolean
  /** The weight of the first query when the rankings are merged; default 1. */
  ownWeight?: number
  /** Whether the vectors are left out, which takes the shortest time. */
  byWordsAlone?: boolean
}

export type Knowledge = {
  /**
   * Searches the live sources of an agent, in every process as of the last commit. Several queries are fused by
   * reciprocal rank; the first is the question itself.
   */
  search(agent: AgentKnowledge, queries: readonly string[], options: SearchOptions): Promise<SearchResult>
  /** Returns whether there is nothing to search: the agent has no live source with text. */
  isEmpty(agent: AgentKnowledge): Promise<boolean>
  /** Returns the languages of the agent's live sources, most frequent first, at most four. */
  languages(agent: AgentKnowledge): Promise<Language[]>
}

type Deps = { db: Db; models: Pick<Models, 'embedderOf'>; log: Logger }

export function createKnowledge(needs: Deps): Knowledge {
  const { db } = needs
  const stem = createStemmer()
  const read = (agent: AgentKnowledge): Promise<SearchState | null> => readSearchState(db, scopeOf(agent))
  return {
    async search(agent, queries, options) {
      const scope = scopeOf(agent, options.sourceIds)
      // An agent that never had a source has nothing to search.
      if (agent.knowledgeVersion === 0) return NOTHING_FOUND
      return searchInRows(needs, stem, scope, queries, options)
    },
    async isEmpty(agent) {
      const state = agent.knowledgeVersion === 0 ? null : await read(agent)
      return !state || (state.chunks === 0 && !state.isIndexing)
    },
    async languages(agent) {
      const state = agent.knowledgeVersion === 0 ? null : await read(agent)
      return state?.languages ?? []
    },
  }
}

const scopeOf = (agent: AgentKnowledge, sourceIds: readonly string[] | null = null): Scope => ({
  accountId: agent.accountId,
  agentId: agent.id,
  version: agent.sourceIds,
  sourceIds,
})

/** The most chunks that are found by vectors. */
const NEAREST = 200

async function searchInRows(
  needs: Deps,
  stem: Stemmer,
  scope: Scope,
  queries: readonly string[],
  { limit, explain, ownWeight = 1, byWordsAlone = false }: SearchOptions,
): Promise<SearchResult> {
  const { accountId: account, agentId, version, sourceIds } = scope
  const [words, { near, problem, use }] = await Promise.all([
    transact(needs.db, (trx) => searchWords(trx, stem, scope, queries)),
    byWordsAlone
      ? { near: [], problem: null, use: null }
      : nearestChunks(needs, {
          account,
          agentId,
          queries,
          version,
          sourceIds: sourceIds ?? undefined,
          limit: NEAREST,
        }),
  ])
  if (!words) return NOTHING_FOUND
  const { state, asked, found: byWords, pinned } = words
  const byVectors = asked.map((_, at) => near[at] ?? [])
  const nearest = byVectors.flat()
  const evident = nearest.length > 0 && state.space !== null ? await nearFrom(needs, state.space) : null
  const ids = [
    ...byWords.flatMap(({ chunkIds }) => chunkIds),
    ...nearest.map(({ chunkId }) => chunkId),
    ...pinned.flat(),
  ]
  const chunks = await readChunks(needs.db, scope, [...new Set(ids)])

  const rankings = byWords.map(({ question, chunkIds, weights }, at) => {
    const similarityOf = new Map(byVectors[at]?.map(({ chunkId, similarity }) => [chunkId, similarity]))
    const first = new Set(pinned[at])
    const own = new Set([...chunkIds, ...similarityOf.keys(), ...first])
    const candidates = chunks
      .filter(({ id }) => own.has(id))
      .map((chunk) => ({
        ...chunk,
        similarity: similarityOf.get(chunk.id) ?? null,
        isPinned: first.has(chunk.id),
      }))
    return scoreCandidates({ ...question, weights }, candidates, stem)
  })
  const ranked = distinct(fuse(rankings, ownWeight), chunks).slice(0, limit)
  const confidence = Math.max(0, ...rankings.map((ranking) => confidenceOf(ranking, evident)))
  const isFound = confidence >= FOUND_FROM
  const best = ranked[0]?.score || 1
  const chunkOf = new Map(chunks.map((chunk) => [chunk.id, chunk]))
  let most = confidence
  return {
    passages: ranked.flatMap(({ id, score, first }, at) => {
      most = at === 0 ? most : Math.min(most, (confidence * score) / best)
      const chunk = chunkOf.get(id)
      return chunk ? [passageOf(chunk, most, first > 0)] : []
    }),
    confidence,
    isFound,
    isIndexing: state.isIndexing,
    hasKnownWord: byWords.some(({ hasKnownWord }) => hasKnownWord) || isFound,
    vectorProblem: problem,
    embeddingUse: use,
    ...(explain ? { signals: signalsOf(ranked, rankings[0] ?? [], byVectors[0] ?? []) } : {}),
  }
}

/** The number of first passages that are shown, and in which the words of a question are looked for. */
const SHOWN = 3

function confidenceOf(ranking: readonly Scored[], evident: number | null): number {
  const shown = ranking.slice(0, SHOWN)
  const isNear = evident !== null && shown.some(({ similarity }) => (similarity ?? -1) >= evident)
  return Math.max(isNear ? FOUND_FROM : 0, ...shown.map(({ held, first }) => (first > 0 ? 1 : held)))
}

type ParsedQuestion = { text: string; words: AskedWord[] }

/** Finds chunks by the words of each query, and those pinned for it; null if there is no such agent. */
async function searchWords(
  trx: Trx,
  stem: Stemmer,
  scope: Scope,
  queries: readonly string[],
): Promise<{
  state: SearchState
  asked: ParsedQuestion[]
  found: (FoundByWords & { question: ParsedQuestion })[]
  pinned: string[][]
} | null> {
  // A plan for every agent would be a bad one for the largest and for the smallest.
  await sql`set local plan_cache_mode = force_custom_plan`.execute(trx)
  const state = await readSearchState(trx, scope)
  if (!state) return null
  const asked = queries.map((text) => ({ text, words: askedWords(text, state.languages, stem) }))
  const found: (FoundByWords & { question: ParsedQuestion })[] = []
  const pinned: string[][] = []
  for (const question of asked) {
    found.push({ ...(await findByWords(trx, scope, question.words, state)), question })
    pinned.push(await findByKeys(trx, scope, pinsFor(question, state, stem)))
  }
  return { state, asked, found, pinned }
}

/** The usual constant of reciprocal rank fusion. */
const RANK_CONSTANT = 60

type Ranked = Pick<Scored, 'id' | 'score' | 'first'>

function fuse(rankings: readonly (readonly Scored[])[], ownWeight: number): Ranked[] {
  const [only, ...others] = rankings
  if (only && others.length === 0) return [...only]
  const fused = new Map<string, Ranked>()
  for (const [at, ranking] of rankings.entries())
    for (const [place, { id, first }] of ranking.entries()) {
      const { score, first: before } = fused.get(id) ?? { score: 0, first: 0 }
      fused.set(id, {
        id,
        score: score + (at === 0 ? ownWeight : 1) / (RANK_CONSTANT + place),
        first: first > before ? first : before,
      })
    }
  return [...fused.values()].sort((a, b) => b.first - a.first || b.score - a.score || (a.id < b.id ? -1 : 1))
}

/** Leaves out what says the same as a passage before it, such as a site's footer. */
function distinct<T extends { id: string }>(ranked: readonly T[], chunks: readonly Chunk[]): T[] {
  const saidBy = new Map(
    chunks.map(({ id, headingPath, questions, text }) => [
      id,
      JSON.stringify([headingPath, questions, text]),
    ]),
  )
  const said = new Set<string>()
  return ranked.filter(({ id }) => said.size < said.add(saidBy.get(id) ?? id).size)
}

function signalsOf(
  ranked: readonly { id: string }[],
  scored: readonly Scored[],
  near: readonly { chunkId: string }[],
): Map<string, Signals> {
  const byWords = scored.filter(({ words }) => words > 0).sort((a, b) => b.words - a.words)
  const placeIn = (ids: readonly string[], id: string): number | null => ids.indexOf(id) + 1 || null
  const [words, vectors] = [byWords.map(({ id }) => id), near.map(({ chunkId }) => chunkId)]
  return new Map(ranked.map(({ id }) => [id, { words: placeIn(words, id), vectors: placeIn(vectors, id) }]))
}

type Chunk = Omit<Candidate, 'similarity' | 'isPinned'> & {
  sourceId: string
  url: string | null
  page: number | null
  headingPath: string[]
  questions: string[] | null
  anchor: string | null
  isFile: boolean
}

/** Reads chunks that were found. A chunk of a web page has the page's own URL and title. */
async function readChunks(db: Db, { accountId, agentId }: Scope, ids: readonly string[]): Promise<Chunk[]> {
  if (ids.length === 0) return []
  const { rows } = await sql<Chunk>`
    select c.id, c.source_id as "sourceId", coalesce(c.title, s.name) as "sourceName", coalesce(c.url, s.url) as url,
      c.heading_path as "headingPath", c.page, c.text, c.questions, c.anchor, s.type = 'file' as "isFile", w.language,
      coalesce(p.fetched_at, s.updated_at) as "updatedAt"
    from chunks as c
    join sources as s on s.id = c.source_id
    left join pages as p on p.account_id = c.account_id and p.id = c.page_id
    join chunk_words as w on w.agent_id = c.agent_id and w.chunk_id = c.id
    where c.account_id = ${accountId} and c.agent_id = ${agentId} and c.id = any(${[...ids]}::uuid[])
      and w.agent_id = ${agentId}`.execute(db)
  return rows
}

function passageOf(
  {
    id,
    similarity: _,
    language: _language,
    questions,
    anchor,
    isFile,
    ...chunk
  }: Chunk & { similarity?: unknown },
  score: number,
  isFirst: boolean,
): Passage {
  return {
    chunkId: id,
    ...chunk,
    ...(questions ? { questions } : {}),
    ...(anchor === null ? {} : { anchor }),
    ...(isFile ? { isFile: true as const } : {}),
    ...(isFirst ? { isFirst: true as const } : {}),
    score,
  }
}
