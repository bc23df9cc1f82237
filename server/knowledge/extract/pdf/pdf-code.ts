import type { PdfLine } from './pdf-lines.ts'

/** The largest distance between two lines of a block, in font heights; blank lines leave gaps. */
const LINE_GAP = 4
/** The distance from which on a blank line is between two lines. */
const BLANK_GAP = 1.9
const FEWEST_LINES = 2

/** Returns the block of code that begins with line `at` of a page, fenced as in Markdown, or null. */
export function codeAt(lines: readonly PdfLine[], at: number): { text: string; length: number } | null {
  let end = at
  while (isCode(lines[end]) && (end === at || isClose(lines[end - 1]!, lines[end]!))) end += 1
  const block = lines.slice(at, end)
  if (block.length < FEWEST_LINES) return null
  const left = Math.min(...block.map(({ x }) => x))
  const letter = widthOfLetter(block)
  const texts = block.flatMap((line, i) => {
    const before = block[i - 1]
    const isAfterBlank = before && before.y - line.y > line.size * BLANK_GAP
    return [...(isAfterBlank ? [''] : []), typed(line, left, letter)]
  })
  return { text: ['```', ...texts, '```'].join('\n'), length: block.length }
}

/** A fence in the code would end the block. */
const isCode = (line: PdfLine | undefined): boolean => line?.isTyped === true && !line.text.includes('```')

const isClose = (before: PdfLine, line: PdfLine): boolean => {
  const gap = before.y - line.y
  return gap > 0 && gap < Math.max(before.size, line.size) * LINE_GAP
}

/** All letters have the same width. The longest part of a line tells it best. */
function widthOfLetter(block: readonly PdfLine[]): number {
  const cells = block.flatMap(({ cells }) => cells).sort((a, b) => b.text.length - a.text.length)
  const [longest] = cells
  return longest ? (longest.right - longest.x) / longest.text.length : 0
}

/** The most columns that a line is indented, because a file may claim any position. */
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
