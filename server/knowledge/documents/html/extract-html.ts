import { Defuddle } from 'defuddle/node'
import { parseHTML } from 'linkedom'
import { visibleText } from '../../../platform/text/words/words.ts'
import { ExtractFailure } from '../extract-failure.ts'
import { type ExtractedDocument, finishDocument, type Section } from '../extracted-document.ts'
import { linkAddress } from '../text/link-address.ts'
import { contactSections, unsaid } from './contact-sections.ts'
import { expandHiddenText } from './expand-hidden-text.ts'
import { anchorsOf } from './html-anchors.ts'
import { boxesOfText, framesOf, isFooter, isHeader, isNavigation, placeOf } from './html-frames.ts'
import { type HtmlElement, headingText, textOf } from './html-node.ts'
import { htmlSections } from './html-sections.ts'
import { tooComplex } from './html-shape.ts'
import { leftOutParts } from './left-out.ts'

type Document = ReturnType<typeof parseHTML>['document']

// Below this many characters, and below this share of the page, main-content detection has only picked a fragment.
const LITTLE_TEXT = 200
const LITTLE_SHARE = 0.2
// The detection also removes short lists and table cells. Above this share, nothing else has been removed.
const NEARLY_ALL = 0.8

/**
 * Extracts the main content of an HTML page with the contact data around it, or its whole body when none stands out.
 * Throws ExtractFailure `no_text` and `too_large`.
 */
export async function extractHtml(html: string, url?: string, wholePage = false): Promise<ExtractedDocument> {
  const reason = tooComplex(html)
  if (reason) throw new ExtractFailure('too_large', reason)
  // linkedom needs one root element to build a document from a fragment.
  const source = /<html[\s>]/i.test(html)
    ? html
    : `<!doctype html><html><head></head><body>${html}</body></html>`
  const removed: HtmlElement[] = []
  const without = treeOf(source, !wholePage, removed)
  const document = lengthOf(sectionsIn(without, url)) > 0 ? without : treeOf(source, false, [])
  const whole = sectionsIn(document, url)
  if (whole.length === 0)
    throw new ExtractFailure(
      'no_text',
      'This page contains no text. It may need a browser to build its content.',
    )
  const heading = textIn(document.querySelector('h1'))
  const pageTitle = plain(document.querySelector('head > title, body > title, html > title')?.textContent)
  const isNamedByHeading = heading !== '' && pageTitle.startsWith(heading)
  const title = (isNamedByHeading ? heading : pageTitle) || heading || null
  const main = markedMain(document)
  // The detection of the main content changes the document, so everything else is read before.
  const frames = framesOf(document.documentElement, main)
  const siteName = plain(document.querySelector('meta[property="og:site_name"]')?.getAttribute('content'))
  const contact = contactSections(frames, siteName)
  // Where no main part is marked, a name such as "sidebar" may be that of the text.
  const left = new Set(wholePage ? [] : main ? frames : frames.filter(isFooter))
  const parts = [...removed, ...left].map((element) => ({ place: placeOf(element), text: textOf(element) }))
  const unframed = sectionsIn(document, url, (element) => left.has(element))
  const page = main || wholePage ? unframed : await mainSections(document, url, lengthOf(whole))
  const above = isNamedByHeading ? heading : headingOf(document, main, frames)
  const sections = page ? underHeading(above, page) : lengthOf(unframed) > 0 ? unframed : whole
  const finished = finishDocument(title, [...sections, ...unsaid(contact, sections)])
  return { ...finished, gaps: leftOutParts(parts, unframed, finished.sections) }
}

/** Returns the page's tree without navigation and with what browsers show only on demand. */
function treeOf(source: string, isWithoutNavigation: boolean, removed: HtmlElement[]): Document {
  const { document } = parseHTML(source)
  expandHiddenText(document)
  const blocks = 'nav, div, p, ul, ol, table, header, footer, aside, section'
  if (isWithoutNavigation)
    // What is inside of a removed element is no longer in the tree.
    for (const element of document.querySelectorAll(blocks))
      if (isNavigation(element) && element.closest('html')) {
        removed.push(element)
        element.remove()
      }
  // The detection of the main content would remove them by their names.
  const boxes = document.querySelectorAll('aside, [class*="sidebar"], [class*="aside"], .alert')
  const ofText: ReadonlySet<unknown> = new Set(boxesOfText(boxes))
  for (const box of boxes) {
    if (!ofText.has(box)) continue
    const block = document.createElement('div')
    if (box.id) block.id = box.id
    block.append(...box.childNodes)
    box.replaceWith(block)
  }
  return document
}

