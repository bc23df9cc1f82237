import type { PdfAnnotation } from 'pdfjs-dist/legacy/build/pdf.mjs'
import type { PdfItem } from './right-to-left.ts'

const SIZE = 12
const LINE = 1.2
/** How far below the baseline letters reach, in font heights. */
const DESCENT = 0.2

/**
 * Puts what is entered in the fields of a form, and notes that are written on the page, into the items of the page, each
 * after the text to its left or above.
 */
export function withFormValues(items: readonly PdfItem[], annotations: readonly PdfAnnotation[]): PdfItem[] {
  const all = [...items]
  for (const annotation of annotations) {
    const lines = annotation.hidden || annotation.password ? [] : linesOf(annotation)
    const [x = 0, bottom = 0, right = 0, top = 0] = annotation.rect
    const size = annotation.defaultAppearanceData?.fontSize || Math.min(SIZE, (top - bottom) / LINE)
    const first = lines.length === 1 ? bottom + (top - bottom - size) / 2 + size * DESCENT : top - size * LINE
    for (const [at, str] of lines.entries())
      insert(all, {
        str,
        transform: [size, 0, 0, size, x, first - at * size * LINE],
        width: Math.min(right - x, str.length * size * 0.5),
        height: size,
        hasEOL: true,
        fontName: '',
      })
  }
  return all
}

function linesOf({ subtype, fieldType, fieldValue, contentsObj, ...field }: PdfAnnotation): string[] {
  if (subtype === 'FreeText') return textLines(contentsObj?.str)
  if (subtype !== 'Widget') return []
  if (fieldType === 'Btn') {
    const isChosen = (field.checkBox || field.radioButton) && fieldValue !== 'Off'
    return isChosen && fieldValue === (field.exportValue ?? field.buttonValue) ? ['☒'] : []
  }
  if (fieldType !== 'Tx' && fieldType !== 'Ch') return []
  const shown = [fieldValue].flat().map((value) => {
    const option = field.options?.find(({ exportValue }) => exportValue === value)
    return option?.displayValue ?? value
  })
  return shown.flatMap(textLines)
}

const textLines = (text: unknown): string[] =>
  typeof text === 'string' ? text.split(/\r\n?|\n/).filter((line) => line.trim() !== '') : []

function insert(items: PdfItem[], value: PdfItem): void {
  const [, , , size = 0, x = 0, y = 0] = value.transform
  const isBefore = ({ str, transform }: PdfItem, isLine: boolean): boolean => {
    const [, , , , left = 0, baseline = 0] = transform
    if (str.trim() === '') return false
    return isLine ? Math.abs(baseline - y) < size / 2 && left < x : baseline > y
  }
  const beside = items.findLastIndex((item) => isBefore(item, true))
  const at = beside < 0 ? items.findLastIndex((item) => isBefore(item, false)) : beside
  const neighbour = items[at]
  if (neighbour && beside >= 0) items[at] = { ...neighbour, hasEOL: false }
  const font = neighbour?.fontName ?? items[0]?.fontName ?? ''
  items.splice(at + 1, 0, { ...value, fontName: font })
}
