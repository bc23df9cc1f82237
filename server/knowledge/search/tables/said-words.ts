import { wordsAndPairs } from '../../../text/languages/dense-script.ts'
import { visibleText } from '../../../text/words/visible-text.ts'
import { splitWords } from '../../../text/words/words.ts'
import type { IndexedChunk } from '../passage.ts'
import { asNameParts, withNameParts, withoutArguments } from '../question/split-identifiers.ts'
import type { Tables } from './tables.ts'
import { numberOfWord, type SaidWords, type WordTable } from './word-table.ts'

/** The fields of a chunk whose words are compared with those of a question, in their stored order. */
const FIELDS = 5
const [TITLE, PATH, TEXT, TITLE_AS_WRITTEN, TITLE_IN_PARTS] = [0, 1, 2, 3, 4] as const

/** Splits the compared fields of a chunk into words and numbers them. */
export function saidWordsOf({ headingPath, questions, text }: IndexedChunk, known: WordTable): SaidWords {
  const title = withoutArguments(headingPath.at(-1) ?? '')
  const fields = [
    withNameParts(title),
    withNameParts(headingPath.slice(0, -1).join(' ')),
    withNameParts([...(questions ?? []), visibleText(text)].join(' ')),
    title,
    asNameParts(title),
  ].map((field) => wordsAndPairs(splitWords(field)))
  const numbers = new Int32Array(FIELDS + fields.reduce((sum, words) => sum + words.length, 0))
  let end = FIELDS
  for (const [field, words] of fields.entries()) {
    for (const word of words) numbers[end++] = numberOfWord(known, word)
    numbers[field] = end
  }
  return { known, numbers }
}

/**
 * Returns the words of a slot's chunk, numbered in `known`. They are numbered when a chunk is written, and again when
 * a search uses another word table, because the languages have changed or the table was full.
 */
export function saidIn(
  { slots, said }: Pick<Tables, 'slots' | 'said'>,
  slot: number,
  known: WordTable,
): SaidWords {
  const before = said[slot]
  if (before?.known === known) return before
  const numbered = saidWordsOf(slots.chunks[slot]!, known)
  said[slot] = numbered
  return numbered
}

type SaidFields = {
  title: Int32Array
  path: Int32Array
  text: Int32Array
  titles: [Int32Array, Int32Array]
}

export function fieldsOf({ numbers }: SaidWords): SaidFields {
  const field = (at: number): Int32Array => numbers.subarray(at === 0 ? FIELDS : numbers[at - 1], numbers[at])
  return {
    title: field(TITLE),
    path: field(PATH),
    text: field(TEXT),
    titles: [field(TITLE_AS_WRITTEN), field(TITLE_IN_PARTS)],
  }
}