function sectionsIn(
  document: Document,
  url: string | undefined,
  isLeftOut?: (element: HtmlElement) => boolean,
): Section[] {
  const root = document.documentElement
  const options = { addressOf: (href: string) => linkAddress(href, url ?? null), isLeftOut }
  const read = (element: HtmlElement, hasBoldTitles: boolean) =>
    htmlSections(element, { ...options, anchors: anchorsOf(root), hasBoldTitles })
  // Pages may omit the head and body tags, and the parser does not add them.
  for (const element of [document.body, root]) {
    const titled = read(element, true)
    if (lengthOf(titled) > 0) return titled
    // On a page that is wholly in bold, nothing is a title.
    const plainly = read(element, false)
    if (lengthOf(plainly) > 0) return plainly
  }
  // A page may consist of headings.
  return read(root, true).filter(({ headingPath }) => headingPath.length > 0)
}

/** Returns the element that the page marks as its main part; null when it marks none, or several. */
function markedMain(document: Document): HtmlElement | null {
  for (const selector of ['main, [role=main]', 'article']) {
    const [marked, ...others] = document.querySelectorAll(selector)
    if (marked) return others.length === 0 ? marked : null
  }
  return null
}

/** Returns the heading of a page whose main part has only headings of sections. */
function headingOf(document: Document, main: HtmlElement | null, frames: readonly HtmlElement[]): string {
  if (!main || main.querySelector('h1')) return ''
  const [heading, ...others] = document.querySelectorAll('h1')
  const isOfSite =
    heading?.querySelector('a') && frames.some((frame) => isHeader(frame) && frame.contains(heading))
  return others.length > 0 || isOfSite ? '' : textIn(heading ?? null)
}

/** Returns the main part of a page that marks none; null if none is found, or nearly all of the page. */
async function mainSections(
  document: Document,
  url: string | undefined,
  whole: number,
): Promise<Section[] | null> {
  const anchors = anchorsOf(document.documentElement)
  // The detection uses two browser features that linkedom lacks.
  Object.assign(document, { styleSheets: [], URL: url ?? 'about:blank' })
  if (document.defaultView) Object.assign(document.defaultView, { getComputedStyle: () => ({ display: '' }) })
  // It must not send requests of its own; only the guarded fetcher may.
  const fetch = () => Promise.reject(new Error('no network'))
  const options = { useAsync: false, fetch, removeLowScoring: false, removeContentPatterns: false }
  const content = await Defuddle(document, url, options).then(
    (found) => found.content,
    () => '',
  )
  const { document: found } = parseHTML(`<!doctype html><html><body>${content}</body></html>`)
  const addressOf = (href: string) => linkAddress(href, url ?? null)
  const sections = htmlSections(found.body, { addressOf, anchors, hasBoldTitles: true })
  const length = lengthOf(sections)
  const isMain = length >= LITTLE_TEXT || length >= whole * LITTLE_SHARE
  return length > 0 && isMain && length < whole * NEARLY_ALL ? sections : null
}

// The detection turns all headings into h2 and below, and may remove the page's own heading.
function underHeading(heading: string, sections: Section[]): Section[] {
  if (heading === '') return sections
  return sections.map((section) =>
    section.headingPath[0] === heading
      ? section
      : { ...section, headingPath: [heading, ...section.headingPath] },
  )
}

const textIn = (heading: HtmlElement | null): string => (heading ? headingText(heading) : '')

const plain = (text: string | null | undefined): string => (text ?? '').replace(/\s+/g, ' ').trim()

const lengthOf = (sections: readonly Section[]): number =>
  sections.reduce((sum, { text }) => sum + visibleText(text).length, 0)
