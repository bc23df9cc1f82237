import { isCloseTo, type PdfLine } from './pdf-lines.ts'

/** The distance from which on a blank line is between two lines. */
const BLANK_GAP = 1.9
const FEWEST_LINES = 2

/** Returns the block of code that starts at line `at` of a page, with Markdown fences around it, or null. */
export function codeAt(lines: readonly PdfLine[], at: number): { text: string; length: number } | null {
  let end = at
  while (isCode(lines[end]) && (end === at || isCloseTo(lines[end - 1]!, lines[end]!))) end += 1
  const block = lines.slice(at, end)
  if (block.length < FEWEST_LINES) return null
  const left = block.reduce((least, { x }) => Math.min(least, x), Number.POSITIVE_INFINITY)
  const letter = widthOfLetter(block)
  const texts = block.flatMap((line, i) => {
    const before = block[i - 1]
    const isAfterBlank = before && before.y - line.y > line.size * BLANK_GAP
    return [...(isAfterBlank ? [''] : []), typed(line, left, letter)]
  })
  return { text: ['```', ...texts, '```'].join('\n'), length: block.length }
}

/** A line that contains a fence cannot be part of a fenced block. */
const isCode = (line: PdfLine | undefined): boolean => line?.isTyped === true && !line.text.includes('```')

/** All letters have the same width, which is most accurate when measured on the longest cell. */
function widthOfLetter(block: readonly PdfLine[]): number {
  const cells = block.flatMap(({ cells }) => cells).sort((a, b) => b.text.length - a.text.length)
  const [longest] = cells
  return longest ? (longest.right - longest.x) / longest.text.length : 0
}

/** The largest indentation in columns. It is limited because a file may claim any position. */
const MOST_COLUMNS = 200

/** Returns the line with its indentation and the spaces between its columns. */
function typed({ cells }: PdfLine, left: number, letter: number): string {
  let text = ''
  for (const { text: part, x } of cells) {
    const column = letter > 0 ? Math.min(Math.round((x - left) / letter), MOST_COLUMNS) : 0
    text = (text === '' ? '' : `${text} `).padEnd(column) + part
  }
  return text.trimEnd()
}
