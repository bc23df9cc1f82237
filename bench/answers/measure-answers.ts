import { searchInTalk } from '../../server/knowledge/search/answering/search-in-talk.ts'
import { searchTables } from '../../server/knowledge/search/search-tables.ts'
import { showChunks } from '../../server/knowledge/search/tables/drop-chunks.ts'
import { createTables, type Tables } from '../../server/knowledge/search/tables/tables.ts'
import { writeChunk } from '../../server/knowledge/search/tables/write-chunks.ts'
import { type ComposedAnswer, composeAnswer } from '../../server/models/builtin/compose-answer.ts'
import type { WordVectors } from '../../server/models/static/word-vectors.ts'
import { createStemmer } from '../../server/text/languages/stem.ts'
import { withTables } from '../../server/text/rows/named-rows.ts'
import type { CollectionVectors } from './collection-vectors.ts'
import { factOf } from './fact-of.ts'
import type { LoadedCollection } from './load-collections.ts'
import { plainBm25 } from './plain-bm25.ts'

/** The result of one question. `holds` says whether the answer contains the expected fact. */
export type Asked = {
  collection: string
  language: string
  kind: 'close' | 'typed' | 'paraphrase' | 'near' | 'far' | 'follow-up'
  question: string
  band: string
  score: number
  holds: boolean
  /**
   * The position (from 1) of the first passage with the fact, or 0 for none. `plainPlace` is the same for plain BM25.
   */
  place: number
  plainPlace: number
  stitched: boolean
  text: string
}

const PASSAGES = 8

function tablesOf(
  { chunks }: LoadedCollection,
  words: WordVectors,
  vectors?: (Float32Array | null)[],
): Tables {
  const tables = createTables(words)
  const stem = createStemmer()
  const slots = chunks.map((chunk, i) => writeChunk(tables, { ...chunk, vector: vectors?.[i] ?? null }, stem))
  showChunks(tables, slots)
  return tables
}

/** The distance of two questions of a set that are asked one after the other; neighbours are often about the same. */
const APART = 7

type Options = { vectors: CollectionVectors | null; isAfterAnother: boolean }

/**
 * Asks the built-in responder every question of a collection. With `isAfterAnother`, each is asked after another one of
 * the set, which has nothing to do with it.
 */
export async function askCollection(
  collection: LoadedCollection,
  words: WordVectors,
  { vectors, isAfterAnother }: Options,
): Promise<Asked[]> {
  const tables = tablesOf(collection, words, vectors?.ofChunks)
  const bm25 = plainBm25(collection.chunks, collection.language)
  const ask = async (
    question: string,
    kind: Asked['kind'],
    fact: string | null,
    before: string | null = null,
  ): Promise<Asked> => {
    const vectorOf = vectors?.vectorsFor(fact)
    const search = async (text: string, limit: number) =>
      searchTables(tables, text, { limit, queryVector: (await vectorOf?.(text)) ?? null })
    const { asked, found } = await searchInTalk(search, question, before, PASSAGES)
    const answer = composeAnswer({ question, about: asked, ...found }, words)
    const holds = fact === null ? () => false : factOf(fact)
    const placeIn = (chunks: readonly { text: string; headingPath: string[] }[]): number =>
      chunks.findIndex(({ text, headingPath }) => holds(`${headingPath.join(' ')} ${text}`)) + 1
    return {
      collection: collection.name,
      language: collection.language,
      kind,
      question,
      band: answer.band,
      score: answer.score,
      holds: holds(answer.text),
      place: placeIn(found.passages),
      plainPlace: placeIn(bm25(question, PASSAGES)),
      stitched: (answer.band === 'answer' || answer.band === 'closest') && isStitched(answer, collection),
      text: answer.text,
    }
  }
  const { answerable } = collection
  const another = (place: number): string | null =>
    isAfterAnother ? (answerable[place % answerable.length]?.question ?? null) : null
  return Promise.all([
    ...answerable.map(({ question, wording, fact }, i) => ask(question, wording, fact, another(i + APART))),
    ...collection.near.map((question, i) => ask(question, 'near', null, another(i))),
    ...collection.far.map((question, i) => ask(question, 'far', null, another(collection.near.length + i))),
    ...collection.followUps.map(({ before, question, fact }) => ask(question, 'follow-up', fact, before)),
  ])
}

/**
 * Returns whether the answer has a quote that does not occur verbatim in the documents. A quote ends with its number.
 * The introduction of several quotes and the headings above them are not quotes. From a table, consecutive rows may
 * be quoted with the column names, after the text before the table.
 */
function isStitched({ text, band }: ComposedAnswer, { chunks }: LoadedCollection): boolean {
  const body = band === 'closest' ? text.replace(/^.*?\n\n/s, '') : text
  const quotes = body
    .split(/\s*\[\d\](?:\n\n|$)/)
    .map((quote) => (band === 'closest' ? quote.replace(/^\*\*[^\n]*\*\*\n\n/, '') : quote))
  const known = chunks.map((chunk) => `${bare(chunk.text)} ${bare(withTables(chunk.text))}`)
  return quotes.some((quote) => !known.some((one) => isQuoteOf(quote, one)))
}

const COLUMN_NAMES = /(?:^|(?<=\n))\|.*\|\n\| - .*\|\n/

const bare = (text: string): string => text.replace(/[^\p{L}\p{N}]/gu, '').toLowerCase()

/** Precedes a single row of a table, which is shown as a line of names and values. */
const BEFORE_ROW = /\n\n(?=[^\n]+: [^\n]+(?:; [^\n]+: [^\n]+)+$)/

function isQuoteOf(quote: string, known: string): boolean {
  if (known.includes(bare(quote))) return true
  const isTable = COLUMN_NAMES.test(quote)
  const [before, rows] = quote.split(isTable ? COLUMN_NAMES : BEFORE_ROW, 2)
  const from = known.indexOf(bare(before!))
  return rows !== undefined && from >= 0 && known.includes(bare(rows), from + bare(before!).length)
}
