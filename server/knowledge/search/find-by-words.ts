import { sql } from 'kysely'
import type { Db, Trx } from '../../platform/db/database.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import type { Language } from '../../platform/text/languages/language.ts'
import type { Stemmer } from '../../platform/text/languages/stem.ts'
import { wordsOnly } from '../../platform/text/words/words.ts'
import { type AskedWord, askedWords, termHash } from './terms.ts'

/** The most rows that are read for one word. A word in more of them says too little to find anything by. */
const MAX_ROWS_OF_WORD = 2_000
const CANDIDATES = 200
/** The most words that are combined when each of them is too frequent. */
const MAX_COMBINED = 8
const MAX_TOGETHER = 3
/** A small collection says little about how rare a word is. */
const MIN_CHUNKS = 100

/** What a search is limited to; `sourceIds` null: all sources. */
export type Scope = { accountId: AccountId; agentId: string; sourceIds: readonly string[] | null }

export type SearchState = {
  salt: string
  space: string | null
  /** Live chunks, as counted when they went live. */
  chunks: number
  /** The languages of the live sources, the most frequent first, four at most. */
  languages: Language[]
  isIndexing: boolean
  pins: Pin[]
}

/** What names chunks in every version of their source: see vectorKey. */
type ChunkKey = { sourceId: string; key: string }

/** Chunks that come first for questions with the words of this one. */
type Pin = ChunkKey & { question: string }

const MAX_LANGUAGES = 4

/** Returns what a search needs to know about an agent; null if there is no such agent. */
export async function readSearchState(db: Db, { accountId, agentId }: Scope): Promise<SearchState | null> {
  const { rows } = await sql<SearchState>`
    with live as (
      select live_version, words_version, chunk_count, languages from sources
      where account_id = ${accountId} and agent_id = ${agentId} and live_version is not null
        and status <> 'toBeDeleted')
    select terms_salt as salt, vector_space as space,
      (select coalesce(sum(chunk_count), 0)::int from live) as chunks,
      array(select language from live, unnest(languages) with ordinality as of_source (language, place)
        group by language order by sum(chunk_count / place) desc, language limit ${sql.lit(MAX_LANGUAGES)}) as languages,
      exists (select from live where words_version is distinct from live_version) as "isIndexing",
      coalesce((select json_agg(json_build_object('sourceId', source_id, 'key', vector_key, 'question', question)
        order by id) from passage_choices
        where account_id = ${accountId} and agent_id = ${agentId} and question is not null), '[]') as pins
    from agents where account_id = ${accountId} and id = ${agentId}`.execute(db)
  return rows[0] ?? null
}

/** The sources whose live version is searched, and the pages and chunks that are not, for the statements of a search. */
const liveSources = ({ accountId, agentId, sourceIds }: Scope) => sql`
  live as materialized (
    select id, live_version from sources
    where account_id = ${accountId} and agent_id = ${agentId} and live_version is not null
      and status <> 'toBeDeleted' ${sourceIds === null ? sql`` : sql`and id = any(${[...sourceIds]}::uuid[])`}),
  hidden as materialized (
    select id from pages where account_id = ${accountId} and agent_id = ${agentId} and hidden),
  excluded as materialized (
    select source_id, vector_key from passage_choices
    where account_id = ${accountId} and agent_id = ${agentId} and question is null)`

/** The condition on a row `w` of chunk_words that is joined with `live`. */
const isLiveRow = ({ accountId, agentId }: Scope) => sql`
  w.account_id = ${accountId} and w.agent_id = ${agentId}
  and w.version <= live.live_version and (w.retired_in is null or w.retired_in > live.live_version)
  and (w.page_id is null or w.page_id not in (select id from hidden))
  and (w.source_id, w.vector_key) not in (select source_id, vector_key from excluded)`

/**
 * Returns the pins that apply to a question: it has all of their words, stop words aside, in whatever form. A pin of
 * stop words alone applies to the same question only.
 */
export function pinsFor(
  asked: { text: string; words: readonly AskedWord[] },
  { pins, languages }: SearchState,
  stem: Stemmer,
): Pin[] {
  const terms = new Set(asked.words.flatMap((word) => word.terms))
  const said = wordsOnly(asked.text)
  return pins.filter(({ question }) => {
    const words = askedWords(question, languages, stem).filter(({ isStopWord }) => !isStopWord)
    if (words.length === 0) return wordsOnly(question) === said
    return words.every((word) => word.terms.some((term) => terms.has(term)))
  })
}

