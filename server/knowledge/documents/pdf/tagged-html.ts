import { type OfficeContentNode, parseOffice } from 'officeparser'
import { widthOf } from '../table-rows.ts'
import { type JoinLines, lineJoiner } from './join-lines.ts'

/** A line with room for this many letters ends with a word. Where this share of the lines has it, all of them do. */
const ROOM = 4
const ROOMY = 0.25

/** The library's tree of a page takes many times the memory of its text, so a few pages are read at a time. */
const PAGES_AT_ONCE = 10

/** Returns the text of a PDF as HTML as its tags structure it; an empty text if it cannot be read by them. */
export async function taggedHtml(bytes: Uint8Array, pages: number): Promise<string> {
  let html = ''
  try {
    for (let first = 1; first <= pages; first += PAGES_AT_ONCE)
      html += await htmlOf(bytes, `${first}-${Math.min(first + PAGES_AT_ONCE - 1, pages)}`)
    return html
  } catch {
    return ''
  }
}

async function htmlOf(bytes: Uint8Array, pageRange: string): Promise<string> {
  const ast = await parseOffice(Buffer.from(bytes), {
    fileType: 'pdf',
    ignorePageGeometry: true,
    ignoreHeadersAndFooters: true,
    ignoreInternalLinks: true,
    // This is a process of its own already. The colours would take half of the time.
    pdfParserConfig: { separateProcess: false, extractTextColor: false, pageRange },
  })
  const paragraphs = ast.content.flatMap(linesIn)
  const join = lineJoiner(paragraphs.flat(), keepsWords(paragraphs))
  const content = ast.content.map((node) => withJoined(node, join))
  const { value } = await { ...ast, content }.to('html', { htmlConfig: { standalone: false } })
  // Fonts and sizes say nothing more.
  return String(value)
    .replace(/<\/?span[^>]*>/g, '')
    .replace(/<\/(b|i)><\1>/g, '')
}

/** Returns the lines of each paragraph; the parser reports every line as a separate text node. */
function linesIn({ children = [] }: OfficeContentNode): string[][] {
  const lines = children.filter(({ type }) => type === 'text').map(({ text }) => text ?? '')
  return [...(lines.length > 0 ? [lines] : []), ...children.flatMap(linesIn)]
}

function keepsWords(paragraphs: readonly string[][]): boolean {
  const isHangul = (text: string): boolean => /\p{Script=Hangul}\s*$/u.test(text)
  const broken = paragraphs.flatMap((lines) => {
    const widest = Math.max(...lines.map(widthOf))
    return lines.slice(0, -1).flatMap((line) => (isHangul(line) ? [widest - widthOf(line)] : []))
  })
  const roomy = broken.filter((room) => room >= ROOM).length
  return roomy > 0 && roomy >= broken.length * ROOMY
}

/** Removes the spaces between lines where there are none in the text. */
function withJoined(node: OfficeContentNode, join: JoinLines): OfficeContentNode {
  const children = node.children?.map((child, at, all) => {
    const next = all[at + 1]?.type === 'text' ? (all[at + 1]?.text ?? '') : ''
    const text = (child.text ?? '').trimEnd()
    const isDivided =
      child.type === 'text' && next !== '' && !text.endsWith('-') && join(text, next) === text + next
    return isDivided ? { ...child, text } : withJoined(child, join)
  })
  return { ...node, ...(children ? { children } : {}) }
}
