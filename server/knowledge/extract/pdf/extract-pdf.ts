import { getDocumentProxy } from 'unpdf'
import { ExtractFailure } from '../extract-failure.ts'
import { type ExtractedDocument, finishDocument, type Section } from '../extracted-document.ts'
import { type Heading, pathOf, withHeading } from '../html/heading-path.ts'
import { hasRoom } from './hangul-breaks.ts'
import { dividedWords, joinLines } from './join-lines.ts'
import { mendPageBreaks } from './mend-page-breaks.ts'
import { dropContents } from './pdf-contents.ts'
import { createFonts } from './pdf-fonts.ts'
import { headingLevels, headingSizeOf } from './pdf-headings.ts'
import { linesOf, type PdfItem, type PdfLine, roundedSize } from './pdf-lines.ts'
import { paragraphsOf } from './pdf-paragraphs.ts'
import { dropRunningLines } from './pdf-running-lines.ts'
import { inReadingOrder } from './right-to-left.ts'

// A heading such as "Chapter 8" or "Anhang B".
const CHAPTER = /^\p{L}+\.? (?:\d{1,3}|[A-Z]|[IVXLC]+)[.:]?$/u
// The average number of characters per page; even sparse slides have more.
const lettersOfPage = 4
const MOST_PAGES = 20_000

/**
 * Extracts the text of a PDF page by page and detects headings by their font. Throws ExtractFailure `encrypted`,
 * `broken`, `unknown_encoding`, or `no_text` for a scan. It consumes the bytes, so pass a copy.
 */
export async function extractPdf(bytes: Uint8Array): Promise<ExtractedDocument> {
  const { pages: rawPages, title } = await readPages(bytes)
  const pages = dropContents(dropRunningLines(rawPages, headingSizeOf(rawPages)))
  if (isScan(pages))
    throw new ExtractFailure(
      'no_text',
      'This PDF contains no text: its pages are images. Run text recognition (OCR) over it and upload the result.',
    )
  const sections = sectionsOf(pages)
  const heading = sections.find(({ headingPath }) => headingPath.length > 0)
  return finishDocument(title ?? (heading?.page === 1 ? heading.headingPath[0]! : null), sections)
}

/** Returns whether the pages are images. A stamp that the scanner added to some of them does not count as text. */
function isScan(pages: PdfLine[][]): boolean {
  const letters = pages.flat().reduce((sum, { text }) => sum + (text.match(/[\p{L}\p{N}]/gu)?.length ?? 0), 0)
  return letters < (pages.length > 1 ? pages.length * lettersOfPage : 1)
}

async function readPages(bytes: Uint8Array): Promise<{ pages: PdfLine[][]; title: string | null }> {
  let pdf: Awaited<ReturnType<typeof getDocumentProxy>> | undefined
  let lacksTables = false
  // The library does not include the tables of Asian character codes that fonts may refer to by name.
  class Tables {
    async fetch({ kind, filename }: { kind: string; filename: string }): Promise<never> {
      lacksTables ||= kind === 'cMapUrl'
      throw new Error(`${filename} is not there.`)
    }
  }
  try {
    pdf = await getDocumentProxy(bytes, { useSystemFonts: false, verbosity: 0, BinaryDataFactory: Tables })
    if (pdf.numPages > MOST_PAGES)
      throw new ExtractFailure(
        'too_large',
        `This PDF has more than ${MOST_PAGES} pages. Split it into smaller files.`,
      )
    const pages: PdfLine[][] = []
    const fonts = createFonts()
    for (let number = 1; number <= pdf.numPages; number += 1) {
      const page = await pdf.getPage(number)
      const { items, styles } = await page.getTextContent()
      await fonts.add(page, styles)
      const texts = items.filter((item): item is typeof item & PdfItem => 'str' in item)
      pages.push(linesOf(inReadingOrder(texts, page.view[2]!), fonts))
      page.cleanup()
    }
    if (lacksTables)
      throw new ExtractFailure(
        'unknown_encoding',
        'This PDF writes Chinese, Japanese or Korean in a way that cannot be read. Save its text as a Word or text file, or export it again with fonts embedded as Unicode.',
      )
    return { pages: withCodeAlone(pages), title: titleOf((await pdf.getMetadata()).info) }
  } catch (error) {
    if (error instanceof ExtractFailure) throw error
    if ((error as Error).name === 'PasswordException')
      throw new ExtractFailure(
        'encrypted',
        'This PDF is protected by a password. Remove it and upload again.',
        error,
      )
    throw new ExtractFailure(
      'broken',
      'This PDF is damaged and cannot be read. Export it again and retry.',
      error,
    )
  } finally {
    await pdf?.loadingTask.destroy()
  }
}

/** When most of a document is monospaced, the font says nothing about code, and no line counts as code. */
function withCodeAlone(pages: PdfLine[][]): PdfLine[][] {
  const lines = pages.flat()
  const lengthOf = (some: readonly PdfLine[]): number => some.reduce((sum, { text }) => sum + text.length, 0)
  if (lengthOf(lines.filter(({ isTyped }) => isTyped)) <= lengthOf(lines) / 2) return pages
  return pages.map((page) => page.map((line) => ({ ...line, isTyped: false })))
}

function sectionsOf(pages: PdfLine[][]): Section[] {
  const words = dividedWords(pages)
  const levelOf = headingLevels(pages)
  const sections: Section[] = []
  let open: Heading[] = []
  for (const [index, page] of pages.entries()) {
    let lines: PdfLine[] = []
    let before: PdfLine | null = null
    const endSection = () => {
      const text = paragraphsOf(lines, words).join('\n\n')
      sections.push({ headingPath: pathOf(open), page: index + 1, text })
      lines = []
    }
    for (const [at, line] of page.entries()) {
      const level = levelOf(page, at)
      if (level !== null) {
        // A heading may have two lines, and the number of a chapter may stand above its name.
        const isSame =
          before && roundedSize(before) === roundedSize(line) && before.y - line.y < line.size * 1.7
        const goesOn = isSame || (before && CHAPTER.test(before.text))
        if (!goesOn && (lines.length > 0 || before)) endSection()
        const last = goesOn ? open.at(-1) : undefined
        if (last) open = open.slice(0, -1)
        const above = isSame ? before : null
        const text =
          last && above
            ? joinLines(last.text, line.text, words, () => hasRoom(above, [above, line]))
            : [last?.text, line.text].filter(Boolean).join(' ')
        open = withHeading(open, level, text)
        before = line
      } else {
        lines.push(line)
        before = null
      }
    }
    if (page.length > 0) endSection()
  }
  return mendPageBreaks(sections)
}

// Programs fill in titles automatically: the file's name, or a phrase such as "untitled".
function titleOf(info: unknown): string | null {
  const title = (info as { Title?: unknown } | undefined)?.Title
  if (typeof title !== 'string') return null
  const usable =
    title.trim() !== '' &&
    !/^(untitled|document\d*|microsoft word - )|\.(docx?|indd|tex|pdf|pptx?)$/i.test(title)
  return usable ? title : null
}
