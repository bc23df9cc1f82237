import type { Language } from '../../platform/text/languages/language.ts'

/** The languages whose names of months and of large numbers are known, apart from those of the service's texts. */
export const LOCALES = [
  ...([
    'en',
    'de',
    'fr',
    'es',
    'it',
    'pt',
    'nl',
    'sv',
    'da',
    'no',
    'fi',
    'pl',
    'cs',
    'hu',
    'ro',
    'tr',
  ] as const),
  ...(['el', 'ru', 'uk', 'bg', 'ar', 'fa', 'he', 'hi', 'ja', 'ko', 'zh'] as const),
] satisfies Language[]

/** The digits of all number systems that write numbers in places of ten, as JavaScript's own library knows them. */
const DIGITS = new Map(
  Intl.supportedValuesOf('numberingSystem').flatMap((system) => {
    const written = new Intl.NumberFormat(`en-u-nu-${system}`, {
      useGrouping: false,
      minimumIntegerDigits: 10,
    })
    const digits = [...written.format(123_456_789)]
    return digits.length === 10 && digits.every((digit) => /\p{Nd}/u.test(digit))
      ? digits.map((digit, value): [string, string] => [digit, String(value)])
      : []
  }),
)

/** Replaces the digits of other scripts. */
export const withPlainDigits = (text: string): string =>
  text.replace(/[^\P{Nd}0-9]/gu, (digit) => DIGITS.get(digit) ?? digit)

/** How languages write large numbers, such as `million`, `тыс.` and `万`, with what they mean. */
const scales = lazy(() => {
  const found = new Map<string, number>()
  for (const locale of LOCALES)
    for (const compactDisplay of ['long', 'short'] as const) {
      const format = new Intl.NumberFormat(locale, { notation: 'compact', compactDisplay })
      for (let power = 3; power <= 12; power++) {
        const parts = format.formatToParts(5 * 10 ** power)
        const name = parts
          .find(({ type }) => type === 'compact')
          ?.value.trim()
          .toLowerCase()
        const shown = Number(
          withPlainDigits(parts.flatMap(({ type, value }) => (type === 'integer' ? [value] : [])).join('')),
        )
        if (name && shown > 0 && !/^[^\p{sc=Han}\p{sc=Hangul}]$/u.test(name))
          found.set(name, (5 * 10 ** power) / shown)
      }
    }
  return found
})

/** A number as it is written, with or without separators. Groups of three may be separated by spaces. */
const NUMBER = /(?<![\d])\d{1,3}(?:[ \u00a0\u202f’']\d{3}(?!\d))+(?:[.,٫]\d+)?|\d+(?:[.,٫٬]\d+)*/g
const AFTER = /^[ \u00a0\u202f]?(\p{L}+\.?)/u
/** The longest name of a scale that is looked up. */
const LONGEST_NAME = 14

export type FoundNumber = { text: string; at: number; readings: string[] }

/**
 * Returns the numbers of a text with all that each may mean, because the same mark separates thousands in one language
 * and decimals in another.
 */
export function numbersIn(text: string): FoundNumber[] {
  let until = 0
  return [...text.matchAll(NUMBER)].flatMap(({ 0: written, index }) => {
    if (index < until) return []
    const readings = readingsOf(written)
    const rest = text.slice(index + written.length, index + written.length + LONGEST_NAME + 1)
    const scale = scaleIn(rest)
    const scaled = scale === null ? readings : readings.map((value) => plain(Number(value) * scale))
    // What follows without a space adds to it, as in 1万5000.
    const more = scale === null ? undefined : /^[^\d\s]{1,2}(\d+)/.exec(rest)?.[1]
    if (more !== undefined) until = index + written.length + more.length + 2
    if (more !== undefined) scaled.push(...scaled.map((value) => plain(Number(value) + Number(more))))
    return [{ text: written, at: index, readings: [...new Set(scaled)] }]
  })
}

function scaleIn(rest: string): number | null {
  const name = AFTER.exec(rest)?.[1]?.toLowerCase()
  if (name === undefined) return null
  // In some scripts, no space follows the name.
  const first = [...name][0] ?? ''
  return (
    scales().get(name) ??
    scales().get(name.replace(/\.$/, '')) ??
    (/\p{sc=Han}|\p{sc=Hangul}/u.test(first) ? (scales().get(first) ?? null) : null)
  )
}

function readingsOf(written: string): string[] {
  const separators = written.replace(/\d/g, '')
  const pieces = written.split(/\D/)
  if (separators === '') return [plain(Number(written))]
  const last = separators.at(-1)
  const isDecimal = last === '.' || last === ',' || last === '٫'
  const [first = '', ...others] = pieces
  const readings: string[] = []
  const isGrouped = (groups: readonly string[]): boolean =>
    first.length <= 3 &&
    groups.every(({ length }, at) => length === 3 || (length === 2 && at < groups.length - 1))
  if (new Set(separators).size === 1 && isGrouped(others)) readings.push(plain(Number(pieces.join(''))))
  const isOnlyOnce = separators.indexOf(last ?? '') === separators.length - 1
  if (isDecimal && isOnlyOnce && (separators.length === 1 || isGrouped(others.slice(0, -1))))
    readings.push(plain(Number(`${pieces.slice(0, -1).join('')}.${pieces.at(-1)}`)))
  // A version, or a list without spaces.
  if (readings.length === 0) readings.push(pieces.map(Number).join('.'))
  return readings
}

const plain = (value: number): string => String(Number(value.toPrecision(15)))

/** Computes a value when it is first needed. */
export function lazy<T>(compute: () => T): () => T {
  let value: { is: T } | null = null
  return () => {
    value ??= { is: compute() }
    return value.is
  }
}
