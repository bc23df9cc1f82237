import { type Inline, parseInline } from './parse-inline.ts'

export type Block =
  | { type: 'paragraph' | 'heading'; inline: Inline[] }
  | { type: 'code'; text: string }
  | { type: 'quote'; blocks: Block[] }
  | { type: 'list'; isOrdered: boolean; start: number; items: Block[][] }

const FENCE = /^ {0,3}(```|~~~)[^`]*$/
const ITEM = /^( {0,8})(?:([-*+•])|(\d{1,4})[.)])( {1,4})(?=\S)/
const HEADING = /^ {0,3}#{1,6} +(.+?)#*$/
const QUOTE = /^ {0,3}> ?/

/** Lists and quotes in one another; deeper ones stay text. */
const DEEPEST = 6

/** The small part of Markdown that answers are written in; everything else stays the text that it is. */
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
  // A fence that is still open while the answer comes in reaches to its end.
  let end = from + 1
  while (end < lines.length && !(lines[end] ?? '').trim().startsWith(mark)) end += 1
  blocks.push({ type: 'code', text: lines.slice(from + 1, end).join('\n') })
  return end + 1
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
  while (end < lines.length && !beginsBlock(lines[end] ?? '')) end += 1
  blocks.push({ type: 'paragraph', inline: parseInline(lines.slice(from, end).join('\n').trim()) })
  return end
}

const beginsBlock = (line: string): boolean =>
  line.trim() === '' || FENCE.test(line) || HEADING.test(line) || QUOTE.test(line) || ITEM.test(line)

/** What is indented further than the marks of a list belongs to the item above it. */
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
