import { type Inline, parseInline } from './parse-inline.ts'

export type Align = 'start' | 'center' | 'end'

export type Block =
  | { type: 'paragraph' | 'heading'; inline: Inline[] }
  | { type: 'code'; text: string }
  | { type: 'quote'; blocks: Block[] }
  /** A table as rows of cells; the first row is the header. */
  | { type: 'table'; aligns: Align[]; rows: Inline[][][] }
  | { type: 'list'; isOrdered: boolean; start: number; items: Block[][] }

const FENCE = /^ {0,3}(```|~~~)[^`]*$/
const ITEM = /^( {0,8})(?:([-*+•])|(\d{1,4})[.)])( {1,4})(?=\S)/
const HEADING = /^ {0,3}#{1,6} +(.+?)#*$/
const QUOTE = /^ {0,3}> ?/

/** The maximum nesting depth of lists and quotes. Deeper ones remain text. */
const DEEPEST = 6

/** Parses the subset of Markdown that answers use. Everything else remains plain text. */
export function parseMarkdown(text: string): Block[] {
  return parseBlocks(text.replace(/\r\n?/g, '\n').replace(/\t/g, '  ').split('\n'))
}

function parseBlocks(lines: string[], depth = 0): Block[] {
  const blocks: Block[] = []
  let at = 0
  while (at < lines.length) {
    const line = lines[at] ?? ''
    const heading = HEADING.exec(line)?.[1]
    if (line.trim() === '') at += 1
    else if (FENCE.test(line)) at = readCode(lines, at, blocks)
    else if (beginsTable(lines, at)) at = readTable(lines, at, blocks)
    else if (heading) {
      blocks.push({ type: 'heading', inline: parseInline(heading.trim()) })
      at += 1
    } else if (/^ {0,3}([-*_])( *\1){2,} *$/.test(line)) at += 1
    else if (depth < DEEPEST && QUOTE.test(line)) at = readQuote(lines, at, blocks, depth)
    else if (depth < DEEPEST && ITEM.test(line)) at = readList(lines, at, blocks, depth)
    else at = readParagraph(lines, at, blocks)
  }
  return blocks
}

function readCode(lines: string[], from: number, blocks: Block[]): number {
  const mark = FENCE.exec(lines[from] ?? '')?.[1] ?? ''
  // A code fence that is not closed yet, as in a streaming answer, extends to the end of the text.
  let end = from + 1
  while (end < lines.length && !(lines[end] ?? '').trim().startsWith(mark)) end += 1
  blocks.push({ type: 'code', text: lines.slice(from + 1, end).join('\n') })
  return end + 1
}

const RULE = /^ {0,3}\|?(?: {0,20}:?-{1,200}:? {0,20}\|){0,50} {0,20}:?-{1,200}:? {0,20}\|? {0,20}$/
const MAX_COLUMNS = 50

/** Tables as in GitHub Flavored Markdown: a header row, then a delimiter row with the same number of cells. */
function beginsTable(lines: string[], at: number): boolean {
  const [head = '', rule = ''] = [lines[at], lines[at + 1]]
  if (!head.includes('|') || !RULE.test(rule) || !/[|:]/.test(rule)) return false
  return cellsOf(head).length === cellsOf(rule).length
}

function readTable(lines: string[], from: number, blocks: Block[]): number {
  const aligns = cellsOf(lines[from + 1] ?? '').map((cell): Align => {
    if (!cell.endsWith(':')) return 'start'
    return cell.startsWith(':') ? 'center' : 'end'
  })
  const rows = [lines[from] ?? '']
  let at = from + 2
  while (at < lines.length && (lines[at] ?? '').includes('|')) {
    rows.push(lines[at] ?? '')
    at += 1
  }
  const width = aligns.length
  const table = rows.map((row) => {
    const cells = cellsOf(row)
    return Array.from({ length: width }, (_, column) => parseInline(cells[column] ?? ''))
  })
  blocks.push({ type: 'table', aligns, rows: table })
  return at
}

/** Splits a table row into cells. Bars inside code and escaped bars are text. */
function cellsOf(line: string): string[] {
  const inner = line.trim().replace(/^\|/, '').replace(/\|$/, '')
  const cells = ['']
  for (const piece of inner.match(/\\.|`[^`]{0,500}`|\||[^\\`|]+|[\\`]/g) ?? []) {
    if (piece === '|') cells.push('')
    else cells[cells.length - 1] += piece === '\\|' ? '|' : piece
  }
  return cells.slice(0, MAX_COLUMNS).map((cell) => cell.trim())
}

function readQuote(lines: string[], from: number, blocks: Block[], depth: number): number {
  let end = from
  while (end < lines.length && QUOTE.test(lines[end] ?? '')) end += 1
  blocks.push({
    type: 'quote',
    blocks: parseBlocks(
      lines.slice(from, end).map((line) => line.replace(QUOTE, '')),
      depth + 1,
    ),
  })
  return end
}

function readParagraph(lines: string[], from: number, blocks: Block[]): number {
  let end = from + 1
  while (end < lines.length && !beginsBlock(lines[end] ?? '') && !beginsTable(lines, end)) end += 1
  blocks.push({ type: 'paragraph', inline: parseInline(lines.slice(from, end).join('\n').trim()) })
  return end
}

const beginsBlock = (line: string): boolean =>
  line.trim() === '' || FENCE.test(line) || HEADING.test(line) || QUOTE.test(line) || ITEM.test(line)

/** Reads a list. Lines that are indented further than the list's markers belong to the item above them. */
function readList(lines: string[], from: number, blocks: Block[], depth: number): number {
  const [, indent = '', , number] = ITEM.exec(lines[from] ?? '') ?? []
  const isOrdered = number !== undefined
  const items: Block[][] = []
  let at = from
  while (at < lines.length) {
    const mark = ITEM.exec(lines[at] ?? '')
    if (!mark || (mark[1] ?? '').length !== indent.length || (mark[3] !== undefined) !== isOrdered) break
    const inner = [(lines[at] ?? '').slice(mark[0].length)]
    at += 1
    while (at < lines.length && belongsToItem(lines, at, indent.length)) {
      inner.push(unindent(lines[at] ?? '', mark[0].length))
      at += 1
    }
    items.push(parseBlocks(inner, depth + 1))
    while ((lines[at] ?? 'x').trim() === '' && ITEM.test(lines[at + 1] ?? '')) at += 1
  }
  blocks.push({ type: 'list', isOrdered, start: Number(number ?? 1), items })
  return at
}

function belongsToItem(lines: string[], at: number, indent: number): boolean {
  const line = lines[at] ?? ''
  if (line.trim() === '') return indentOf(lines[at + 1] ?? '') > indent && (lines[at + 1] ?? '').trim() !== ''
  return indentOf(line) > indent || !beginsBlock(line)
}

const indentOf = (line: string): number => line.length - line.trimStart().length
const unindent = (line: string, width: number): string => line.slice(Math.min(indentOf(line), width))
