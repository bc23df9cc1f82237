import { type CellObject, read, utils, type WorkSheet } from '@e965/xlsx'
import { ExtractFailure } from '../extract-failure.ts'
import { type Embedded, type ExtractedDocument, finishDocument, type Section } from '../extracted-document.ts'
import { type GapCounter, gapCounter } from '../gaps.ts'
import { countLeftOut, type Raw } from '../left-out-words.ts'
import { hasHeader, looksLikeHeader, tableRows } from '../table-rows.ts'
import { DRAWINGS, drawingLines, drawnLines } from './drawing-text.ts'
import { officeParts, officeTitle } from './office-parts.ts'
import { named, type Parts, targetsOf, xmlOf } from './office-xml.ts'
import { languagesOf, type Setting, shownIn } from './shown-cell.ts'
import { writeZip } from './write-zip.ts'

const MAX_ROWS = 50_000
const MAX_COLUMNS = 500
const WORKBOOK = 'xl/workbook.xml'
/** A formula without a value. One whose value is an empty text says so. */
const UNCALCULATED = /<c\b(?![^>]*\bt="str")[^>]*>\s*<f\b[^<]*(?:<\/f>)?\s*(?:<v\s*\/>|<v>\s*<\/v>)?\s*<\/c>/g
/** A file of another program. Where there are two ways to show it, both have its relation. */
const OBJECT = /<oleObject\b[^>]*\br:id="([^"]*)"/g
/** Rows and columns that are hidden, as those that a filter leaves out. */
const HIDDEN_ROW = /<row\b(?=[^>]*\bhidden="(?:1|true)")[^>]*\br="(\d+)"/g
const HIDDEN_COLUMNS = /<col\b(?=[^>]*\bhidden="(?:1|true)")(?=[^>]*\bmin="(\d+)")[^>]*\bmax="(\d+)"/g
/** Matches default names of sheets. */
const UNNAMED =
  /^(?:sheet|tabelle|blatt|feuil|hoja|foglio|planilha|blad|ark|arkusz|list|hárok|munka|taul|sayfa|foaie|φύλλο|лист|аркуш|ورقة|גיליון|シート|工作表|시트)\s?\d*(?:\s\(\d+\))?$/iu

/**
 * Extracts the visible sheets of a workbook: each row becomes a line with its values as they are displayed and the
 * names of their columns. Throws ExtractFailure `broken`, `too_large` and `no_text`.
 */
export async function extractXlsx(bytes: Uint8Array): Promise<ExtractedDocument> {
  const parts = officeParts(bytes)
  const sections: Section[] = []
  const files: Embedded[] = []
  const missing = gapCounter()
  const partOf = partsOfSheets(parts)
  const { sheets, isDate1904 } = sheetsOf(writeZip(parts))
  const setting = { ...languagesOf(sheets.flatMap(({ sheet }) => cellsOf(sheet))), isDate1904 }
  const raw: Raw[] = []
  for (const { name, sheet, isHidden } of sheets) {
    const path = partOf.get(name) ?? ''
    // Sheets may be too large for a tree.
    const xml = Buffer.from(parts.get(path) ?? []).toString('utf8')
    const drawn = drawnTexts(parts, path, name, missing)
    raw.push({ place: name, text: [...wordsOf(sheet), ...drawn].join('\n') })
    if (isHidden) continue
    countMissing(missing, name, sheet, xml)
    const rows = shownRows(rowsOf(sheet, setting), xml)
    const text = blocksOf(rows).flatMap(paragraphsOfBlocks()).concat(drawn).join('\n\n')
    sections.push({ headingPath: text === '' || UNNAMED.test(name) ? [] : [name], page: null, text })
    for (const part of objectsIn(parts, path, xml))
      files.push({ part, place: name, page: null, headingPath: [name] })
  }
  const document = finishDocument(officeTitle(parts), sections)
  if (document.sections.length + files.length === 0)
    throw new ExtractFailure('no_text', 'This workbook contains no values.')
  countLeftOut(missing, raw, document.sections)
  return { ...document, gaps: missing.gaps('sheet'), embedded: { unit: 'sheet', files } }
}

