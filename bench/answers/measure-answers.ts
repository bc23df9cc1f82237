import { searchInTalk } from '../../server/knowledge/search/answering/search-in-talk.ts'
import type { Passage } from '../../server/knowledge/search/passage.ts'
import { searchTables } from '../../server/knowledge/search/search-tables.ts'
import { showChunks } from '../../server/knowledge/search/tables/drop-chunks.ts'
import { createTables, type Tables } from '../../server/knowledge/search/tables/tables.ts'
import { writeChunk } from '../../server/knowledge/search/tables/write-chunks.ts'
import { type ComposedAnswer, composeAnswer } from '../../server/models/builtin/compose-answer.ts'
import { listGoesOn } from '../../server/models/builtin/list-goes-on.ts'
import { joinList, withoutLead } from '../../server/models/builtin/whole-list.ts'
import type { WordVectors } from '../../server/models/static/word-vectors.ts'
import type { Language } from '../../server/text/languages/language.ts'
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
  /** What the collection consists of, and the format of the document that holds the fact, if any. */
  documents: string
  format: string
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
  /** Whether a quote is not in the documents as it is, and whether one is not in the passage that its citation names. */
  stitched: boolean
  elsewhere: boolean
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
    const documents = { language: collection.language as Language, areEmpty: false, subjects: [] }
    const answer = composeAnswer({ question, about: asked, documents, ...found }, words)
    const holds = fact === null ? () => false : factOf(fact)
    const placeIn = (chunks: readonly { text: string; headingPath: string[] }[]): number =>
      chunks.findIndex(({ text, headingPath }) => holds(`${headingPath.join(' ')} ${text}`)) + 1
    return {
      collection: collection.name,
      language: collection.language,
      documents: collection.folder ? 'company' : collection.kind.split(/,| in /, 1)[0]!,
      format: formatOf(
        collection.chunks.find(({ text, headingPath }) => holds(`${headingPath.join(' ')} ${text}`)),
      ),
      kind,
      question,
      band: answer.band,
      score: answer.score,
      holds: holds(answer.text),
      place: placeIn(found.passages),
      plainPlace: placeIn(bm25(question, PASSAGES)),
      ...placesOfQuotes(answer, found.passages, collection),
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

const formatOf = (chunk: { sourceId: string } | undefined): string =>
  /\.(\w+?)(?:\.gz)?$/.exec(chunk?.sourceId ?? '')?.[1] ?? 'no fact'

/**
 * Returns whether the answer has a quote that does not occur verbatim in the documents, and whether it has one that
 * occurs there, but not in the passage that its number refers to. A quote ends with its number. The introduction of
 * several quotes, the headings above them and the sentence that a list goes on are not quotes. From a table,
 * consecutive rows may be quoted with the column names, after the text before the table. A list may be quoted with its
 * parts in neighbouring passages.
 */
function placesOfQuotes(
  { text, band, cited }: ComposedAnswer,
  passages: readonly Passage[],
  { chunks, language }: LoadedCollection,
): Pick<Asked, 'stitched' | 'elsewhere'> {
  if (band !== 'answer' && band !== 'closest') return { stitched: false, elsewhere: false }
  const body = band === 'closest' ? text.replace(/^.*?\n\n/s, '') : text
  const endings = new Set([language as Language, 'en' as const].map((one) => `\n\n${listGoesOn(one)}`))
  const isIn = (quote: string, one: { text: string }): boolean =>
    isQuoteOf(quote, `${bare(one.text)} ${bare(withTables(one.text))}`)
  const wrong = [...body.matchAll(/(.*?)\s*\[(\d)\](?:\n\n|$)/gs)].flatMap(([, whole, number]) => {
    const ending = [...endings].find((one) => whole!.endsWith(one)) ?? ''
    const said = whole!.slice(0, whole!.length - ending.length)
    const passage = passages[cited[Number(number) - 1] ?? -1]
    const quote = withoutHeading(said, passage?.headingPath.at(-1) ?? '')
    return passage && isIn(quote, { text: withWholeLists(passage) }) ? [] : [quote]
  })
  const isAnywhere = (quote: string): boolean => chunks.some((chunk) => isIn(quote, chunk))
  return { stitched: !wrong.every(isAnywhere), elsewhere: wrong.some(isAnywhere) }
}

function withoutHeading(said: string, heading: string): string {
  const [, first = '', quote = ''] = /^\*\*([^\n]*)\*\*\n\n(.*)$/s.exec(said) ?? []
  return first !== '' && bare(first) === bare(heading) ? quote : said
}

function withWholeLists({ text, listBefore = '', listAfter = '' }: Passage): string {
  return joinList(joinList(listBefore, withoutLead(listBefore, text)), listAfter)
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
