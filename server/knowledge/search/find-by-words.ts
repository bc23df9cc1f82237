import { hash } from 'node:crypto'
import { sql } from 'kysely'
import type { Db, Trx } from '../../platform/db/database.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import {
  densePairs,
  guessLanguageOfWords,
  isDense,
  isStopWord,
  type Language,
  type Stemmer,
} from '../../platform/text/languages/language.ts'
import { foldText, splitWords, visibleText, wordsOnly } from '../../platform/text/words/words.ts'

/** The most rows that are read for one word. A word in more of them says too little to find anything by. */
const MAX_ROWS_OF_WORD = 2_000
const CANDIDATES = 200
/** The most words that are combined when each of them is too frequent. */
const MAX_COMBINED = 8
const MAX_TOGETHER = 3
/** A small collection says little about how rare a word is. */
const MIN_CHUNKS = 100

/**
 * What a search is limited to: the sources of a version of the agent, by default of the live one; and of these
 * `sourceIds`, null: all.
 */
export type Scope = {
  accountId: AccountId
  agentId: string
  version?: readonly string[] | undefined
  sourceIds: readonly string[] | null
  isTrial?: boolean | undefined
}

/** The condition on a row of sources that the version of the agent has it. */
const isInVersion = ({ version }: Scope) =>
  version ? sql`id = any(${[...version]}::uuid[])` : sql`not left_out`

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
export async function readSearchState(db: Db, scope: Scope): Promise<SearchState | null> {
  const { accountId, agentId } = scope
  const { rows } = await sql<SearchState>`
    with live as (
      select live_version, words_version, chunk_count, languages from sources
      where account_id = ${accountId} and agent_id = ${agentId} and live_version is not null
        and status <> 'toBeDeleted' and ${isInVersion(scope)})
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
const liveSources = (scope: Scope) => {
  const { accountId, agentId, sourceIds } = scope
  const isWanted = sourceIds === null ? sql`` : sql`and id = any(${[...sourceIds]}::uuid[])`
  return sql`
    live as materialized (
      select id, live_version from sources
      where account_id = ${accountId} and agent_id = ${agentId} and live_version is not null
        and status <> 'toBeDeleted' and ${isInVersion(scope)} ${isWanted}),
    hidden as materialized (
      select id from pages where account_id = ${accountId} and agent_id = ${agentId} and hidden),
    excluded as materialized (
      select source_id, vector_key from passage_choices
      where account_id = ${accountId} and agent_id = ${agentId} and question is null)`
}

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

/** The usual constants of BM25: how soon repetitions stop to count, and how much the length of a text does. */
const K = 1.2
const B = 0.75
/** What the similarity of vectors counts beside the words: as untuned as the rest, and enough. */
const VECTORS = 1.5

export type Candidate = Searchable & {
  id: string
  language: Language
  /** When its content was last changed or read. */
  updatedAt: Date
  similarity: number | null
  /** Whether its owner wants it first for this question. */
  isPinned: boolean
}

export type Scored = {
  id: string
  /** What the candidates are ordered by; comparable within one question only. */
  score: number
  /** The weight of the question's words that it holds, of those of all (0 to 1), stop words aside. */
  held: number
  /** The score by words alone, to show its place by them. */
  words: number
  similarity: number | null
  /** Whether one of its own questions is the question (2), or it is pinned for it (1); such candidates are first. */
  first: 0 | 1 | 2
}

/**
 * Scores candidates for a question: BM25 over stems and over character grams, each divided by its best, plus the
 * similarity of vectors between the worst and the best. `weights` are the idf of the words. Best first; of
 * several with this very question as their own, the newest.
 */
export function scoreCandidates(
  question: { text: string; words: readonly AskedWord[]; weights: readonly number[] },
  candidates: readonly Candidate[],
  stem: Stemmer,
): Scored[] {
  if (candidates.length === 0) return []
  const { words, weights } = question
  const hasCode = codesIn(question.text).length > 0
  const wantedTerms = placesOf(words.map(({ terms }) => terms))
  const askedGrams = [...new Set(splitWords(question.text).flatMap(gramsOfWord))]
  const wantedGrams = placesOf(askedGrams.map((gram) => [gram]))
  /** Words are taken apart once, because the candidates share most of theirs. */
  const known = new Map<Language, Map<string, { terms: WordPlaces; grams: WordPlaces }>>()
  const terms: Counts[] = []
  const grams: Counts[] = []
  for (const candidate of candidates) {
    const { language } = candidate
    const ofLanguage = known.get(language) ?? new Map()
    known.set(language, ofLanguage)
    const [ofTerms, ofGrams] = [noCounts(words.length), noCounts(askedGrams.length)]
    const text = searchedText(candidate)
    for (const word of splitWords(text)) {
      let parts = ofLanguage.get(word)
      if (!parts) {
        parts = {
          terms: countWanted(termsOfWord(word, language, stem), wantedTerms),
          grams: countWanted(gramsOfWord(word), wantedGrams),
        }
        ofLanguage.set(word, parts)
      }
      add(ofTerms, parts.terms)
      add(ofGrams, parts.grams)
    }
    if (hasCode) add(ofTerms, countWanted(codesIn(text), wantedTerms))
    terms.push(ofTerms)
    grams.push(ofGrams)
  }
  const byStems = bm25(terms, weights)
  const gramWeights = askedGrams.map((_, at) => {
    const holders = grams.filter(({ counts }) => (counts[at] ?? 0) > 0).length
    return Math.log(1 + (candidates.length - holders + 0.5) / (holders + 0.5))
  })
  const byGrams = bm25(grams, gramWeights)

  const [stems, spelled] = [byBest(byStems), byBest(byGrams)]
  const byWords = byBest(stems.map((score, i) => score + (spelled[i] ?? 0)))
  const similar = bySpan(candidates.map(({ similarity }) => similarity))
  const isOnlyStops = words.every(({ isStopWord }) => isStopWord)
  const counted = words.map(({ isStopWord }, at) => (isStopWord && !isOnlyStops ? 0 : (weights[at] ?? 0)))
  const whole = counted.reduce((sum, weight) => sum + weight, 0)
  const said = wordsOnly(question.text)
  const exact = new Map(
    candidates
      .filter(({ questions }) => said !== '' && questions?.some((own) => wordsOnly(own) === said))
      .map(({ id, updatedAt }) => [id, updatedAt.getTime()]),
  )
  return candidates
    .map((candidate, i) => ({
      id: candidate.id,
      similarity: candidate.similarity,
      score: (byWords[i] ?? 0) + VECTORS * (similar[i] ?? 0),
      words: byWords[i] ?? 0,
      held: whole === 0 ? 0 : heldBy(terms[i], counted) / whole,
      first: exact.has(candidate.id) ? (2 as const) : candidate.isPinned ? (1 as const) : (0 as const),
    }))
    .sort(
      (a, b) =>
        b.first - a.first ||
        (exact.get(b.id) ?? 0) - (exact.get(a.id) ?? 0) ||
        b.score - a.score ||
        (a.id < b.id ? -1 : 1),
    )
}

/** Returns the weight of the words that a candidate holds. */
function heldBy(terms: Counts | undefined, weights: readonly number[]): number {
  return weights.reduce((sum, weight, at) => sum + (terms?.counts[at] ? weight : 0), 0)
}

/** How many parts there are, and the places of those that are wanted. */
type WordPlaces = { length: number; places: readonly number[] }
type Counts = { length: number; counts: number[] }

function placesOf(groups: readonly (readonly string[])[]): Map<string, number[]> {
  const places = new Map<string, number[]>()
  for (const [at, group] of groups.entries())
    for (const part of group) places.set(part, [...(places.get(part) ?? []), at])
  return places
}

const countWanted = (
  parts: readonly string[],
  wanted: ReadonlyMap<string, readonly number[]>,
): WordPlaces => ({
  length: parts.length,
  places: parts.flatMap((part) => wanted.get(part) ?? []),
})

const noCounts = (size: number): Counts => ({ length: 0, counts: new Array<number>(size).fill(0) })

function add(to: Counts, { length, places }: WordPlaces): void {
  to.length += length
  for (const at of places) to.counts[at] = (to.counts[at] ?? 0) + 1
}

function bm25(texts: readonly Counts[], weights: readonly number[]): number[] {
  const mean = texts.reduce((sum, { length }) => sum + length, 0) / texts.length || 1
  return texts.map(({ counts, length }) => {
    const norm = K * (1 - B + (B * length) / mean)
    return counts.reduce(
      (sum, n, at) => sum + (n === 0 ? 0 : ((weights[at] ?? 0) * n * (K + 1)) / (n + norm)),
      0,
    )
  })
}

function byBest(scores: readonly number[]): number[] {
  const best = Math.max(...scores)
  return scores.map((score) => (best > 0 ? score / best : 0))
}

/** Scales similarities to 0..1. A candidate without one was not among the nearest, so it gets 0. */
function bySpan(similarities: readonly (number | null)[]): number[] {
  const known = similarities.filter((similarity) => similarity !== null)
  const [low, high] = [Math.min(...known), Math.max(...known)]
  return similarities.map((similarity) =>
    similarity === null ? 0 : high === low ? 1 : (similarity - low) / (high - low),
  )
}

/** What of a chunk is searched. */
export type Searchable = {
  sourceName: string | null
  headingPath: readonly string[]
  questions?: readonly string[] | null
  text: string
}

/** The parts of a chunk as one text. The last heading stands twice, because it says best what the chunk is about. */
export const searchedText = ({ sourceName, headingPath, questions, text }: Searchable): string =>
  [sourceName ?? '', ...headingPath, headingPath.at(-1) ?? '', ...(questions ?? []), visibleText(text)].join(
    '\n',
  )

/** Returns the language that the words of a chunk are stemmed in. What cannot be told counts as English. */
export const languageOf = (text: string): Language => {
  const language = guessLanguageOfWords(splitWords(text))
  return language === 'other' ? 'en' : language
}

/**
 * Returns the terms of a text in order, with repetitions: stems, pairs of characters of scripts without spaces, and
 * codes, amounts and phone numbers as they are without punctuation.
 */
export function termsOf(text: string, language: Language, stem: Stemmer): string[] {
  return [...splitWords(text).flatMap((word) => termsOfWord(word, language, stem)), ...codesIn(text)]
}

function termsOfWord(word: string, language: Language, stem: Stemmer): string[] {
  return !IS_ASCII.test(word) && isDense(word) ? densePairs(word) : [stem(word, language)]
}

/** A word of a question, with its terms in each of the languages of the documents. */
export type AskedWord = { terms: string[]; isStopWord: boolean }

/** More words tell nothing new about what is asked, and each costs a look into the index. */
const MAX_WORDS = 48
const MAX_CHARACTERS = 4_000

/** Returns the distinct words of a question. If it has too many, the stop words go first. */
export function askedWords(question: string, languages: readonly Language[], stem: Stemmer): AskedWord[] {
  const text = question.slice(0, MAX_CHARACTERS)
  const written = splitWords(text)
  const guessed = guessLanguageOfWords(written)
  const among = [...new Set([...languages, ...(guessed === 'other' ? [] : [guessed])])]
  const stemmed = languages.length > 0 ? languages : ['en' as const]
  const found = new Map<string, AskedWord>()
  const add = (terms: string[], isStop: boolean): void => {
    const key = terms.join(' ')
    if (!found.has(key)) found.set(key, { terms, isStopWord: isStop })
  }
  for (const word of written) {
    const isStop = among.some((language) => isStopWord(word, language))
    if (isDense(word)) for (const pair of densePairs(word)) add([pair], isStopWord(pair, guessed))
    else add([...new Set(stemmed.map((language) => stem(word, language)))], isStop)
  }
  for (const code of codesIn(text)) add([code], false)
  const words = [...found.values()]
  if (words.length <= MAX_WORDS) return words
  return words.sort((a, b) => Number(a.isStopWord) - Number(b.isStopWord)).slice(0, MAX_WORDS)
}

/** A run of letters and digits that punctuation joins, or groups of digits that spaces do. */
const RUN = /[\p{L}\p{N}]+(?:(?:[-–./,:'’()+_#]{1,3}|(?<=\p{N}\)?)[\s()]{1,2}(?=\(?\p{N}))[\p{L}\p{N}]+)+/gu
const AMOUNT = /^(\d{1,3}(?:[.,'’\s]\d{3})+|\d+)[.,](?:\d{2}|-)$/
const MAX_CODE = 40

/** Returns what is written with punctuation or in groups, such as AB-12/7, 1.250,00 or +49 30 1234, without it. */
function codesIn(text: string): string[] {
  if (!/\p{N}/u.test(text)) return []
  const folded = foldText(text)
  const codes: string[] = []
  for (const [run] of folded.matchAll(RUN)) {
    if (!/\p{N}/u.test(run) || run.length > MAX_CODE) continue
    codes.push(run.replace(/[^\p{L}\p{N}]+/gu, ''))
    const whole = AMOUNT.exec(run)?.[1]?.replace(/\D/g, '')
    if (whole) codes.push(whole)
  }
  return codes
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the range is ASCII
const IS_ASCII = /^[\x00-\x7f]*$/

/** Returns the overlapping runs of characters of a word, by which a misspelt word and a compound are still similar. */
function gramsOfWord(word: string): string[] {
  if (IS_ASCII.test(word)) return runs(` ${word}`, 5)
  if (/[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}]/u.test(word)) return runs(word, 2)
  const plain = word.normalize('NFKD').replace(/\p{M}+/gu, '')
  // A syllable of Hangul is two or three letters when it is decomposed.
  return runs(` ${plain}`, /[\u1100-\u11ff]/.test(plain) ? 3 : 5)
}

function runs(word: string, size: number): string[] {
  // A pair of surrogates may be cut in two, which makes the same parts wherever the word stands.
  if (word.length < size) return [word]
  const found: string[] = []
  for (let at = 0; at + size <= word.length; at++) found.push(word.slice(at, at + size))
  return found
}

/** Returns the hash of an agent's term for the database. It tells nothing about the same term of another agent. */
export function termHash(agentId: string, term: string): bigint {
  return hash('sha256', `${agentId}\n${term}`, 'buffer').readBigInt64LE(0)
}
