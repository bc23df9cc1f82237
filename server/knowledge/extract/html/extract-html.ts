import { Defuddle } from 'defuddle/node'
import { parseHTML } from 'linkedom'
import { ExtractFailure } from '../extract-failure.ts'
import { type ExtractedDocument, finishDocument, type Section } from '../extracted-document.ts'
import { type Anchors, anchorsOf } from './html-anchors.ts'
import { boxesOfText, isNavigation } from './html-navigation.ts'
import { type HtmlElement, headingText } from './html-node.ts'
import { htmlSections } from './html-sections.ts'
import { tooComplex } from './html-shape.ts'

// Below this many characters, and below this share of the page, main-content detection has only picked a fragment.
const littleText = 200
const littleShare = 0.2
// The detection also removes short lists and table cells. Above this share, nothing else has been removed.
const nearlyAll = 0.8

/**
 * Extracts the main content of an HTML page, or its whole body when none stands out. Throws ExtractFailure `no_text`
 * and `too_large`.
 */
export async function extractHtml(html: string, url?: string): Promise<ExtractedDocument> {
  const reason = tooComplex(html)
  if (reason) throw new ExtractFailure('too_large', reason)
  // linkedom needs one root element to build a document from a fragment.
  const source = /<html[\s>]/i.test(html)
    ? html
    : `<!doctype html><html><head></head><body>${html}</body></html>`
  const read = contentOf(source)
  const { document, whole } = lengthOf(read.whole) > 0 ? read : contentOf(source, { keepsNavigation: true })
  if (lengthOf(whole) === 0)
    throw new ExtractFailure(
      'no_text',
      'This page contains no text. It may need a browser to build its content.',
    )

  const first = document.querySelector('h1')
  const heading = first ? headingText(first as HtmlElement) : ''
  const pageTitle = plain(document.querySelector('head > title, body > title, html > title')?.textContent)
  const isNamedByHeading = heading !== '' && pageTitle.startsWith(heading)
  const marked = markedSections(document)
  const main = marked ?? (await mainSections(document, url, anchorsOf(document.documentElement)))
  const found = lengthOf(main)
  const share = found / lengthOf(whole)
  const isMain = (found >= littleText || share >= littleShare) && (marked !== null || share < nearlyAll)
  const sections = isMain && isNamedByHeading ? underHeading(heading, main) : isMain ? main : whole
  return finishDocument((isNamedByHeading ? heading : pageTitle) || heading || null, sections)
}

type Document = ReturnType<typeof parseHTML>['document']
type Element = ReturnType<Document['createElement']>

/** Returns the page's tree without navigation, and its complete text. */
function contentOf(
  source: string,
  { keepsNavigation } = { keepsNavigation: false },
): { document: Document; whole: Section[] } {
  const { document } = parseHTML(source)
  if (!keepsNavigation)
    for (const element of document.querySelectorAll(
      'nav, div, p, ul, ol, table, header, footer, aside, section',
    ))
      if (isNavigation(element as HtmlElement)) element.remove()
  // The detection of the main content would remove them by their names.
  const boxes = document.querySelectorAll('aside, [class*="sidebar"], [class*="aside"], .alert')
  for (const box of boxesOfText(boxes as Iterable<HtmlElement>)) replaceByPlainBlock(document, box as never)
  // Pages may omit the head and body tags, and the parser does not add them.
  const fromBody = htmlSections(document.body, anchorsOf(document.documentElement))
  if (lengthOf(fromBody) > 0) return { document, whole: fromBody }
  return { document, whole: htmlSections(document.documentElement, anchorsOf(document.documentElement)) }
}

function replaceByPlainBlock(document: Document, element: Element): void {
  const block = document.createElement('div')
  if (element.id) block.id = element.id
  block.append(...element.childNodes)
  element.replaceWith(block)
}

/** Returns the element that the page marks as its main part; null when it marks none, or several. */
function markedSections(document: Document): Section[] | null {
  for (const selector of ['main, [role=main]', 'article']) {
    const [marked, ...others] = document.querySelectorAll(selector)
    if (marked && others.length === 0) return htmlSections(marked as HtmlElement, anchorsOf(marked))
    if (marked) return null
  }
  return null
}

// The detection modifies the document, so everything else has to be read before.
async function mainSections(
  document: Document,
  url: string | undefined,
  anchors: Anchors,
): Promise<Section[]> {
  // The detection uses two browser features that linkedom lacks.
  Object.assign(document, { styleSheets: [], URL: url ?? 'about:blank' })
  if (document.defaultView) Object.assign(document.defaultView, { getComputedStyle: () => ({ display: '' }) })
  try {
    // It must not send requests of its own; only the guarded fetcher may.
    const offline = () => Promise.reject(new Error('no network'))
    const { content } = await Defuddle(document, url, {
      useAsync: false,
      fetch: offline,
      removeLowScoring: false,
    })
    return htmlSections(
      parseHTML(`<!doctype html><html><body>${content}</body></html>`).document.body,
      anchors,
    )
  } catch {
    return []
  }
}

// The detection turns all headings into h2 and below, and may remove the page's own heading.
function underHeading(heading: string, sections: Section[]): Section[] {
  return sections.map((section) =>
    section.headingPath[0] === heading
      ? section
      : { ...section, headingPath: [heading, ...section.headingPath] },
  )
}

function plain(text: string | null | undefined): string {
  return (text ?? '').replace(/\s+/g, ' ').trim()
}

function lengthOf(sections: Section[]): number {
  return sections.reduce((sum, { text }) => sum + text.length, 0)
}
