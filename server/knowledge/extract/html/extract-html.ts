import { Defuddle } from 'defuddle/node'
import { parseHTML } from 'linkedom'
import { visibleText } from '../../../text/words/visible-text.ts'
import { ExtractFailure } from '../extract-failure.ts'
import { type ExtractedDocument, finishDocument, type Section } from '../extracted-document.ts'
import { linkAddress } from '../text/link-address.ts'
import { contactSections, footerSections, unsaid } from './contact-sections.ts'
import { type Anchors, anchorsOf } from './html-anchors.ts'
import { boxesOfText, isNavigation } from './html-navigation.ts'
import { type HtmlElement, headingText, textOf } from './html-node.ts'
import { htmlSections } from './html-sections.ts'
import { tooComplex } from './html-shape.ts'
import {
  framesOf,
  isFooter,
  isHeader,
  isSidebar,
  type Surroundings,
  surroundingsOf,
} from './html-surroundings.ts'
import { spellOut } from './spell-out.ts'

// Below this many characters, and below this share of the page, main-content detection has only picked a fragment.
const littleText = 200
const littleShare = 0.2
// The detection also removes short lists and table cells. Above this share, nothing else has been removed.
const nearlyAll = 0.8

/**
 * Extracts the main content of an HTML page with the contact data around it, or its whole body when none stands out.
 * Throws ExtractFailure `no_text` and `too_large`.
 */
export async function extractHtml(html: string, url?: string): Promise<ExtractedDocument> {
  const reason = tooComplex(html)
  if (reason) throw new ExtractFailure('too_large', reason)
  // linkedom needs one root element to build a document from a fragment.
  const source = /<html[\s>]/i.test(html)
    ? html
    : `<!doctype html><html><head></head><body>${html}</body></html>`
  const sectionsIn: SectionsIn = (element, { anchors = anchorsOf(element), ...more } = {}) =>
    htmlSections(element, {
      anchors,
      addressOf: (href) => linkAddress(href, url ?? null),
      hasBoldTitles: true,
      ...more,
    })
  const read = contentOf(source, sectionsIn)
  const { document, whole } =
    lengthOf(read.whole) > 0 ? read : contentOf(source, sectionsIn, { keepsNavigation: true })
  if (lengthOf(whole) === 0)
    throw new ExtractFailure(
      'no_text',
      'This page contains no text. It may need a browser to build its content.',
    )

  const first = document.querySelector('h1')
  const heading = first ? headingText(first as HtmlElement) : ''
  const pageTitle = plain(document.querySelector('head > title, body > title, html > title')?.textContent)
  const isNamedByHeading = heading !== '' && pageTitle.startsWith(heading)
  const marked = markedMain(document)
  // The detection of the main content changes the document, so everything else is read before.
  const around = marked ? surroundingsOf(marked) : { ...NOTHING, frames: framesOf(document.documentElement) }
  const siteName = siteNameOf(document)
  const contact = contactSections(around.frames, siteName)
  const page = withFootersLast(document, around.frames, siteName, sectionsIn) ?? whole
  const main = marked
    ? sectionsIn(marked)
    : await mainSections(document, url, anchorsOf(document.documentElement), sectionsIn)
  const found = lengthOf(main)
  const share = found / (lengthOf(whole) - (marked ? lengthOfFrames(around.frames) : 0))
  const isMain =
    found > 0 && (found >= littleText || share >= littleShare) && (marked !== null || share < nearlyAll)
  const content = withSurroundings(
    main,
    around,
    sectionsIn,
    isNamedByHeading ? heading : headingAbove(marked, around),
  )
  const sections = isMain ? [...content, ...unsaid(contact, content)] : page
  return finishDocument((isNamedByHeading ? heading : pageTitle) || heading || null, sections)
}

type Document = ReturnType<typeof parseHTML>['document']
type Element = ReturnType<Document['createElement']>
/** Reads the sections of an element; without other anchors, with those of the element itself. */
type SectionsIn = (
  element: HtmlElement,
  more?: { anchors?: Anchors; isLeftOut?: (element: HtmlElement) => boolean; hasBoldTitles?: boolean },
) => Section[]

