import { DOMParser } from 'linkedom'
import type { Section } from '../extracted-document.ts'
import { hasContactData } from '../html/contact-sections.ts'
import type { HtmlElement, HtmlNode } from '../html/html-node.ts'

const MARGIN = /^word\/(?:header|footer)\d*\.xml$/
const PAGE_NUMBER =
  /^[\s|–—-]*(?:page|seite|p[áa]gina|sida|side|strona|strana|oldal|sivu|стр(?:аница)?|p|s|str|第)?\.?\s*\d{1,4}(?:\s*(?:\p{L}{1,4}|\/)\s*\d{1,4})?\s*(?:页|頁|ページ|페이지)?[\s|–—-]*$/iu

/**
 * Returns the lines in the headers and footers of a Word file, each once, if they hold contact data or a number, such as
 * that of a form or a version, without page numbers. Returns null when there are none.
 */
export function marginSection(parts: ReadonlyMap<string, Uint8Array>): Section | null {
  const lines = new Set<string>()
  for (const [name, bytes] of parts) {
    if (!MARGIN.test(name)) continue
    const found = linesOf(Buffer.from(bytes).toString('utf8'))
    if (found.some((line) => hasContactData(line) || /\d/.test(line)))
      for (const line of found) lines.add(line)
  }
  return lines.size === 0
    ? null
    : { headingPath: [], page: null, text: [...lines].join('\n'), isContact: true }
}

function linesOf(xml: string): string[] {
  const root = new DOMParser().parseFromString(xml, 'text/xml') as unknown as HtmlElement
  let text = ''
  const visit = (node: HtmlNode): void => {
    if (node.nodeType !== 1) return
    const { tagName } = node as HtmlElement
    if (tagName === 'w:t') text += node.textContent ?? ''
    // The parts of a line that tabs separate stand on the left, in the middle and on the right.
    else if (tagName === 'w:tab' || tagName === 'w:br') text += '\n'
    else for (const child of node.childNodes) visit(child)
    if (tagName === 'w:p') text += '\n'
  }
  for (const child of root.childNodes) visit(child)
  return text
    .split('\n')
    .map((line) => line.replace(/\s+/g, ' ').trim())
    .filter((line) => line !== '' && !PAGE_NUMBER.test(line))
}
