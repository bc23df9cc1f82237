import { fileURLToPath } from 'node:url'
import { parseHTML } from 'linkedom'
import type { PdfFile, PdfPage } from 'pdfjs-dist/legacy/build/pdf.mjs'
import { lettersOnly, splitWords } from '../../../platform/text/words/words.ts'
import { ExtractFailure } from '../extract-failure.ts'
import { type ExtractedDocument, finishDocument } from '../extracted-document.ts'
import { type GapCounter, gapCounter } from '../gaps.ts'
import { htmlSections } from '../html/html-sections.ts'
import { countLeftOut, isNotable } from '../left-out-words.ts'
import { linkAddress } from '../text/link-address.ts'
import { withFormValues } from './form-values.ts'
import { linesToHtml } from './lines-to-html.ts'
import { joinedLetters, withoutStruckTwice } from './mend-letters.ts'
import { mendPageBreaks } from './mend-page-breaks.ts'
import { linesOf, type PdfLine } from './pdf-lines.ts'
import { inReadingOrder, type PdfItem, runsRightToLeft } from './right-to-left.ts'
import { haveOwnText, withoutPrintMargins, withoutRunningLines } from './running-lines.ts'
import { taggedHtml } from './tagged-html.ts'
import { countUnreadable, countUnsure, drawsSomething, isUnmapped } from './unread.ts'
import { withWholeRows } from './whole-rows.ts'

// The average number of characters per page; even sparse slides have more.
const LETTERS_OF_PAGE = 4
const MAX_PAGES = 20_000
/** A file whose tags cover less of its text is read by its lines. */
const TAGGED = 0.97

/**
 * Extracts the text of a PDF page by page, with its headings, lists and tables: from its tags if it has them, and
 * otherwise from the places and fonts of its lines. Throws ExtractFailure `encrypted`, `broken`, `too_large`, or
 * `no_text` for a scan.
 */
export async function extractPdf(bytes: Uint8Array): Promise<ExtractedDocument> {
  const { pages, whole, title, isTagged, missing, joined } = await readPages(bytes)
  const text = pages.flatMap((page) => page.map((line) => line.text)).join('\n')
  if (lettersIn(text) < (pages.length > 1 ? pages.length * LETTERS_OF_PAGE : 1))
    // A stamp that the scanner added to some of the pages does not count as text.
    throw new ExtractFailure(
      'no_text',
      'This PDF contains no text: its pages are images. Ask your operator to switch on text recognition (OCR), or run it yourself and upload the result.',
    )
  let tagged = isTagged && !runsRightToLeft(text) ? await taggedHtml(bytes, pages.length) : ''
  for (const [apart, words] of joined) tagged = tagged.replaceAll(apart, words)
  const byTags = coverageOf(tagged, pages) >= TAGGED
  const html = byTags ? tagged : linesToHtml(pages)
  const { body } = parseHTML(`<!doctype html><html><body>${html}</body></html>`).document
  if (byTags) spanShortRows(body)
  const sections = htmlSections(body, {
    addressOf: (href) => linkAddress(href, null),
    hasBoldTitles: true,
  })
  const heading = sections.find(({ headingPath }) => headingPath.length > 0)
  const first = heading?.page === 1 ? heading.headingPath[0]! : null
  const document = finishDocument(titleOf(title) ?? first, mendPageBreaks(sections))
  const raw = whole.map((page, at) => ({
    place: String(at + 1),
    // The halves of a divided word are no words of their own.
    text: page
      .map((line) => line.text)
      .join('\n')
      .replace(/(\p{L})[-\u00ad]\n(?=\p{Ll})/gu, '$1'),
  }))
  countLeftOut(missing, raw, document.sections)
  return { ...document, gaps: missing.gaps('page') }
}

/** The library does not tell which cells span several columns: mostly it is the first, such as the name of a sum. */
function spanShortRows(body: ReturnType<typeof parseHTML>['document']['body']): void {
  for (const table of body.querySelectorAll('table')) {
    const rows = [...table.querySelectorAll('tr')].map((row) => [...row.children])
    const width = rows[0]?.length ?? 0
    for (const [first, ...others] of rows)
      if (first && others.length > 0 && others.length < width - 1)
        first.setAttribute('colspan', String(width - others.length))
  }
}

const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0)

const lettersIn = (text: string): number => text.match(/[\p{L}\p{N}]/gu)?.length ?? 0

/** Returns the share of the letters of the lines that are in the tagged text, each cell with all of its letters. */
function coverageOf(tagged: string, pages: readonly PdfLine[][]): number {
  const plain = (letters: string): string => lettersOnly(letters.normalize('NFKC'))
  const said = plain(tagged.replace(/<[^>]*>/g, ''))
  let [found, all] = [0, 0]
  for (const { cells } of pages.flat())
    for (const { text } of cells) {
      const letters = plain(text)
      all += letters.length
      if (said.includes(letters)) found += letters.length
    }
  return said === '' ? 0 : found / all
}

/** Tags lack what is entered in a form, and repeat what is struck twice. */
type Pages = {
  pages: PdfLine[][]
  /** The pages with their running lines. */
  whole: PdfLine[][]
  title: unknown
  isTagged: boolean
  missing: GapCounter
  /** The words that letters set apart make. */
  joined: ReadonlyMap<string, string>
}

