import { foldText } from '../../text/words/words.ts'

/** The zeros of the other scripts whose digits are read: Arabic (two sets) and Devanagari. */
const ZEROS = [0x660, 0x6f0, 0x966]
const OTHER_DIGITS = /[\u0660-\u0669\u06f0-\u06f9\u0966-\u096f]/g
/** Matches a number with thousands separators, as in 10,000, 10 000 and 1,00,000. */
const GROUPED = /(?<!\d)\d{1,3}(?:[.,'’٬ ]\d{2,3})*[.,'’٬ ]\d{3}(?!\d)/g
/** Matches numbers that a question does not ask about: list numbers, telephone numbers, and "24/7". */
const NOT_ASKED = /^\s*\d{1,2}[.)]\s|(?:\+|\b0)\d[\d ()/-]{6,}\d|\b24\s?\/\s?7\b/gm
/** Matches footnote markers, which would otherwise be read as digits of the number before them. */
const FOOTNOTE = /[¹²³⁰⁴-⁹]+/gu
/** Matches digits that do not change the value: the minutes of a full hour, and trailing zeros of decimals. */
const WITHOUT_VALUE = /(?<=\d:)00(?!\d)|(?<=\d[.,]\d{0,3}?)0+(?!\d)/g

/**
 * Returns whether a text has every number of a question, whatever digits and separators they are written with. The
 * parts of 3.5 and of 12:30 count as numbers.
 */
export function hasNumbers(text: string, question: string): boolean {
  const [said, asked] = [inPlainDigits(text), inPlainDigits(question).replace(NOT_ASKED, ' ')]
  const known = new Set([said, ungrouped(said)].flatMap(numbersIn))
  return [asked, ungrouped(asked)].some((one) => numbersIn(one).every((number) => known.has(number)))
}

const inPlainDigits = (text: string): string =>
  foldText(text.replace(FOOTNOTE, ' ')).replace(OTHER_DIGITS, (digit) => {
    const code = digit.charCodeAt(0)
    return String(code - ZEROS.findLast((zero) => zero <= code)!)
  })

const ungrouped = (text: string): string => text.replace(GROUPED, (number) => number.replace(/\D/g, ''))

const numbersIn = (text: string): string[] =>
  (text.replace(WITHOUT_VALUE, '').match(/\d+/g) ?? []).map((digits) => digits.replace(/^0+(?=\d)/, ''))
