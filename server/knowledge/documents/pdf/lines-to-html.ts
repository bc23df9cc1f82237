import { DENSE_ITEM, LIST_ITEM } from '../text/dense-lines.ts'
import { type JoinLines, lineJoiner } from './join-lines.ts'
import { endsSentence, mostOf, type PdfLine, roundedSize } from './pdf-lines.ts'
import { type Block, escaped, tableAt } from './pdf-table.ts'

/** How much larger than most of the text a heading is, and how long it may be. */
const SCALE = 1.15
const MAX_HEADING_LENGTH = 200
/** The most heading levels: when every line has a different font size, sizes say nothing about the outline. */
const DEEPEST = 6
/** The most characters and lines of a heading that differs from the text by its font alone, and how near the text is. */
const MAX_LENGTH_IN_FONT = 100
const MAX_IN_FONT = 2
const NEAR = 3
/** The distance, in font heights, from which on lines, and lines that end within a sentence, are apart. */
const FAR = 1.7
const FARTHEST = 2.2
/** The share of the longest line from which on a line is full. */
const FULL = 0.6
/** The largest indentation of code, because a file may claim any position. */
const WIDEST = 200
/** A line with room for so much more ends with a word; where this share of the lines has it, all of them do. */
const ROOM = 1
const ROOMY = 0.25

/** Writes the lines of the pages as HTML: headings by their size or font, tables by their columns, and paragraphs. */
export function linesToHtml(read: readonly PdfLine[][]): string {
  // In a mostly monospaced document, the font does not indicate code.
  const isTypedWhole = mostOf(read.flat(), ({ isTyped }) => isTyped) === true
  const pages = isTypedWhole ? read.map((page) => page.map((line) => ({ ...line, isTyped: false }))) : read
  const lines = pages.flat()
  const join = lineJoiner(
    lines.map(({ text }) => text),
    keepsWords(pages),
  )
  const levelOf = headingLevels(lines)
  return pages
    .map(
      (page, at) =>
        `<section data-page-num="${at + 1}">${blocksOf(page, levelOf, join).join('\n')}</section>`,
    )
    .join('\n')
}

function keepsWords(pages: readonly PdfLine[][]): boolean {
  let [broken, roomy] = [0, 0]
  for (const page of pages)
    for (const [at, line] of page.entries()) {
      const next = page[at + 1]
      if (!next || !/\p{Script=Hangul}$/u.test(line.text) || !/^\p{Script=Hangul}/u.test(next.text)) continue
      if (roundedSize(next) !== roundedSize(line) || line.y - next.y > line.size * FARTHEST) continue
      if (line.right - line.x < widthOf(page) * FULL) continue
      broken += 1
      const beside = page.filter(({ x, cells }) => Math.abs(x - line.x) <= line.size && cells.length === 1)
      if (Math.max(...beside.map(({ right }) => right)) - line.right > line.size * ROOM) roomy += 1
    }
  return roomy > 0 && roomy >= broken * ROOMY
}

const widthOf = (page: readonly PdfLine[]): number =>
  page.reduce((most, { x, right }) => Math.max(most, right - x), 0)

type LevelOf = (page: readonly PdfLine[], at: number) => number

/** Returns a function that returns the level of a heading, 1 for the outermost, or 0 for another line. */
function headingLevels(lines: readonly PdfLine[]): LevelOf {
  const body = mostOf(lines, roundedSize) ?? 0
  const bodyFont = mostOf(
    lines.filter(({ font }) => font !== null),
    ({ font }) => font,
  )
  const isLarge = (line: PdfLine): boolean =>
    line.size >= body * SCALE && line.text.length <= MAX_HEADING_LENGTH && /\p{L}/u.test(line.text)
  const sizes = [...new Set(lines.filter(isLarge).map(roundedSize))].sort((a, b) => b - a)
  return (page, at) => {
    const line = page[at]!
    if (isLarge(line)) return Math.min(sizes.indexOf(roundedSize(line)) + 1, DEEPEST)
    return isInFont(page, at, bodyFont) ? Math.min(sizes.length + 1, DEEPEST) : 0
  }
}

