import { ExtractFailure } from '../extract-failure.ts'
import { type Embedded, type ExtractedDocument, finishDocument, type Section } from '../extracted-document.ts'
import { type GapCounter, gapCounter } from '../gaps.ts'
import { countLeftOut, type Raw } from '../left-out-words.ts'
import { gridOf, hasHeader, tableRows } from '../table-rows.ts'
import { DRAWINGS, drawingLines, drawnLines, OBJECTS } from './drawing-text.ts'
import { partsOf } from './embedded-files.ts'
import { officeParts, officeTitle } from './office-parts.ts'
import { isOn, named, type Parts, targetsOf, type XmlElement, xmlOf } from './office-xml.ts'

const PRESENTATION = 'ppt/presentation.xml'
/** The placeholders of the layout: date, footer and slide number. */
const REPEATED = new Set(['dt', 'ftr', 'sldNum', 'hdr', 'sldImg'])

/**
 * Extracts the slides of a presentation, each as a page under its title, with its tables and the speaker notes. Throws
 * ExtractFailure `broken`, `too_large` and `no_text`.
 */
export async function extractPptx(bytes: Uint8Array): Promise<ExtractedDocument> {
  const parts = officeParts(bytes)
  const missing = gapCounter()
  const raw: Raw[] = []
  const files: Embedded[] = []
  const document = finishDocument(officeTitle(parts), slidesOf(parts, missing, raw, files))
  if (document.sections.length + files.length === 0)
    throw new ExtractFailure('no_text', 'This presentation contains no text.')
  const title = document.title ?? document.sections[0]?.headingPath[0] ?? null
  countLeftOut(missing, raw, document.sections)
  return { ...document, title, gaps: missing.gaps('slide'), embedded: { unit: 'slide', files } }
}

function slidesOf(parts: Parts, missing: GapCounter, raw: Raw[], files: Embedded[]): Section[] {
  try {
    const targets = targetsOf(parts, PRESENTATION)
    const ids = named(partOf(parts, PRESENTATION), 'p:sldId').map((slide) => slide.getAttribute('r:id') ?? '')
    return ids.flatMap((id, at) => {
      const path = targets.get(id)?.path
      return path === undefined ? [] : (slideOf(parts, path, at + 1, missing, raw, files) ?? [])
    })
  } catch (error) {
    throw error instanceof ExtractFailure ? error : damaged(error)
  }
}

/** Returns null for a hidden slide. */
function slideOf(
  parts: Parts,
  path: string,
  page: number,
  missing: GapCounter,
  raw: Raw[],
  files: Embedded[],
): Section | null {
  const slide = partOf(parts, path)
  const add = (part: XmlElement): void => {
    raw.push({ place: String(page), text: drawingLines(part).join('\n') })
  }
  add(slide)
  const notes = [...targetsOf(parts, path).values()].find(({ type }) => type.endsWith('/notesSlide'))
  const notesPart = notes && partOf(parts, notes.path)
  if (notesPart) add(notesPart)
  if (named(slide, 'p:sld')[0]?.getAttribute('show') === '0') return null
  const { title, paragraphs } = shapesOf(slide, (drawing) => {
    const lines = drawnLines(parts, path, drawing)
    if (lines === null) missing.add('charts', String(page))
    return lines ?? []
  })
  const headingPath = title === '' ? [] : [title]
  for (const part of partsOf(parts, path, named(slide, ...OBJECTS)))
    files.push({ part, place: String(page), page, headingPath })
  if (title === '' && !paragraphs.some(Boolean) && named(slide, 'p:pic').length > 0)
    missing.add('pages', String(page))
  const noted = notesPart ? shapesOf(notesPart, () => []).paragraphs : []
  return { headingPath, page, text: [...paragraphs, ...noted].join('\n\n') }
}

function shapesOf(
  slide: XmlElement,
  linesOfDrawing: (drawing: XmlElement) => string[],
): { title: string; paragraphs: string[] } {
  let title = ''
  const paragraphs: string[] = []
  const visit = (element: XmlElement): void => {
    if (element.tagName === 'mc:Fallback') return
    if (element.tagName === 'a:tbl') paragraphs.push(rowsOf(element).join('\n'))
    else if (element.tagName === 'p:sp') {
      const kind = named(element, 'p:ph')[0]?.getAttribute('type') ?? ''
      const [about] = named(element, 'p:cNvPr')
      if (REPEATED.has(kind) || isOn(about?.getAttribute('hidden') ?? null)) return
      const lines = drawingLines(element)
      if ((kind === 'title' || kind === 'ctrTitle') && title === '') title = lines.join(' ')
      else if (lines.length > 1) paragraphs.push(lines.map((line) => `- ${line}`).join('\n'))
      else if (lines[0]) paragraphs.push(lines[0])
    } else if (DRAWINGS.includes(element.tagName)) paragraphs.push(linesOfDrawing(element).join('\n'))
    else for (const child of element.children) visit(child)
  }
  visit(slide)
  return { title, paragraphs }
}

function rowsOf(table: XmlElement): string[] {
  const rows = named(table, 'a:tr').map((row) =>
    named(row, 'a:tc')
      .filter((cell) => cell.getAttribute('hMerge') !== '1' && cell.getAttribute('vMerge') !== '1')
      .map((cell) => ({
        text: drawingLines(cell).join(' '),
        columns: Number(cell.getAttribute('gridSpan') ?? 1) || 1,
        rows: Number(cell.getAttribute('rowSpan') ?? 1) || 1,
      })),
  )
  const grid = gridOf(rows)
  const isMarked = named(table, 'a:tblPr')[0]?.getAttribute('firstRow') === '1'
  return tableRows(grid, isMarked || hasHeader(grid) ? 1 : 0)
}

function partOf(parts: Parts, path: string): XmlElement {
  const part = parts.get(path)
  if (!part) throw damaged(`${path} is missing`)
  return xmlOf(part)
}

const damaged = (cause: unknown): ExtractFailure =>
  new ExtractFailure(
    'broken',
    'This presentation is damaged. Open it in a presentation program, save it again and retry.',
    cause,
  )
