import { hash } from 'node:crypto'
import { densePairs, isDense } from '../../platform/text/languages/dense-script.ts'
import { guessLanguageOfWords, type Language } from '../../platform/text/languages/language.ts'
import type { Stemmer } from '../../platform/text/languages/stem.ts'
import { isStopWord } from '../../platform/text/languages/stop-words.ts'
import { visibleText } from '../../platform/text/words/visible-text.ts'
import { foldText, splitWords } from '../../platform/text/words/words.ts'

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

export function termsOfWord(word: string, language: Language, stem: Stemmer): string[] {
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
export function codesIn(text: string): string[] {
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
export function gramsOfWord(word: string): string[] {
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
