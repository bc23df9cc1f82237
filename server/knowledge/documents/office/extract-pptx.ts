import { posix } from 'node:path'
import { DOMParser } from 'linkedom'
import { ExtractFailure } from '../extract-failure.ts'
import { type ExtractedDocument, finishDocument, type Section } from '../extracted-document.ts'
import type { HtmlElement } from '../html/html-node.ts'
import { gridOf, hasHeader, tableRows } from '../table-rows.ts'
import { officeParts, officeTitle } from './office-parts.ts'

const PRESENTATION = 'ppt/presentation.xml'
/** The placeholders of the layout: date, footer and slide number. */
const REPEATED = new Set(['dt', 'ftr', 'sldNum', 'hdr', 'sldImg'])

type Parts = ReadonlyMap<string, Uint8Array>

/**
 * Extracts the slides of a presentation, each as a page under its title, with its tables and the speaker notes. Throws
 * ExtractFailure `broken`, `too_large` and `no_text`.
 */
export async function extractPptx(bytes: Uint8Array): Promise<ExtractedDocument> {
  const parts = officeParts(bytes)
  const document = finishDocument(officeTitle(parts), slidesOf(parts))
  if (document.sections.length === 0)
    throw new ExtractFailure('no_text', 'This presentation contains no text.')
  return { ...document, title: document.title ?? document.sections[0]!.headingPath[0] ?? null }
}

function slidesOf(parts: Parts): Section[] {
  try {
    const targets = targetsOf(parts, PRESENTATION)
    const ids = named(xmlOf(parts, PRESENTATION), 'p:sldId').map((slide) => slide.getAttribute('r:id') ?? '')
    return ids.flatMap((id, at) => {
      const path = targets.get(id)?.path
      return path === undefined ? [] : (slideOf(parts, path, at + 1) ?? [])
    })
  } catch (error) {
    throw error instanceof ExtractFailure ? error : damaged(error)
  }
}

/** Returns null for a hidden slide. */
function slideOf(parts: Parts, path: string, page: number): Section | null {
  const slide = xmlOf(parts, path)
  if (named(slide, 'p:sld')[0]?.getAttribute('show') === '0') return null
  const notes = [...targetsOf(parts, path).values()].find(({ type }) => type.endsWith('/notesSlide'))
  const { title, paragraphs } = shapesOf(slide)
  const noted = notes ? shapesOf(xmlOf(parts, notes.path)).paragraphs : []
  return { headingPath: title === '' ? [] : [title], page, text: [...paragraphs, ...noted].join('\n\n') }
}

function shapesOf(slide: HtmlElement): { title: string; paragraphs: string[] } {
  let title = ''
  const paragraphs: string[] = []
  const visit = (element: HtmlElement): void => {
    if (element.tagName === 'a:tbl') paragraphs.push(rowsOf(element).join('\n'))
    else if (element.tagName === 'p:sp') {
      const kind = named(element, 'p:ph')[0]?.getAttribute('type') ?? ''
      if (REPEATED.has(kind)) return
      const lines = linesOf(element)
      if ((kind === 'title' || kind === 'ctrTitle') && title === '') title = lines.join(' ')
      else if (lines.length > 1) paragraphs.push(lines.map((line) => `- ${line}`).join('\n'))
      else if (lines[0]) paragraphs.push(lines[0])
    } else for (const child of element.children) visit(child)
  }
  visit(slide)
  return { title, paragraphs }
}

function rowsOf(table: HtmlElement): string[] {
  const rows = named(table, 'a:tr').map((row) =>
    named(row, 'a:tc')
      .filter((cell) => cell.getAttribute('hMerge') !== '1' && cell.getAttribute('vMerge') !== '1')
      .map((cell) => ({
        text: linesOf(cell).join(' '),
        columns: Number(cell.getAttribute('gridSpan') ?? 1) || 1,
        rows: Number(cell.getAttribute('rowSpan') ?? 1) || 1,
      })),
  )
  const grid = gridOf(rows)
  const isMarked = named(table, 'a:tblPr')[0]?.getAttribute('firstRow') === '1'
  return tableRows(grid, isMarked || hasHeader(grid) ? 1 : 0)
}

function linesOf(element: HtmlElement): string[] {
  return named(element, 'a:p').flatMap((paragraph) => {
    const runs = named(paragraph, 'a:t', 'a:br').map((run) =>
      run.tagName === 'a:br' ? ' ' : run.textContent,
    )
    return runs.join('').replace(/\s+/g, ' ').trim() || []
  })
}

/** Returns the descendants of an element with these names, in order. */
function named(root: HtmlElement, ...names: string[]): HtmlElement[] {
  const found: HtmlElement[] = []
  const visit = (element: HtmlElement): void => {
    for (const child of element.children) {
      if (names.includes(child.tagName)) found.push(child)
      else visit(child)
    }
  }
  visit(root)
  return found
}

/** Returns the targets of a part's relationships by their ids. */
function targetsOf(parts: Parts, path: string): Map<string, { path: string; type: string }> {
  const rels = posix.join(posix.dirname(path), '_rels', `${posix.basename(path)}.rels`)
  if (!parts.has(rels)) return new Map()
  return new Map(
    named(xmlOf(parts, rels), 'Relationship').map((one) => {
      const target = one.getAttribute('Target') ?? ''
      const whole = target.startsWith('/') ? target.slice(1) : posix.join(posix.dirname(path), target)
      return [one.getAttribute('Id') ?? '', { path: whole, type: one.getAttribute('Type') ?? '' }]
    }),
  )
}

function xmlOf(parts: Parts, path: string): HtmlElement {
  const part = parts.get(path)
  if (!part) throw damaged(`${path} is missing`)
  return new DOMParser().parseFromString(
    Buffer.from(part).toString('utf8'),
    'text/xml',
  ) as unknown as HtmlElement
}

const damaged = (cause: unknown): ExtractFailure =>
  new ExtractFailure(
    'broken',
    'This presentation is damaged. Open it in a presentation program, save it again and retry.',
    cause,
  )
