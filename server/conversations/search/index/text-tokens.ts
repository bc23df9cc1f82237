import { createYielder } from '../../../platform/concurrency/yield-to-event-loop.ts'
import { splitDense } from '../../../platform/text/languages/language.ts'
import { foldText } from '../../../platform/text/words/words.ts'
import { languagesFor, spokenLanguage, WORDS_LOOKED_AT } from './spoken-language.ts'
import type { Stemmers } from './stemmers.ts'

/** A position in a text with its search terms. */
export type Token = { start: number; end: number; terms: string[] }

/** A word of a text. `text` is its folded form, and the offsets refer to the original text. */
type Word = { start: number; end: number; text: string; dense: boolean }

// Soft hyphens and zero-width characters occur inside words and are removed by folding.
const RAW_WORD = /[\p{L}\p{M}\p{N}\u00ad\u200b-\u200d\u2060\ufeff]+/gu
const WORD = /[\p{L}\p{M}\p{N}]+/gu
const ASCII_WORD = /[a-z0-9]+/g
/** The most characters of a term; longer runs (hashes, base64) are truncated. */
const MAX_TERM_LENGTH = 64
/** The most characters of a run that are folded, since one character may become eighteen. */
const MAX_RUN_LENGTH = 1_000
/** Matches letters of scripts without spaces that folding does not change, alone or consecutively. */
const FOLDED = /^[\u0e01-\u0e30\u0e40-\u0e46\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uac00-\ud7a3]*$/

/** Yields the words of a text; in a script without spaces, each character together with the next one. */
export function* wordsOf(text: string): Generator<Word> {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range is ASCII
  if (/^[\x00-\x7f]*$/.test(text)) {
    for (const { 0: word, index } of text.toLowerCase().matchAll(ASCII_WORD))
      yield {
        start: index,
        end: index + word.length,
        text: word.slice(0, MAX_TERM_LENGTH),
        dense: false,
      }
    return
  }
  for (const { 0: raw, index } of text.matchAll(RAW_WORD))
    for (const { text: stretch, start, dense } of splitDense(raw))
      yield* dense ? pairsOf(stretch, index + start) : plainWords(stretch, index + start)
}

function plainWords(raw: string, start: number): Word[] {
  return (foldText(raw.slice(0, MAX_RUN_LENGTH)).match(WORD) ?? []).map((word) => ({
    start,
    end: start + raw.length,
    text: word.slice(0, MAX_TERM_LENGTH),
    dense: false,
  }))
}

function* pairsOf(raw: string, start: number): Generator<Word> {
  const characters = [...raw]
  const fold = FOLDED.test(raw) ? (pair: string): string => pair : foldText
  let at = start
  for (const [i, character] of characters.entries()) {
    const next = characters[i + 1] ?? ''
    yield { start: at, end: at + character.length + next.length, text: fold(character + next), dense: true }
    at += character.length
  }
}

/**
 * Returns the terms under which a word of a text is found: the word itself, its stem (for a script that only one
 * language uses, that language's), and the word without accents.
 */
function termsOf({ text, dense }: Word, spoken: string, stem: Stemmers): string[] {
  if (dense) return [text]
  const languages = languagesFor(text)
  const language = languages.includes(spoken) ? spoken : languages[0]
  const stemmed = language ? stem(text, language) : text
  const plain = bare(text)
  return stemmed === text && plain === text ? [text] : distinct([text, stemmed, plain])
}

/** Returns the terms to search for a word of a query, whose language is unknown. */
export function queryTerms(text: string, stem: Stemmers): string[] {
  return distinct([text, bare(text), ...languagesFor(text).map((language) => stem(text, language))])
}

/** Returns the word without accents. */
export const bare = (word: string): string =>
  /[^a-z0-9]/.test(word) ? word.normalize('NFD').replace(/\p{M}/gu, '').normalize('NFC') || word : word

const distinct = (terms: string[]): string[] => [...new Set(terms.filter((term) => term !== ''))]

/**
 * Splits the texts of one conversation into tokens. A text whose language cannot be determined is treated like the
 * others. Yields to other work in between.
 */
export async function tokensOf(texts: readonly string[], stem: Stemmers): Promise<Token[][]> {
  const breathe = createYielder()
  const split: Word[][] = []
  for (const text of texts) split.push(await allWords(text, breathe))
  const spoken = split.map(spokenIn)
  const usual = spoken.find((language) => language !== null) ?? 'english'
  const tokens: Token[][] = []
  for (const [i, words] of split.entries()) {
    const language = spoken[i] ?? usual
    tokens.push(await tokensBy(words, (word) => termsOf(word, language, stem), breathe))
  }
  return tokens
}

/** The same for a text without its conversation. If its language cannot be determined, every language is tried. */
export async function tokensOfOne(text: string, stem: Stemmers): Promise<Token[]> {
  const breathe = createYielder()
  const words = await allWords(text, breathe)
  const language = spokenIn(words)
  const make = (word: Word): string[] => {
    if (language !== null) return termsOf(word, language, stem)
    return word.dense ? [word.text] : queryTerms(word.text, stem)
  }
  return tokensBy(words, make, breathe)
}

type Breathe = ReturnType<typeof createYielder>

async function allWords(text: string, breathe: Breathe): Promise<Word[]> {
  const words: Word[] = []
  for (const word of wordsOf(text)) {
    words.push(word)
    const pause = breathe()
    if (pause) await pause
  }
  return words
}

const spokenIn = (words: readonly Word[]) =>
  spokenLanguage(words.slice(0, WORDS_LOOKED_AT).map(({ text }) => text))

async function tokensBy(
  words: readonly Word[],
  make: (word: Word) => string[],
  breathe: Breathe,
): Promise<Token[]> {
  const known = new Map<string, string[]>()
  const tokens: Token[] = []
  for (const word of words) {
    const key = word.dense ? ` ${word.text}` : word.text
    let terms = known.get(key)
    if (!terms) {
      terms = make(word)
      known.set(key, terms)
    }
    tokens.push({ start: word.start, end: word.end, terms })
    const pause = breathe()
    if (pause) await pause
  }
  return tokens
}