function objectsIn(parts: Parts, path: string, xml: string): (string | null)[] {
  const targets = targetsOf(parts, path)
  const ids = new Set([...xml.matchAll(OBJECT)].map(([, id = '']) => id))
  return [...ids].map((id) => targets.get(id)?.path ?? null)
}

/** Returns the paths of the sheets by their names. */
function partsOfSheets(parts: Parts): Map<string, string | undefined> {
  const targets = targetsOf(parts, WORKBOOK)
  const workbook = parts.get(WORKBOOK)
  const sheets = workbook ? named(xmlOf(workbook), 'sheet') : []
  return new Map(
    sheets.map((sheet) => [
      sheet.getAttribute('name') ?? '',
      targets.get(sheet.getAttribute('r:id') ?? '')?.path,
    ]),
  )
}

function countMissing(missing: GapCounter, name: string, sheet: WorkSheet, xml: string): void {
  missing.add('formulas', name, xml.match(UNCALCULATED)?.length ?? 0)
  const whole: unknown = sheet['!fullref'] ?? sheet['!ref']
  if (typeof whole !== 'string') return
  const { e: end } = utils.decode_range(whole)
  const rows = sheet['!data'] ?? []
  // Sheets say that they are as wide as their formats reach.
  const widths = rows.map((cells = []) => cells.findLastIndex((cell) => cell?.v !== undefined) + 1)
  const width = widths.reduce((most, one) => Math.max(most, one), 0)
  const below = rows.length < MAX_ROWS ? 0 : end.r + 1 - MAX_ROWS
  missing.add('cells', name, Math.max(0, below) + Math.max(0, width - MAX_COLUMNS))
}

type Sheet = { name: string; sheet: WorkSheet; isHidden: boolean }

function sheetsOf(bytes: Buffer): { sheets: Sheet[]; isDate1904: boolean } {
  try {
    const options = { dense: true, cellFormula: false, cellHTML: false, cellText: false, cellNF: true }
    const { SheetNames, Sheets, Workbook } = read(bytes, { type: 'buffer', ...options, sheetRows: MAX_ROWS })
    const sheets = SheetNames.flatMap((name, at) => {
      const sheet = Sheets[name]
      return sheet ? [{ name, sheet, isHidden: Boolean(Workbook?.Sheets?.[at]?.Hidden) }] : []
    })
    return { sheets, isDate1904: Workbook?.WBProps?.date1904 === true }
  } catch (error) {
    throw new ExtractFailure(
      'broken',
      'This workbook is damaged. Open it in a spreadsheet program, save it again and retry.',
      error,
    )
  }
}

const cellsOf = (sheet: WorkSheet): (CellObject | undefined)[] =>
  (sheet['!data'] ?? []).flatMap((row = []) => row)

/** Returns the texts in the cells, as the file has them. */
const wordsOf = (sheet: WorkSheet): string[] =>
  cellsOf(sheet).flatMap((cell) => (cell?.t === 's' ? [String(cell.v)] : []))

/** Returns the texts of the boxes, shapes and diagrams on a sheet, and the titles of its charts, whose values are in cells. */
const drawnTexts = (parts: Parts, path: string, name: string, missing: GapCounter): string[] =>
  [...targetsOf(parts, path).values()].flatMap((target) => {
    const part = target.type.endsWith('/drawing') && parts.get(target.path)
    if (!part) return []
    const drawing = xmlOf(part)
    const drawn = named(drawing, ...DRAWINGS).flatMap((one) => {
      const lines = drawnLines(parts, target.path, one, 'titles')
      if (lines === null) missing.add('charts', name)
      return lines ?? []
    })
    return [...drawingLines(drawing), ...drawn]
  })

