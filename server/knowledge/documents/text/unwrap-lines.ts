import { DENSE_ITEM, isBreakEmpty } from './dense-lines.ts'

const ITEM = /^\s*(?:[-*+•‣▪]|\(?\d{1,3}[.)]|[a-z]\))\s+/
/** The widths at which editors break lines. */
const NARROWEST = 50
const WIDEST = 120
/** A line counts as full if it has this share of the longest line's length. */
const FULL = 0.72

/**
 * Joins the lines of a paragraph that an editor broke at a fixed width, indented or not. List items and text that is
 * not prose, such as addresses and columns, keep their lines.
 */
export function unwrapLines(lines: readonly string[]): string {
  const longest = lines.reduce((most, line) => Math.max(most, line.trimEnd().length), 0)
  const isWrapped = longest >= NARROWEST && longest <= WIDEST
  const joined: string[] = []
  let before = ''
  for (const line of lines) {
    const text = line.trim()
    if (text === '') continue
    const last = joined.at(-1)
    const goesOn =
      last !== undefined &&
      isWrapped &&
      !ITEM.test(line) &&
      !DENSE_ITEM.test(line) &&
      !isColumns(line) &&
      reachesEnd(before, text, longest)
    if (goesOn && last !== undefined)
      joined[joined.length - 1] = isBreakEmpty(last, text) ? last + text : `${last} ${text}`
    else joined.push(text)
    before = line
  }
  return joined.join('\n')
}

/** Returns whether the first word of the next line would not, or hardly, have fitted. */
function reachesEnd(before: string, next: string, longest: number): boolean {
  const length = before.trimEnd().length
  const word = /^\S+/.exec(next)?.[0].length ?? 0
  return length >= longest * FULL || (length + 1 + word > longest && !/[:|]$/.test(before.trimEnd()))
}

/** Matches values that are separated by spaces or bars. */
const isColumns = (line: string): boolean => /\S {3,}\S|\t|\s\|\s/.test(line.trim())
