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
/** Splits the words of a script without spaces into words by a dictionary; other words stay whole. */
export const dictionaryWords = (words: readonly string[]): string[] =>
  words.flatMap((word) =>
    isDense(word) ? [...segmenter.segment(word)].map(({ segment }) => segment) : [word],
  )

/** Short words in Hiragana alone are usually grammatical. */
const GRAMMAR = /^\p{scx=Hiragana}{1,3}$/u

/** Matches a particle or ending at the end of a Korean word of two or more syllables. */
const KOREAN_ENDING =
  /(?<=[가-힣]{2})(?:은|는|이|가|을|를|에|의|로|으로|도|만|와|과|랑|하고|에서|에게|한테|까지|부터|보다|처럼|마다|밖에|이나|나|[가-힣](?:나요|까요|가요|어요|아요|여요|세요|네요|지요|데요|거든요|습니까|니까|니다)|요|죠|지|고|면|서|는데|은데|한데)$/u

const DENSE_LANGUAGES = ['ja', 'zh', 'ko'] as const
const KANA = /[\p{scx=Hiragana}\p{scx=Katakana}]/u

/** Two neighbouring characters of a question. If the pair `crosses` a word boundary, they are neighbours by chance. */
type ContentPair = { pair: string; crosses: boolean }

/**
 * Returns the significant character pairs of a question's word in a dense script. The pairs of its particles and
 * endings occur in every text.
 */
export function contentOfDense(word: string): ContentPair[] {
  const kept = [...segmenter.segment(word)].filter(
    ({ segment }) => !GRAMMAR.test(segment) && !DENSE_LANGUAGES.some((one) => isStopWord(segment, one)),
  )
  const runs: { from: number; to: number }[] = []
  for (const { index, segment } of kept) {
    const last = runs.at(-1)
    if (last?.to === index) last.to += segment.length
    else runs.push({ from: index, to: index + segment.length })
  }
  const inside = new Set(kept.flatMap(({ segment }) => densePairs(segment.replace(KOREAN_ENDING, ''))))
  for (const pair of compoundsOf(kept, KANA.test(word) ? 1 : 2)) inside.add(pair)
  const pairs = runs.flatMap(({ from, to }) => {
    // A single character is looked up together with the one that follows, as it occurs in the texts.
    const isAlone = [...word.slice(from, to)].length === 1
    return densePairs(isAlone ? word.slice(from, to + 1) : word.slice(from, to))
  })
  const found = pairs.length > 0 ? [...new Set(pairs)] : densePairs(word)
  return found.map((pair) => ({ pair, crosses: !inside.has(pair) }))
}

/**
 * Returns the pairs at word boundaries that are words nevertheless, by the number of single-character words beside the
 * boundary. In Chinese, two of them are usually a word that the dictionary lacks, such as "保修". In Japanese, one is
 * enough, because compounds end in characters such as "料" and "券".
 */
function compoundsOf(words: readonly { index: number; segment: string }[], fewest: 1 | 2): string[] {
  return words.slice(1).flatMap((word, i) => {
    const before = words[i]!
    const isJoined = before.index + before.segment.length === word.index
    const singles = [before, word].filter(({ segment }) => [...segment].length === 1)
    return isJoined && singles.length >= fewest ? [[...before.segment].at(-1)! + [...word.segment][0]!] : []
  })
}
