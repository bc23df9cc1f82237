import { lettersOnly, visibleText } from '../../../platform/text/words/words.ts'
import type { Section } from '../extracted-document.ts'
import type { HtmlNode } from '../html/html-node.ts'
import { type XmlElement, xmlOf } from './office-xml.ts'

const MARGIN = /^word\/(?:header|footer)\d*\.xml$/
const PAGE_NUMBER =
  /^[\s|–—-]*(?:page|seite|p[áa]gina|sida|side|strona|strana|oldal|sivu|стр(?:аница)?|p|s|str|第)?\.?\s*\d{1,4}(?:\s*(?:\p{L}{1,4}|\/)\s*\d{1,4})?\s*(?:页|頁|ページ|페이지)?[\s|–—-]*$/iu
/**
 * Returns the lines in the headers and footers of a Word file, each once, without page numbers and without those that
 * the document itself has, such as its title. Returns null when there are none.
 */
export function marginSection(
  parts: ReadonlyMap<string, Uint8Array>,
  body: readonly Section[],
): Section | null {
  const xmls = [...parts].flatMap(([name, bytes]) => (MARGIN.test(name) ? [xmlOf(bytes)] : []))
  const said = new Set(
    body
      .flatMap(({ headingPath, text }) => [...headingPath, ...visibleText(text).split('\n')])
      .map(lettersOnly),
  )
  const lines = xmls.flatMap(linesOf).filter((line) => {
    const letters = lettersOnly(line)
    // Within another line, a short one says something else: "VAT" is not in "private".
    if (letters === '' || said.has(letters) || PAGE_NUMBER.test(line)) return false
    said.add(letters)
    return true
  })
  return lines.length === 0 ? null : { headingPath: [], page: null, text: lines.join('\n'), isContact: true }
}

function linesOf(root: XmlElement): string[] {
  let text = ''
  const visit = (node: HtmlNode): void => {
    if (node.nodeType !== 1) return
    const { tagName } = node as XmlElement
    if (tagName === 'w:t') text += node.textContent ?? ''
    // The parts of a line that tabs separate stand on the left, in the middle and on the right.
    else if (tagName === 'w:tab' || tagName === 'w:br') text += '\n'
    else for (const child of node.childNodes) visit(child)
    if (tagName === 'w:p') text += '\n'
  }
  for (const child of root.childNodes) visit(child)
  return text.split('\n').map((line) => line.replace(/\s+/g, ' ').trim())
}