async function readPages(bytes: Uint8Array): Promise<Pages> {
  // The library needs it when it is loaded, and uses it to draw alone.
  Object.assign(globalThis, { DOMMatrix: class {} })
  const { getDocument } = await import('pdfjs-dist/legacy/build/pdf.mjs')
  const folder = fileURLToPath(new URL('.', import.meta.resolve('pdfjs-dist/package.json')))
  const task = getDocument({
    data: new Uint8Array(bytes),
    cMapUrl: `${folder}cmaps/`,
    standardFontDataUrl: `${folder}standard_fonts/`,
    useSystemFonts: false,
    // Whether a font says which letters it draws.
    fontExtraProperties: true,
    verbosity: 0,
  })
  try {
    return await pagesOf(await task.promise)
  } catch (error) {
    throw error instanceof ExtractFailure ? error : failureOf(error as Error)
  } finally {
    await task.destroy()
  }
}

async function pagesOf(pdf: PdfFile): Promise<Pages> {
  if (pdf.numPages > MAX_PAGES)
    throw new ExtractFailure(
      'too_large',
      `This PDF has more than ${MAX_PAGES} pages. Split it into smaller files.`,
    )
  const whole: PdfLine[][] = []
  const typefaces = new Map<string, string>()
  const unmapped = new Set<string>()
  const counter = gapCounter()
  const unsure: number[] = []
  let isAltered = false
  const joined = new Map<string, string>()
  const withJoined = (item: PdfItem): PdfItem => {
    const words = joined.get(item.str.trim())
    return words === undefined ? item : { ...item, str: words }
  }
  for (let number = 1; number <= pdf.numPages; number += 1) {
    const page = await pdf.getPage(number)
    const { items, styles } = await page.getTextContent()
    await addTypefaces(page, Object.keys(styles), typefaces, unmapped)
    const written = items.filter((item): item is PdfItem => 'str' in item)
    const texts = withFormValues(withoutStruckTwice(written), await page.getAnnotations())
    isAltered ||= texts.length !== written.length || texts.some((item, at) => item !== written[at])
    for (const [apart, words] of await joinedLetters(texts, page)) joined.set(apart, words)
    const isMonospaced = (font: string): boolean => styles[font]?.fontFamily === 'monospace'
    const typefaceOf = (font: string): string => typefaces.get(font) ?? font
    const lines = linesOf(inReadingOrder(texts.map(withJoined), page.view[2]!), typefaceOf, isMonospaced)
    whole.push(withWholeRows(lines))
    counter.add('letters', String(number), countUnreadable(texts, unmapped))
    unsure.push(countUnsure(written))
    page.cleanup()
  }
  const pages = withoutRunningLines(withoutPrintMargins(whole))
  const own = haveOwnText(pages)
  // A scanner may stamp its pictures with a number.
  for (const [at, lines] of pages.entries())
    if (!own[at] && (await drawsSomething(await pdf.getPage(at + 1), lines.length === 0)))
      counter.add('pages', String(at + 1))
  const words = splitWords(whole.flatMap((lines) => lines.map(({ text }) => text)).join('\n')).length
  if (isNotable(sum(unsure), words))
    for (const [at, count] of unsure.entries()) counter.add('layout', String(at + 1), count)
  const { info } = await pdf.getMetadata()
  const marks = await pdf.getMarkInfo()
  return {
    pages,
    title: (info as { Title?: unknown }).Title,
    isTagged: marks?.Marked === true && !isAltered,
    whole,
    missing: counter,
    joined,
  }
}

/**
 * Learns the typefaces of the fonts of a page. Programs divide a large typeface into dozens of fonts with some of its
 * characters each. The library tells their names only for a page that it has prepared to be drawn.
 */
async function addTypefaces(
  page: PdfPage,
  fonts: readonly string[],
  typefaces: Map<string, string>,
  unmapped: Set<string>,
): Promise<void> {
  const unknown = fonts.filter((font) => !typefaces.has(font))
  if (unknown.length > 0) await page.getOperatorList().catch(() => null)
  for (const font of unknown) {
    const known = page.commonObjs.has(font) ? page.commonObjs.get(font) : {}
    const { name = font, isType3Font } = known
    if (isUnmapped(known)) unmapped.add(font)
    const typeface = /^Type3$|^g_d\d/.test(name) ? font : name.replace(/^[A-Z]{6}\+/, '')
    // A bold typeface may be drawn by fonts of Type 3 with the name of the regular one.
    typefaces.set(font, isType3Font ? `${typeface} (drawn)` : typeface)
  }
}

const failureOf = (error: Error): ExtractFailure =>
  error.name === 'PasswordException'
    ? new ExtractFailure(
        'encrypted',
        'This PDF is protected by a password. Remove it and upload again.',
        error,
      )
    : new ExtractFailure(
        'broken',
        'This PDF is damaged and cannot be read. Export it again and retry.',
        error,
      )

// Programs fill in titles automatically: the file's name, or a phrase such as "untitled".
function titleOf(title: unknown): string | null {
  const isUsable =
    typeof title === 'string' &&
    title.trim() !== '' &&
    !/^(untitled|document\d*|microsoft word - )|\.(docx?|indd|tex|pdf|pptx?)$/i.test(title)
  return isUsable ? title : null
}
