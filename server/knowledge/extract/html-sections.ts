import type { Section } from './extracted-document.ts'
import { type Heading, pathOf, withHeading } from './heading-path.ts'
import { looksLikeHeader, tableRows } from './table-rows.ts'

/** The little of the DOM that is used here; the server is compiled without the browser's types. */
export type HtmlNode = {
  nodeType: number
  textContent: string | null
  childNodes: Iterable<HtmlNode>
}
export type HtmlElement = HtmlNode & {
  tagName: string
  children: Iterable<HtmlElement>
  previousElementSibling: HtmlElement | null
  hasAttribute(name: string): boolean
  querySelector(selector: string): HtmlElement | null
  querySelectorAll(selector: string): Iterable<HtmlElement>
  closest(selector: string): HtmlElement | null
}

const skipped = new Set([
  'SCRIPT',
  'STYLE',
  'NOSCRIPT',
  'TEMPLATE',
  'SVG',
  'IFRAME',
  'OBJECT',
  'CANVAS',
  'SELECT',
  'BUTTON',
  'TITLE',
])
const blocks = new Set([
  'ADDRESS',
  'ARTICLE',
  'ASIDE',
  'BLOCKQUOTE',
  'BODY',
  'DETAILS',
  'DD',
  'DIV',
  'DL',
  'DT',
  'FIELDSET',
  'FIGCAPTION',
  'FIGURE',
  'FOOTER',
  'FORM',
  'HEADER',
  'HR',
  'HTML',
  'MAIN',
  'NAV',
  'OL',
  'P',
  'SECTION',
  'SUMMARY',
  'UL',
])

/** Walks a DOM tree into sections by its h1–h6 headings; tables become rows, list items and code lines their own lines. */
export function htmlSections(root: HtmlElement): Section[] {
  const sections: Section[] = []
  let open: Heading[] = []
  let paragraphs: string[] = []
  let line = ''

  const endLine = () => {
    const text = line
      .replace(/[^\S\n]+/g, ' ')
      .replace(/ ?\n ?/g, '\n')
      .trim()
    if (text) paragraphs.push(text)
    line = ''
  }
  const endSection = () => {
    endLine()
    sections.push({ headingPath: pathOf(open), page: null, text: paragraphs.join('\n\n') })
    paragraphs = []
  }
  const block = (element: HtmlElement) => {
    endLine()
    for (const child of element.childNodes) visit(child)
    endLine()
  }
  const visit = (node: HtmlNode): void => {
    if (node.nodeType === 3) {
      line += (node.textContent ?? '').replace(/\s+/g, ' ')
      return
    }
    if (node.nodeType !== 1) return
    const element = node as HtmlElement
    const name = element.tagName.toUpperCase()
    if (skipped.has(name) || element.hasAttribute('hidden')) return
    const level = /^H([1-6])$/.exec(name)?.[1]
    if (level) {
      const text = textOf(element)
      if (!text) return
      endSection()
      open = withHeading(open, Number(level), text)
    } else if (name === 'TABLE' && !element.querySelector('table')) {
      endLine()
      paragraphs.push(rowsOf(element).join('\n'))
    } else if (name === 'PRE') {
      endLine()
      paragraphs.push((element.textContent ?? '').replace(/\n{2,}/g, '\n').trim())
    } else if (name === 'LI') {
      // Items follow each other as lines of one paragraph.
      const before = paragraphs
      endLine()
      paragraphs = []
      block(element)
      const item = paragraphs.join('\n')
      paragraphs = before
      if (item) appendItem(paragraphs, `- ${item}`, element.previousElementSibling !== null)
    } else if (name === 'BR') line += '\n'
    else if (name === 'TD' || name === 'TH') {
      line += ' '
      for (const child of element.childNodes) visit(child)
    } else if (blocks.has(name) || name === 'TR' || name === 'TABLE') block(element)
    else for (const child of element.childNodes) visit(child)
  }

  visit(root)
  endSection()
  return sections
}

function appendItem(paragraphs: string[], item: string, follows: boolean): void {
  const last = paragraphs.at(-1)
  if (follows && last?.startsWith('- ')) paragraphs[paragraphs.length - 1] = `${last}\n${item}`
  else paragraphs.push(item)
}

function rowsOf(table: HtmlElement): string[] {
  const rows = [...table.querySelectorAll('tr')].map((row) =>
    [...row.children].filter((cell) => /^t[dh]$/i.test(cell.tagName)),
  )
  const first = rows[0] ?? []
  const cells = rows.map((row) => row.map(textOf))
  const isMarked =
    first.length > 0 &&
    (first.every((cell) => /^th$/i.test(cell.tagName)) || first[0]!.closest('thead') !== null)
  const isBold = first.every(
    (cell) => textOf(cell) === [...cell.querySelectorAll('strong, b')].map(textOf).join(' '),
  )
  const rowsAreNamed = rows.every(
    (row) => row.length === 2 && /^th$/i.test(row[0]!.tagName) && !/^th$/i.test(row[1]!.tagName),
  )
  if (rowsAreNamed) return cells.map(([name, value]) => `${name}: ${value}`)
  return tableRows(cells, isMarked || (isBold && looksLikeHeader(cells[0] ?? [])))
}

function textOf(element: HtmlElement): string {
  return (element.textContent ?? '').replace(/\s+/g, ' ').trim()
}
