import { type CompiledQuery, sql } from 'kysely'
import type { Logger } from 'pino'
import type { EmbeddingUse } from '../../ai/embeddings/embedding-use.ts'
import { ModelFailure } from '../../ai/failures/model-failure.ts'
import type { Models } from '../../ai/models.ts'
import type { Db, Trx } from '../../platform/db/database.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import { createStemmer, type Language, type Stemmer } from '../../platform/text/languages/language.ts'
import { asText, nearFrom, type Space, vectorsOf } from '../vectors/spaces.ts'
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
  /** Whether the team tries out the agent. */
  isTrial?: boolean | undefined
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
  isTrial: agent.isTrial,
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
  const { accountId: account, agentId, version, sourceIds, isTrial } = scope
  const [words, { near, problem, use }] = await Promise.all([
    transact(needs.db, (trx) => searchWords(trx, stem, scope, queries)),
    byWordsAlone
      ? { near: [], problem: null, use: null }
      : nearestChunks(needs, {
          account,
          agentId,
          queries,
          version,
          isTrial,
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

type VectorQuery = {
  account: AccountId
  agentId: string
  queries: readonly string[]
  /** The sources of a version of the agent; by default those of the live one. */
  version?: readonly string[] | undefined
  isTrial?: boolean | undefined
  /** Only chunks of these sources; absent means all. */
  sourceIds?: readonly string[] | undefined
  limit: number
}
type Near = { chunkId: string; similarity: number }
type NearChunks = {
  /** For each query, best first; empty where nothing was searched by vectors. */
  near: Near[][]
  /** Why vectors that are there were not searched, as a sentence; null if they were, or there are none. */
  problem: string | null
  /** What was sent to the embedding model; null without one. */
  use: EmbeddingUse | null
}

const NO_VECTORS: NearChunks = { near: [], problem: null, use: null }
/** A failure that is thrown again while the model is away is not logged again. */
const logged = new WeakSet<object>()
/** The most rows that pgvector lets an index look at before they are sorted; more of them find more of the nearest. */
const MAX_LOOKED_AT = 1_000

/**
 * Returns the live chunks nearest to each query in the agent's live space; none without an embedder, pgvector or space.
 * Words alone still find most passages, so a failing model is only reported.
 */
export async function nearestChunks(
  { db, models, log }: Deps,
  { account, agentId, version, isTrial, queries, sourceIds, limit }: VectorQuery,
): Promise<NearChunks> {
  const space = await db
    .selectFrom('agents')
    .innerJoin('vector_spaces', 'vector_spaces.name', 'agents.vector_space')
    .select(['vector_spaces.id', 'vector_spaces.name', 'vector_spaces.dimensions'])
    .where('agents.account_id', '=', account)
    .where('agents.id', '=', agentId)
    .executeTakeFirst()
  if (!space) return NO_VECTORS
  const embedder = models.embedderOf(space.name)
  if (!embedder)
    return {
      ...NO_VECTORS,
      problem: 'Searched by words: the embedding model of the vectors is not configured.',
    }
  try {
    const { vectors, use } = await embedder.embedQuestions(queries, { accountId: account, agentId, isTrial })
    const near = await transact(db, async (trx) => {
      // A plan for any agent is bad for one with most of the rows, and cannot use the index of one agent.
      void sql`select set_config('plan_cache_mode', 'force_custom_plan', true),
        set_config('hnsw.iterative_scan', 'relaxed_order', true),
        set_config('hnsw.ef_search', ${String(Math.min(MAX_LOOKED_AT, 4 * limit))}, true)`
        .execute(trx)
        .catch(() => {})
      const found: Near[][] = []
      for (const vector of vectors) {
        found.push(await nearest(trx, space, { account, agentId, version, sourceIds, limit }, asText(vector)))
      }
      return found
    })
    return { near, problem: null, use }
  } catch (error) {
    const failure = error instanceof Error ? error : new Error(String(error))
    if (!logged.has(failure))
      log.warn({ err: error, space: space.name }, 'the question was searched by its words alone')
    logged.add(failure)
    return { ...NO_VECTORS, problem: `Searched by words: ${whatFailed(error, embedder.title)}` }
  }
}

/** Must not contain addresses: members of every account read it. */
function whatFailed(error: unknown, title: string): string {
  if (!(error instanceof ModelFailure)) return 'the vectors could not be read.'
  switch (error.kind) {
    case 'rejected':
      return `the ${title} refused the question.`
    case 'rate_limited':
      return `the ${title} takes no more questions at the moment.`
    case 'invalid_response':
      return `the ${title} sent what cannot be used.`
    default:
      return `the ${title} did not answer.`
  }
}

/**
 * Reads twice as many vectors as needed, because nearly all of them belong to live chunks. If fewer are left after the
 * filter, it reads more.
 */
async function nearest(
  db: Db,
  space: Space,
  asked: Omit<VectorQuery, 'queries'>,
  vector: string,
): Promise<Near[]> {
  for (let most = 2 * asked.limit; ; most *= 8) {
    const { rows } = await db.executeQuery(nearestQuery(db, space, asked, vector, most))
    const isAll = (rows[0]?.seen ?? 0) < most
    const found = rows.flatMap(({ chunkId, similarity }) =>
      chunkId === null ? [] : [{ chunkId, similarity }],
    )
    if (isAll || found.length === asked.limit) return found
  }
}

type Row = { seen: number } & (Near | { chunkId: null; similarity: 0 })

function nearestQuery(
  db: Db,
  space: Space,
  { account, agentId, version, sourceIds, limit }: Omit<VectorQuery, 'queries'>,
  vector: string,
  most: number,
): CompiledQuery<Row> {
  const isInVersion = version ? sql`sources.id = any(${[...version]}::uuid[])` : sql`not sources.left_out`
  const sources = sourceIds ? sql`and source_id = any(${sourceIds}::uuid[])` : sql``
  // Vectors have the length 1, so the negative product orders them like their angles.
  return sql<Row>`
    with nearest as materialized (
      select source_id, vector_key, vector <#> ${vector} as distance from ${vectorsOf(space)}
      where account_id = ${account} and agent_id = ${agentId} ${sources}
      order by vector <#> ${vector} limit ${most}),
    live as (
      select chunks.id, -nearest.distance as similarity from nearest
      join sources on sources.id = nearest.source_id and sources.account_id = ${account}
      join chunks on chunks.source_id = nearest.source_id and chunks.vector_key = nearest.vector_key
        and chunks.account_id = ${account} and chunks.agent_id = ${agentId}
      where sources.agent_id = ${agentId} and sources.status <> 'toBeDeleted' and ${isInVersion}
        and chunks.version <= sources.live_version
        and (chunks.retired_in is null or chunks.retired_in > sources.live_version)
        and (chunks.page_id is null or not exists (
          select from pages where pages.account_id = ${account} and pages.id = chunks.page_id and pages.hidden))
        and not exists (
          select from passage_choices as excluded where excluded.account_id = ${account}
            and excluded.source_id = chunks.source_id and excluded.vector_key = chunks.vector_key
            and excluded.question is null)
      order by similarity desc, chunks.id limit ${limit})
    select seen, live.id as "chunkId", coalesce(live.similarity, 0) as similarity
    from (select count(*)::int as seen from nearest) as counted left join live on true
    order by similarity desc`.compile(db)
}