/** Returns the rows without those, and without the columns, that are hidden. */
function shownRows(rows: readonly string[][], xml: string): string[][] {
  const hiddenRows = new Set([...xml.matchAll(HIDDEN_ROW)].map(([, row]) => Number(row) - 1))
  const hiddenColumns = [...xml.matchAll(HIDDEN_COLUMNS)].map(([, min, max]) => [Number(min), Number(max)])
  const isShown = (column: number): boolean =>
    !hiddenColumns.some(([min = 0, max = 0]) => column + 1 >= min && column + 1 <= max)
  return rows
    .filter((_, at) => !hiddenRows.has(at))
    .map((row) => (hiddenColumns.length > 0 ? row.filter((_, column) => isShown(column)) : row))
}

/** Returns the cells as text. The value of a merged cell is repeated in every cell of its range. */
function rowsOf(sheet: WorkSheet, setting: Setting): string[][] {
  const rows: string[][] = []
  for (const [at, cells] of (sheet['!data'] ?? []).entries()) {
    const row: string[] = []
    // Rows are sparse arrays of any length.
    cells?.forEach((cell, column) => {
      if (column < MAX_COLUMNS) row[column] = cell ? shownIn(cell, setting).trim() : ''
    })
    rows[at] = Array.from(row, (text) => text ?? '')
  }
  for (const { s: from, e: to } of sheet['!merges'] ?? []) {
    const text = rows[from.r]?.[from.c] ?? ''
    const isTitle = from.r === to.r && from.c === 0
    if (text === '' || isTitle) continue
    for (let r = from.r; r <= Math.min(to.r, rows.length - 1); r += 1) {
      const row = rows[r] ?? []
      rows[r] = row
      for (let c = from.c; c <= Math.min(to.c, MAX_COLUMNS - 1); c += 1) row[c] ||= text
    }
  }
  return Array.from(rows, (row) => Array.from(row ?? [], (text) => text ?? ''))
}

/** Returns the blocks between empty rows, without the empty columns around them. */
function blocksOf(rows: string[][]): string[][][] {
  const blocks: string[][][] = []
  let block: string[][] = []
  for (const row of [...rows, []]) {
    if (row.some(Boolean)) block.push(row)
    else if (block.length > 0) {
      const first = Math.min(...block.map((one) => one.findIndex(Boolean)))
      blocks.push(block.map((one) => one.slice(first, one.findLastIndex(Boolean) + 1)))
      block = []
    }
  }
  return blocks
}

/**
 * Returns the lines above a table, its rows, and the notes below it, which are rows with only a first cell. A block
 * without column names takes those of the previous block if both have the same number of columns.
 */
function paragraphsOfBlocks(): (block: string[][]) => string[] {
  let header: string[] | null = null
  return (block) => {
    const start = block.findIndex((row) => row.filter(Boolean).length > 1)
    const lead = (start < 0 ? block : block.slice(0, start)).map((row) => row.filter(Boolean).join(' '))
    const end = block.findLastIndex((row) => row.length > 1)
    const table = start < 0 ? [] : block.slice(start, end + 1)
    const notes = start < 0 ? [] : block.slice(end + 1).map((row) => row[0] ?? '')
    const width = Math.max(0, ...table.map((row) => row.length))
    const padded = table.map((row) => [...row, ...Array<string>(width - row.length).fill('')])
    if (isLabelled(padded)) return [lead.join('\n'), labelled(padded), notes.join('\n')].filter(Boolean)
    if ((width > 2 || padded.length > 1) && looksLikeHeader(padded[0] ?? [])) header = padded.shift() ?? null
    const isNamed = header !== null && header.length === width
    const rows = isNamed && header ? tableRows([header, ...padded], 1) : tableRows(padded, 0)
    return [lead.join('\n'), rows.join('\n'), notes.join('\n')].filter(Boolean)
  }
}

/** Returns whether rows are labels with their values, and not a table of two columns with their names. */
const isLabelled = (rows: readonly (readonly string[])[]): boolean =>
  rows.length > 1 &&
  rows[0]?.length === 2 &&
  new Set(rows.map(([label]) => label)).size === rows.length &&
  !hasHeader(rows)

const labelled = (rows: readonly (readonly string[])[]): string =>
  rows
    .map(([label = '', value = '']) =>
      label && value ? `${label.replace(/\s*[:：]$/u, '')}: ${value}` : label + value,
    )
    .join('\n')
