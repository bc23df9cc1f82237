import type { CellObject } from '@e965/xlsx'
import { format, getFormatDateInfo, isDateFormat } from 'numfmt'
import { guessLanguage } from '../../../platform/text/languages/language.ts'

/** In the words of the workbook's language, months and weekdays have names; `isDate1904` is its date system. */
export type Setting = { language: string; isDate1904: boolean }

/** Returns the language of the texts in cells, for the formats that leave it to the reader's computer. */
export function languageOf(cells: Iterable<CellObject | undefined>): string {
  const texts: string[] = []
  for (const cell of cells) {
    if (cell?.t === 's' && texts.push(String(cell.v)) >= ENOUGH) break
  }
  const language = guessLanguage(texts.join(' '))
  return language === 'other' ? 'en' : language
}

const ENOUGH = 500
const DAYS_BEFORE_1904 = 1_462
/** The short date of the reader's country, which the file has in the order of the United States. */
const SHORT_DATE = /^m\/d\/yy(?= |$)/
/** A currency with a country, whose separators are the reader's nevertheless. */
const CURRENCY = /\[\$([^\]-]+)-[^\]]*\]/g

/** Returns what a cell shows if its column is wide enough. */
export function shownIn({ t: kind, v: value, z }: CellObject, setting: Setting): string {
  if (kind === 'e' || kind === 'z' || value === undefined) return ''
  if (typeof value === 'boolean') return format('General', value)
  if (typeof value !== 'number') return String(value)
  const pattern = String(z ?? 'General')
  // In a narrow column, the digits of a long number are shown as a power of ten.
  if (pattern === 'General' && Number.isSafeInteger(value)) return String(value)
  try {
    return isDateFormat(pattern) ? shownDate(pattern, value, setting) : shownNumber(pattern, value)
  } catch {
    // Some programs write formats that no spreadsheet can use.
    return String(value)
  }
}

function shownDate(pattern: string, value: number, { language, isDate1904 }: Setting): string {
  const { year, month, day } = getFormatDateInfo(pattern)
  const days = isDate1904 && (year || month || day) ? value + DAYS_BEFORE_1904 : value
  return format(pattern.replace(SHORT_DATE, 'yyyy-mm-dd'), days, { locale: language, nbsp: false })
}

const shownNumber = (pattern: string, value: number): string =>
  format(pattern.replace(CURRENCY, '"$1"'), value, { nbsp: false })
