import { parseHTML } from 'linkedom'
import { visibleText } from '../../../platform/text/words/words.ts'
import { ExtractFailure } from '../extract-failure.ts'
import { type ExtractedDocument, finishDocument, type Section } from '../extracted-document.ts'
import { linkAddress } from '../text/link-address.ts'
import { contactSections, unsaid } from './contact-sections.ts'
import { expandHiddenText } from './expand-hidden-text.ts'
import { anchorsOf } from './html-anchors.ts'
import { framesOf, isHeader, isNavigation, placeOf } from './html-frames.ts'
import { type HtmlElement, headingText, textOf } from './html-node.ts'
import { htmlSections } from './html-sections.ts'
import { tooComplex } from './html-shape.ts'
import { leftOutParts } from './left-out.ts'
import { blocksOf, removeRepeated, withoutEmptyHeadings } from './site-blocks.ts'

type Document = ReturnType<typeof parseHTML>['document']

/** `repeated` are the blocks of the page that are left out because most pages of its site have them. */
type Options = {
  url?: string | undefined
  wholePage?: boolean | undefined
  repeated?: readonly string[] | undefined
}

/**
 * Extracts the text of an HTML page without what is marked as navigation, header or footer and what its site repeats, and
 * with the contact data in these. Throws ExtractFailure `no_text` and `too_large`.
 */
export function extractHtml(
  html: string,
  { url, wholePage = false, repeated: others = [] }: Options = {},
): ExtractedDocument {
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
  const frames = framesOf(document.documentElement, main)
  const siteName = plain(document.querySelector('meta[property="og:site_name"]')?.getAttribute('content'))
  const contact = contactSections(frames, siteName)
  // Where no main part is marked, a header may hold the beginning of the text.
  const left = new Set(wholePage ? [] : frames.filter((frame) => main || !isHeader(frame)))
  const parts = [...removed, ...left].map((element) => ({ place: placeOf(element), text: textOf(element) }))
  const read = () => sectionsIn(document, url, (element) => left.has(element))
  const unframed = read()
  const blocks = blocksOf(document.documentElement, (element) => element === main || left.has(element))
  const repeated = new Set(wholePage ? [] : others)
  removeRepeated(blocks, repeated)
  const own = repeated.size > 0 ? withoutEmptyHeadings(read(), repeated) : unframed
  const text = [own, unframed].find((sections) => lengthOf(sections) > 0) ?? whole
  const sections = underHeading(headingOf(document, main, frames), text)
  const finished = finishDocument(title, [...sections, ...unsaid(contact, sections)])
  const hashes = [...new Set(blocks.map(({ hash }) => hash))]
  return { ...finished, blocks: hashes, gaps: leftOutParts(parts, unframed, finished.sections) }
}

/** Returns the page's tree without navigation and with what browsers show only on demand. */
function treeOf(source: string, isWithoutNavigation: boolean, removed: HtmlElement[]): Document {
  const { document } = parseHTML(source)
  expandHiddenText(document)
  const named = 'nav, div, p, ul, ol, table, header, footer, aside, section'
  if (isWithoutNavigation)
    // What is inside of a removed element is no longer in the tree.
    for (const element of document.querySelectorAll(`${named}, [role=navigation]`))
      if (isNavigation(element) && element.closest('html')) {
        removed.push(element)
        element.remove()
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
