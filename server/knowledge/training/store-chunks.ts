import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { Db, Trx } from '../../platform/db/database.ts'
import { newId } from '../../platform/db/ids.ts'
import { ownRow } from '../../platform/db/refs.ts'
import { json } from '../../platform/db/statements/json.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import { storable } from '../../platform/http/bodies/storable.ts'
import { createStemmer, type Language } from '../../platform/text/languages/language.ts'
import { languageOf, type Searchable, searchedText, termHash, termsOf } from '../search/find-by-words.ts'
import { vectorKey } from './embed-chunks.ts'
import type { LoadedChunk } from './load-content.ts'

/** Where chunks belong: to a source, or to a page of it. */
export type ChunkPlace = {
  accountId: AccountId
  agentId: string
  sourceId: string
  sourceName: string | null
  page: { id: string; url: string; title: string } | null
}

type Placed = { chunk: LoadedChunk; ordinal: number }

/** What changes the stored chunks of a place into others; unchanged ones stay with their words and vectors. */
type ChunkChanges = { added: Placed[]; moved: { id: string; ordinal: number }[]; retired: string[] }

/** The most rows in one statement, because other work waits for it on the embedded database. */
export const ROWS_AT_ONCE = 50

/** Compares the content of a place with its chunks that no later version has retired. */
export async function compareChunks(
  db: Db,
  { accountId, sourceId, page }: ChunkPlace,
  chunks: readonly LoadedChunk[],
): Promise<ChunkChanges> {
  const stored = await db
    .selectFrom('chunks')
    .select(['id', 'ordinal', 'vector_key', 'page', 'anchor', 'title'])
    .select(sql<string>`md5(text)`.as('text_hash'))
    .where('account_id', '=', accountId)
    .where('source_id', '=', sourceId)
    .where('page_id', page === null ? 'is' : '=', page?.id ?? null)
    .where('retired_in', 'is', null)
    .orderBy('ordinal')
    .execute()
  const known = Map.groupBy(stored, keyOf)
  const changes: ChunkChanges = { added: [], moved: [], retired: [] }
  for (const [ordinal, chunk] of chunks.entries()) {
    const same = known.get(
      keyOf({
        vector_key: vectorKey(chunk),
        page: chunk.page,
        anchor: chunk.anchor === undefined ? null : storable(chunk.anchor),
        title: page === null ? null : storable(page.title),
        text_hash: createHash('md5').update(storable(chunk.text)).digest('hex'),
      }),
    )
    const kept = same?.shift()
    if (!kept) changes.added.push({ chunk, ordinal })
    else if (kept.ordinal !== ordinal) changes.moved.push({ id: kept.id, ordinal })
  }
  changes.retired = [...known.values()].flat().map(({ id }) => id)
  return changes
}

type Identity = {
  vector_key: string
  page: number | null
  anchor: string | null
  title: string | null
  text_hash: string
}

const keyOf = ({ vector_key, page, anchor, title, text_hash }: Identity): string =>
  JSON.stringify([vector_key, page, anchor, title, text_hash])

/** Adds chunks that are used from `version` on, with their words. */
export async function insertChunks(
  trx: Trx,
  place: ChunkPlace,
  version: number,
  added: readonly Placed[],
): Promise<void> {
  const { accountId: account_id, agentId: agent_id, sourceId: source_id, page } = place
  for (let from = 0; from < added.length; from += ROWS_AT_ONCE) {
    const rows = added.slice(from, from + ROWS_AT_ONCE).map(({ chunk, ordinal }) => ({
      id: newId(),
      account_id,
      agent_id,
      source_id,
      version,
      ordinal,
      heading_path: chunk.headingPath.map(storable),
      page: chunk.page,
      text: storable(chunk.text),
      questions: chunk.questions,
      vector_key: vectorKey(chunk),
      page_id: page?.id ?? null,
      url: page?.url ?? null,
      title: page === null ? null : storable(page.title),
      anchor: chunk.anchor === undefined ? null : storable(chunk.anchor),
    }))
    await trx
      .insertInto('chunks')
      .values(
        rows.map((row) => ({ ...row, heading_path: json(row.heading_path), questions: json(row.questions) })),
      )
      .execute()
    const words = rows.map((row) => ({ ...row, retired_in: null, name: row.title ?? place.sourceName }))
    await insertWords(trx, place, words)
  }
}

