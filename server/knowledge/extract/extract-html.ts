import { Defuddle } from 'defuddle/node'
import { parseHTML } from 'linkedom'
import { ExtractFailure } from './extract-failure.ts'
import { type ExtractedDocument, finishDocument, type Section } from './extracted-document.ts'
import { htmlSections } from './html-sections.ts'
import { tooComplex } from './html-shape.ts'

// Below this many characters, and below this share of the page, main-content detection has picked a fragment.
const littleText = 200
const littleShare = 0.2

/** The main content of an HTML page; the whole body when none stands out. Throws ExtractFailure `no_text`, `too_large`. */
export async function extractHtml(html: string, url?: string): Promise<ExtractedDocument> {
  const reason = tooComplex(html)
  if (reason) throw new ExtractFailure('too_large', reason)
  // linkedom needs one root element to build a document from a fragment.
  const source = /<html[\s>]/i.test(html)
    ? html
    : `<!doctype html><html><head></head><body>${html}</body></html>`
  const { document } = parseHTML(source)
  // Pages may leave out the tags of head and body, and the parser does not put them in.
  const fromBody = htmlSections(document.body)
  const whole = lengthOf(fromBody) > 0 ? fromBody : htmlSections(document.documentElement)
  if (lengthOf(whole) === 0)
    throw new ExtractFailure(
      'no_text',
      'This page holds no text. It may need a browser to build its content.',
    )

  const heading = plain(document.querySelector('h1')?.textContent)
  const pageTitle = plain(document.querySelector('head > title, body > title, html > title')?.textContent)
  const isNamedByHeading = heading !== '' && pageTitle.startsWith(heading)
  const main = await mainSections(document, url)
  const found = lengthOf(main)
  const isMain = found >= littleText || found >= lengthOf(whole) * littleShare
  const sections = isMain && isNamedByHeading ? underHeading(heading, main) : isMain ? main : whole
  return finishDocument((isNamedByHeading ? heading : pageTitle) || heading || null, sections)
}

// Changes the document: read everything else before.
async function mainSections(
  document: ReturnType<typeof parseHTML>['document'],
  url: string | undefined,
): Promise<Section[]> {
  // The detection asks for two browser features that linkedom has not.
  Object.assign(document, { styleSheets: [], URL: url ?? 'about:blank' })
  if (document.defaultView) Object.assign(document.defaultView, { getComputedStyle: () => ({ display: '' }) })
  try {
    // It must not reach out to other sites by itself: only the guarded fetcher may.
    const offline = () => Promise.reject(new Error('no network'))
    const { content } = await Defuddle(document, url, { useAsync: false, fetch: offline })
    return htmlSections(parseHTML(`<!doctype html><html><body>${content}</body></html>`).document.body)
  } catch {
    return []
  }
}

// The detection levels all headings to h2 and below, and may take the page's own heading out.
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
