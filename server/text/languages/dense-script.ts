import { isStopWord } from './stop-words.ts'

// Matches scripts that are written without spaces (or, for Hangul, with particles attached). Their words are found as
// pairs of characters.
const DENSE =
  /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]+/gu
const ANY_DENSE = new RegExp(DENSE.source, 'u')

/** Returns whether a word contains characters of a script that does not separate words. */
export function isDense(word: string): boolean {
  return ANY_DENSE.test(word)
}

/** Splits a word into overlapping character pairs where its script is dense; other parts stay whole. */
export function densePairs(word: string): string[] {
  const pieces: string[] = []
  let end = 0
  for (const match of word.matchAll(DENSE)) {
    if (match.index > end) pieces.push(word.slice(end, match.index))
    end = match.index + match[0].length
    const characters = [...match[0]]
    if (characters.length === 1) pieces.push(match[0])
    for (let i = 0; i + 1 < characters.length; i++) pieces.push(characters[i]! + characters[i + 1]!)
  }
  if (end < word.length) pieces.push(word.slice(end))
  return pieces
}

/** Returns the words of a text, with those in a dense script as pairs of characters. */
export function wordsAndPairs(words: string[]): string[] {
  return words.some(isDense) ? words.flatMap((word) => (isDense(word) ? densePairs(word) : [word])) : words
}

/** Splits a word into runs of one kind of script, in order, with their positions. */
export function splitDense(word: string): { text: string; start: number; dense: boolean }[] {
  const stretches: { text: string; start: number; dense: boolean }[] = []
  let end = 0
  for (const { 0: text, index: start } of word.matchAll(DENSE)) {
    if (start > end) stretches.push({ text: word.slice(end, start), start: end, dense: false })
    stretches.push({ text, start, dense: true })
    end = start + text.length
  }
  if (end < word.length) stretches.push({ text: word.slice(end), start: end, dense: false })
  return stretches
}

const segmenter = new Intl.Segmenter('ja', { granularity: 'word' })
/** Short words in Hiragana alone are usually grammatical. */
const GRAMMAR = /^\p{scx=Hiragana}{1,3}$/u

/**
 * Returns the significant character pairs of a question's word in a dense script. The pairs of its particles and
 * endings occur in every text.
 */
export function contentOfDense(word: string): string[] {
  const kept = [...segmenter.segment(word)].filter(
    ({ segment }) => !GRAMMAR.test(segment) && !isStopWord(segment, 'ja') && !isStopWord(segment, 'zh'),
  )
  const runs: { from: number; to: number }[] = []
  for (const { index, segment } of kept) {
    const last = runs.at(-1)
    if (last?.to === index) last.to += segment.length
    else runs.push({ from: index, to: index + segment.length })
  }
  const pairs = runs.flatMap(({ from, to }) => {
    // A single character is looked up together with the one that follows, as it occurs in the texts.
    const isAlone = [...word.slice(from, to)].length === 1
    return densePairs(isAlone ? word.slice(from, to + 1) : word.slice(from, to))
  })
  return pairs.length > 0 ? [...new Set(pairs)] : densePairs(word)
}