type WordsOf = {
  id: string
  source_id: string
  page_id: string | null
  version: number
  retired_in: number | null
  vector_key: string
  heading_path: string[]
  text: string
  questions: string[] | null
  /** The name of its source, or the title of its page. */
  name: string | null
}

const stem = createStemmer()

/** Stores what chunks are found by. */
export async function insertWords(
  trx: Trx,
  { accountId, agentId }: Pick<ChunkPlace, 'accountId' | 'agentId'>,
  chunks: readonly WordsOf[],
): Promise<void> {
  if (chunks.length === 0) return
  const { terms_salt } = await trx
    .selectFrom('agents')
    .select('terms_salt')
    .where(ownRow(accountId, agentId))
    .executeTakeFirstOrThrow()
  await trx
    .insertInto('chunk_words')
    .values(
      chunks.map(({ id, source_id, page_id, version, retired_in, vector_key, ...chunk }) => {
        const { language, terms } = wordsOf(
          { sourceName: chunk.name, headingPath: chunk.heading_path, ...chunk },
          terms_salt,
        )
        const row = { source_id, page_id, version, retired_in, vector_key, language }
        return {
          agent_id: agentId,
          account_id: accountId,
          chunk_id: id,
          ...row,
          terms: sql`${`{${terms.join(',')}}`}::bigint[]`,
        }
      }),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

function wordsOf(chunk: Searchable, salt: string): { language: Language; terms: bigint[] } {
  const text = searchedText(chunk)
  const language = languageOf(text)
  return { language, terms: [...new Set(termsOf(text, language, stem))].map((term) => termHash(salt, term)) }
}

/** Ends the use of chunks with `version`. */
export async function retireChunks(
  trx: Trx,
  { accountId, agentId }: Pick<ChunkPlace, 'accountId' | 'agentId'>,
  version: number,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return
  await sql`
    update chunks set retired_in = ${version}
    where account_id = ${accountId} and id = any(${[...ids]}::uuid[]) and retired_in is null`.execute(trx)
  await sql`
    update chunk_words set retired_in = ${version}
    where account_id = ${accountId} and agent_id = ${agentId} and chunk_id = any(${[...ids]}::uuid[])
      and retired_in is null`.execute(trx)
}

/** Gives unchanged chunks the place that they have in the new version. */
export async function moveChunks(
  trx: Trx,
  { accountId }: ChunkPlace,
  moved: ChunkChanges['moved'],
): Promise<void> {
  if (moved.length === 0) return
  await sql`
    update chunks set ordinal = moved.ordinal
    from unnest(${moved.map(({ id }) => id)}::uuid[], ${moved.map(({ ordinal }) => ordinal)}::int[]) as moved (id, ordinal)
    where chunks.account_id = ${accountId} and chunks.id = moved.id`.execute(trx)
}

/** Counts the indexed chunks of a version that is about to go live, for the row of its source. */
export async function countWords(
  trx: Trx,
  { accountId, agentId, sourceId }: Pick<ChunkPlace, 'accountId' | 'agentId' | 'sourceId'>,
  version: number,
): Promise<{ words_version: number; chunk_count: number; languages: string[] }> {
  const { rows } = await sql<{ language: string; count: number }>`
    select language, count(*)::int as count from chunk_words
    where account_id = ${accountId} and agent_id = ${agentId} and source_id = ${sourceId}
      and version <= ${version} and (retired_in is null or retired_in > ${version})
    group by language order by count(*) desc, language`.execute(trx)
  return {
    words_version: version,
    chunk_count: rows.reduce((sum, { count }) => sum + count, 0),
    languages: rows.slice(0, 4).map(({ language }) => language),
  }
}

/** Removes what an attempt has left that never went live. The caller has locked the source, whose chunks are of no pages. */
export async function undoUnpublished(
  trx: Trx,
  { accountId, agentId, sourceId }: Pick<ChunkPlace, 'accountId' | 'agentId' | 'sourceId'>,
  live: number,
): Promise<void> {
  await sql`
    delete from chunks
    where account_id = ${accountId} and source_id = ${sourceId} and version > ${live}`.execute(trx)
  const { rows } = await sql<{ id: string }>`
    update chunks set retired_in = null
    where account_id = ${accountId} and source_id = ${sourceId} and retired_in > ${live} returning id`.execute(
    trx,
  )
  if (rows.length === 0) return
  await sql`
    update chunk_words set retired_in = null
    where account_id = ${accountId} and agent_id = ${agentId}
      and chunk_id = any(${rows.map(({ id }) => id)}::uuid[])`.execute(trx)
}