/** Finds the live chunks with these keys. */
export async function findByKeys(trx: Trx, scope: Scope, keys: readonly ChunkKey[]): Promise<string[]> {
  if (keys.length === 0) return []
  const { rows } = await sql<{ chunk_id: string }>`
    with ${liveSources(scope)}
    select w.chunk_id
    from unnest(${keys.map(({ sourceId }) => sourceId)}::uuid[], ${keys.map(({ key }) => key)}::text[])
      as asked (source_id, vector_key)
    join chunks as c on c.account_id = ${scope.accountId} and c.source_id = asked.source_id
      and c.vector_key = asked.vector_key
    join live on live.id = c.source_id
    join chunk_words as w on w.agent_id = c.agent_id and w.chunk_id = c.id
    where ${isLiveRow(scope)}`.execute(trx)
  return rows.map(({ chunk_id }) => chunk_id)
}

export type FoundByWords = {
  /** Chunks by the sum of the weights of the words that they hold, best first. */
  chunkIds: string[]
  /** The weight (idf) of each word of the question. */
  weights: number[]
  /** Whether any of the words is in the agent's index. */
  hasKnownWord: boolean
}

/** Finds the chunks that hold the rarest words of a question. */
export async function findByWords(
  trx: Trx,
  scope: Scope,
  words: readonly AskedWord[],
  { salt, chunks }: SearchState,
): Promise<FoundByWords> {
  const total = Math.max(chunks, MIN_CHUNKS)
  const weightOf = (rows: number): number =>
    Math.log(1 + (total - Math.min(rows, total) + 0.5) / (rows + 0.5))
  const hashes = words.map(({ terms }) => `{${terms.map((term) => termHash(salt, term)).join(',')}}`)
  const alone = await countAndRank(
    trx,
    scope,
    hashes.map((hash) => [hash]),
    total,
  )
  const rows = words.map((_, at) => alone.counts.get(at) ?? 0)
  const found = { weights: rows.map(weightOf), hasKnownWord: rows.some((count) => count > 0) }
  if (alone.chunkIds.length > 0 || !found.hasKnownWord) return { ...found, chunkIds: alone.chunkIds }
  // Every word is too frequent, so those that hold two of them are looked for, then three.
  const frequent = words
    .map(({ isStopWord }, at) => ({ isStopWord, hash: hashes[at] ?? '', count: rows[at] ?? 0 }))
    .filter(({ count }) => count > 0)
    .sort((a, b) => Number(a.isStopWord) - Number(b.isStopWord))
    .slice(0, MAX_COMBINED)
    .map(({ hash }) => hash)
  for (let size = 2; size <= Math.min(MAX_TOGETHER, frequent.length); size++) {
    const { chunkIds } = await countAndRank(trx, scope, combinations(frequent, size), total)
    if (chunkIds.length > 0) return { ...found, chunkIds }
  }
  return { ...found, chunkIds: [] }
}

/** Counts the rows that hold all words of a group, and ranks those of the groups that are not too frequent. */
async function countAndRank(
  trx: Trx,
  scope: Scope,
  groups: readonly (readonly string[])[],
  total: number,
): Promise<{ counts: Map<number, number>; chunkIds: string[] }> {
  const size = groups[0]?.length ?? 0
  if (size === 0) return { counts: new Map(), chunkIds: [] }
  const columns = Array.from({ length: size }, (_, at) => sql.ref(`w${at}`))
  const values = columns.map((_, at) => sql`${groups.map((group) => group[at])}::text[]`)
  const holdsAll = columns.map((column) => sql`w.terms && asked.${column}::bigint[]`)
  const { rows } = await sql<{ place: number | null; count: number; chunk_id: string | null }>`
    with ${liveSources(scope)},
    asked as materialized (
      select * from unnest(${sql.join(values)}) with ordinality as asked (${sql.join(columns)}, place)),
    hits as materialized (
      select asked.place, found.chunk_id from asked cross join lateral (
        select w.chunk_id from chunk_words as w join live on live.id = w.source_id
        where ${isLiveRow(scope)} and ${sql.join(holdsAll, sql` and `)}
        limit ${sql.lit(MAX_ROWS_OF_WORD + 1)}) as found),
    counted as materialized (select place, count(*)::int as count from hits group by place),
    best as (
      select chunk_id, sum(ln(1 + (${total}::float8 - count + 0.5) / (count + 0.5))) as weight
      from hits join counted using (place) where count <= ${sql.lit(MAX_ROWS_OF_WORD)}
      group by chunk_id order by weight desc, chunk_id limit ${sql.lit(CANDIDATES)})
    select place::int - 1 as place, count, null::uuid as chunk_id from counted
    union all select null, null, chunk_id from (select chunk_id from best order by weight desc, chunk_id) as ranked`.execute(
    trx,
  )
  return {
    counts: new Map(rows.flatMap(({ place, count }) => (place === null ? [] : [[place, count] as const]))),
    chunkIds: rows.flatMap(({ chunk_id }) => chunk_id ?? []),
  }
}

function combinations<T>(items: readonly T[], size: number): T[][] {
  if (size === 0) return [[]]
  return items.flatMap((item, at) =>
    combinations(items.slice(at + 1), size - 1).map((others) => [item, ...others]),
  )
}
