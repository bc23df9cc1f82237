// Matches scripts that are written without spaces (or, for Hangul, with particles attached). Their words are found as
// pairs of characters.
export const DENSE =
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
    for (let i = 0; i + 1 < characters.length; i++) pieces.push(characters.slice(i, i + 2).join(''))
  }
  if (end < word.length) pieces.push(word.slice(end))
  return pieces
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
