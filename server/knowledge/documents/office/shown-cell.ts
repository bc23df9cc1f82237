import type { CellObject } from '@e965/xlsx'
import { format, getFormatDateInfo, isDateFormat } from 'numfmt'
import { guessLanguage } from '../../../platform/text/languages/language.ts'

/**
 * The language of the workbook, in which months and weekdays have names; that of which numbers have their separators; and
 * `isDate1904`, its date system.
 */
export type Setting = { language: string; separators: string; isDate1904: boolean }

/**
 * Returns the language of the texts in cells, for the formats that leave it to the reader's computer. Numbers have the
 * separators of English unless the one half of the texts is in the same other language as the other.
 */
export function languagesOf(
  cells: Iterable<CellObject | undefined>,
): Pick<Setting, 'language' | 'separators'> {
  const said = new Set<string>()
  for (const cell of cells) if (cell?.t === 's' && said.add(String(cell.v)).size >= ENOUGH) break
  const texts = [...said]
  const guess = (some: string[]): string => guessLanguage(some.join(' '))
  const language = guess(texts)
  const [one, other] = [0, 1].map((half) => guess(texts.filter((_, at) => at % 2 === half)))
  return {
    language: language === 'other' ? 'en' : language,
    // With Latin digits, numbers in Arabic texts have those of English, too.
    separators: one === undefined || one !== other || one === 'other' || one === 'ar' ? 'en' : one,
  }
}

const ENOUGH = 500
const DAYS_BEFORE_1904 = 1_462
/** The short date of the reader's country, which the file has in the order of the United States. */
const SHORT_DATE = /^m\/d\/yy(?= |$)/
/** A currency with a country, whose separators are those of the workbook nevertheless. */
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
    return isDateFormat(pattern) ? shownDate(pattern, value, setting) : shownNumber(pattern, value, setting)
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

const shownNumber = (pattern: string, value: number, { separators }: Setting): string =>
  format(pattern.replace(CURRENCY, '"$1"'), value, { locale: separators, nbsp: false })