/** Returns the page's tree without navigation, and its complete text. */
function contentOf(
  source: string,
  sectionsIn: SectionsIn,
  { keepsNavigation } = { keepsNavigation: false },
): { document: Document; whole: Section[] } {
  const { document } = parseHTML(source)
  spellOut(document)
  if (!keepsNavigation)
    for (const element of document.querySelectorAll(
      'nav, div, p, ul, ol, table, header, footer, aside, section',
    ))
      if (isNavigation(element as HtmlElement)) element.remove()
  // The detection of the main content would remove them by their names.
  const boxes = document.querySelectorAll('aside, [class*="sidebar"], [class*="aside"], .alert')
  for (const box of boxesOfText(boxes as Iterable<HtmlElement>)) replaceByPlainBlock(document, box as never)
  // Pages may omit the head and body tags, and the parser does not add them.
  const root = document.documentElement
  const readAll = (element: HtmlElement): Section[] => {
    const titled = sectionsIn(element, { anchors: anchorsOf(root) })
    // On a page that is wholly in bold, nothing is a title.
    return lengthOf(titled) > 0
      ? titled
      : sectionsIn(element, { anchors: anchorsOf(root), hasBoldTitles: false })
  }
  const fromBody = readAll(document.body)
  return { document, whole: lengthOf(fromBody) > 0 ? fromBody : readAll(root) }
}

function replaceByPlainBlock(document: Document, element: Element): void {
  const block = document.createElement('div')
  if (element.id) block.id = element.id
  block.append(...element.childNodes)
  element.replaceWith(block)
}

/** Returns the element that the page marks as its main part; null when it marks none, or several. */
function markedMain(document: Document): HtmlElement | null {
  for (const selector of ['main, [role=main]', 'article']) {
    const [marked, ...others] = document.querySelectorAll(selector)
    if (marked) return others.length === 0 ? (marked as HtmlElement) : null
  }
  return null
}

const NOTHING: Surroundings = { before: [], after: [], frames: [] }

/** Returns the heading of a page that stands in its header because its main part has only headings of sections. */
function headingAbove(main: HtmlElement | null, { frames }: Surroundings): string | null {
  if (!main || main.querySelector('h1')) return null
  const headings = frames.filter(isHeader).flatMap((frame) => [...frame.querySelectorAll('h1')])
  return headings.length === 1 && !headings[0]!.querySelector('a') ? headingText(headings[0]!) || null : null
}

/** Adds the text before and after the main part, and puts everything under the page's heading if there is one. */
function withSurroundings(
  main: Section[],
  { before, after }: Surroundings,
  sectionsIn: SectionsIn,
  page: string | null,
): Section[] {
  const above = before.map((block) => block.querySelector('h1')).find((found) => found !== null)
  const heading = page ?? (above ? headingText(above) : '')
  const all = [
    ...before.flatMap((block) => sectionsIn(block)),
    ...main,
    ...after.flatMap((block) => sectionsIn(block)),
  ]
  return heading === '' ? all : underHeading(heading, all)
}

/** Returns the text of the whole page with its footers under headings of their own; null when it has no other text. */
function withFootersLast(
  document: Document,
  frames: readonly HtmlElement[],
  name: string,
  sectionsIn: SectionsIn,
): Section[] | null {
  const footers = new Set(frames.filter(isFooter))
  const root = document.documentElement
  const isLeftOut = (element: HtmlElement): boolean => footers.has(element)
  const body = sectionsIn(root, { isLeftOut })
  return footers.size > 0 && lengthOf(body) > 0 ? [...body, ...footerSections([...footers], name)] : null
}

/** Returns the length of the text in frames that do not belong to the page, unlike sidebars. */
function lengthOfFrames(frames: readonly HtmlElement[]): number {
  return frames.reduce((sum, frame) => sum + (isSidebar(frame) ? 0 : textOf(frame).length), 0)
}

function siteNameOf(document: Document): string {
  return plain(document.querySelector('meta[property="og:site_name"]')?.getAttribute('content'))
}

// The detection modifies the document, so everything else has to be read before.
async function mainSections(
  document: Document,
  url: string | undefined,
  anchors: Anchors,
  sectionsIn: SectionsIn,
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
    const { document: found } = parseHTML(`<!doctype html><html><body>${content}</body></html>`)
    return sectionsIn(found.body, { anchors })
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
  return sections.reduce((sum, { text }) => sum + visibleText(text).length, 0)
}
