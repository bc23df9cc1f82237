import { compactVector } from '../../../models/static/compact-vector.ts'
import { addWords, meanVector, unitLength } from '../../../models/static/mean-vector.ts'
import type { WordVectors } from '../../../models/static/word-vectors.ts'
import { type Language, weighLanguage } from '../../../text/languages/language.ts'
import type { Stemmer } from '../../../text/languages/stem.ts'
import { splitSentences } from '../../../text/words/sentences.ts'
import { termsOfWord } from '../../../text/words/terms.ts'
import { visibleText } from '../../../text/words/visible-text.ts'
import { splitWords } from '../../../text/words/words.ts'
import type { IndexedChunk } from '../passage.ts'
import { mostChunks, type Tables } from '../tables/tables.ts'
import { withNameParts } from './split-identifiers.ts'

/** How much one occurrence counts in each field of a chunk. */
const TEXT_WEIGHT = 2
const TITLE_WEIGHT = 3
const QUESTION_WEIGHT = 4

/**
 * From this length on, a text is in the language that its words indicate, whatever language the other texts are in.
 */
const SURE_SHARE = 0.15
const SURE_WORDS = 12
const KNOWN_CHUNKS = 10

type AnalysedChunk = {
  language: Language
  /** The weighted frequencies of the terms. */
  frequencies: Map<string, number>
  length: number
  passage: Float32Array | null
  /** The compact vectors of the sentences, the heading and the questions, one after the other. */
  sentences: Int8Array
}

/** Extracts from a chunk what the rankers need. */
export function analyseChunk(
  chunk: IndexedChunk,
  { words, chunksOf }: Pick<Tables, 'words' | 'chunksOf'>,
  stem: Stemmer,
): AnalysedChunk {
  const heading = chunk.headingPath.at(-1) ?? ''
  const title = splitWords([chunk.sourceName ?? '', ...chunk.headingPath].join(' '))
  const questions = (chunk.questions ?? []).map(splitWords)
  const visible = visibleText(chunk.text)
  const text = splitWords(visible)
  const language = languageOf([...text, ...questions.flat()], chunksOf)

  const frequencies = new Map<string, number>()
  let length = 0
  const count = (list: readonly string[], weight: number): void => {
    for (const word of list) {
      for (const term of termsOfWord(word, language, stem)) {
        frequencies.set(term, (frequencies.get(term) ?? 0) + weight)
        length += weight
      }
    }
  }
  count(text, TEXT_WEIGHT)
  count(title, TITLE_WEIGHT)
  for (const question of questions) count(question, QUESTION_WEIGHT)

  const headingWords = splitWords(withNameParts(heading))
  const sum = new Float32Array(words.dimensions)
  for (const list of [headingWords, splitWords(withNameParts(visible)), ...questions])
    addWords(words, list, sum)
  const parts = [
    ...splitSentences(visible, language).map((sentence) => splitWords(withNameParts(sentence))),
    headingWords,
    ...questions,
  ]
  return { language, frequencies, length, passage: unitLength(sum), sentences: sentenceVectors(parts, words) }
}

/** Code and tables have few words that indicate a language, so they are in that of most other chunks. */
function languageOf(words: readonly string[], chunksOf: ReadonlyMap<Language, number>): Language {
  const { language, share } = weighLanguage(words)
  if ((share >= SURE_SHARE && words.length >= SURE_WORDS) || (chunksOf.get(language) ?? 0) >= KNOWN_CHUNKS)
    return language
  return mostChunks(chunksOf) ?? language
}

function sentenceVectors(parts: readonly string[][], words: WordVectors): Int8Array {
  const vectors = parts.map((part) => meanVector(words, part)).filter((vector) => vector !== null)
  const joined = new Int8Array(vectors.length * words.dimensions)
  for (const [i, vector] of vectors.entries()) joined.set(compactVector(vector), i * words.dimensions)
  return joined
}