/** Returns whether a line belongs to a short title in another font above text in the font of the body. */
function isInFont(page: readonly PdfLine[], at: number, bodyFont: string | null): boolean {
  const line = page[at]!
  if (line.font === null || line.font === bodyFont || line.cells.length > 1) return false
  const isAlike = (other: PdfLine | undefined): boolean =>
    other?.font === line.font && roundedSize(other) === roundedSize(line)
  let [first, next] = [at, at + 1]
  while (at - first < MAX_IN_FONT && isAlike(page[first - 1])) first -= 1
  while (next - at <= MAX_IN_FONT && isAlike(page[next])) next += 1
  const title = page.slice(first, next)
  const [before, after] = [page[first - 1], page[next]]
  const text = title.map((one) => one.text).join(' ')
  return (
    title.length <= MAX_IN_FONT &&
    text.length <= MAX_LENGTH_IN_FONT &&
    /^["'“„«¿(]?[\p{Lu}\p{Lo}\p{N}]/u.test(text) &&
    /\p{L}{2}|\p{Lo}/u.test(text) &&
    !/[.,;:!。、，；：！-]$/.test(text) &&
    (!before || endsSentence(before) || before.y - title[0]!.y > line.size * 1.4) &&
    after !== undefined &&
    (after.font === null || after.font === bodyFont) &&
    !(
      /^\p{Ll}{2}/u.test(after.text) &&
      !/[?？]$/.test(text) &&
      line.right - line.x >= (after.right - after.x) * FULL
    ) &&
    after.y < line.y &&
    line.y - after.y < NEAR * line.size
  )
}

function blocksOf(page: readonly PdfLine[], levelOf: LevelOf, join: JoinLines): string[] {
  const blocks: string[] = []
  const width = widthOf(page)
  for (let at = 0; at < page.length; ) {
    const level = levelOf(page, at)
    const code = codeAt(page, at)
    const table = level === 0 && !code ? tableAt(page, at, join) : null
    const block = code ?? table
    let end = block?.end ?? at + 1
    while (
      !block &&
      end < page.length &&
      goesOn(page[end - 1]!, page[end]!, width) &&
      levelOf(page, end) === level
    )
      end += 1
    const lines = block ? [] : page.slice(at, end)
    const text = lines.reduce((whole, line, index) => {
      if (index === 0) return line.text
      const before = lines[index - 1]!
      if (isItem(line.text)) return `${whole}\n${line.text}`
      const isWhole = /\p{Script=Hangul}$/u.test(before.text) && before.right - before.x < width * FULL
      return isWhole ? `${whole} ${line.text}` : join(whole, line.text)
    }, '')
    const tag = level > 0 ? `h${level}` : 'p'
    blocks.push(block?.html ?? `<${tag}>${escaped(text).replaceAll('\n', '<br>')}</${tag}>`)
    at = end
  }
  return blocks
}

/** Returns the lines in a monospaced font that begin here, with their indentation. */
function codeAt(page: readonly PdfLine[], at: number): Block | null {
  let end = at
  while (page[end]?.isTyped) end += 1
  const lines = page.slice(at, end)
  if (lines.length < 2) return null
  const left = Math.min(...lines.map(({ x }) => x))
  const [longest] = lines.toSorted((a, b) => b.text.length - a.text.length)
  const letter = (longest!.right - longest!.x) / longest!.text.length
  const texts = lines.map(({ text, x }) =>
    text.padStart(text.length + Math.min(Math.round((x - left) / letter), WIDEST)),
  )
  return { html: `<pre>${escaped(texts.join('\n'))}</pre>`, end }
}

const isItem = (text: string): boolean => LIST_ITEM.test(text) || DENSE_ITEM.test(text)

/** Returns whether a line belongs to the paragraph or heading of the line before it. */
function goesOn(before: PdfLine, line: PdfLine, width: number): boolean {
  const gap = (before.y - line.y) / Math.max(before.size, line.size)
  const isFull = before.right - before.x >= width * FULL
  const isComplete = endsSentence(before)
  if (gap < 0 || gap > (isFull && !isComplete ? FARTHEST : FAR)) return false
  if (line.cells.length > 1 && before.cells.length > 1) return false
  // A command on a line of its own is a paragraph of its own.
  if (before.isTyped !== line.isTyped && /^\p{Lu}/u.test(line.text)) return false
  return isItem(line.text) || !isComplete || isFull
}
