import { LOCALES, lazy } from './numbers.ts'

/** Units that numbers in answers of companies usually have. `percent` is one of them. */
const UNITS = [
  ...(['second', 'minute', 'hour', 'day', 'week', 'month', 'year', 'percent', 'celsius'] as const),
  ...(['millimeter', 'centimeter', 'meter', 'kilometer', 'gram', 'kilogram', 'milliliter', 'liter'] as const),
  ...(['kilobyte', 'megabyte', 'gigabyte'] as const),
]
const CURRENCIES = Intl.supportedValuesOf('currency')

/** How languages write units and currencies, with what they mean; all currencies are one kind. */
const names = lazy(() => {
  const found = new Map<string, string>()
  const letters = new Map<string, Set<string>>()
  for (const locale of LOCALES)
    for (const display of ['long', 'short'] as const) {
      for (const unit of UNITS) {
        const format = new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: display })
        for (const count of [1, 3, 5, 20]) {
          const name = format
            .formatToParts(count)
            .find(({ type }) => type === 'unit' || type === 'percentSign')?.value
          if (!name) continue
          const plain = name.trim().toLowerCase()
          found.set(plain, unit)
          if (/^\p{L}$/u.test(plain)) letters.set(plain, (letters.get(plain) ?? new Set()).add(locale))
        }
      }
    }
  // A single letter is also a word, unless several languages use it for a unit.
  for (const [letter, uses] of letters)
    if (uses.size < SHARED_BY && !/\p{sc=Han}|\p{sc=Hangul}/u.test(letter)) found.delete(letter)
  for (const currency of CURRENCIES) {
    found.set(currency.toLowerCase(), 'money')
    const format = new Intl.NumberFormat('en', {
      style: 'currency',
      currency,
      currencyDisplay: 'narrowSymbol',
    })
    const symbol = format.formatToParts(1).find(({ type }) => type === 'currency')?.value
    if (symbol && !/^\p{L}{1,2}$/u.test(symbol)) found.set(symbol.toLowerCase(), 'money')
  }
  found.set('%', 'percent')
  return found
})

/** How many languages use a letter that is taken for a unit. */
const SHARED_BY = 2
const WORD_AFTER = /^[ \u00a0\u202f-]?(\p{L}+|[^\s\p{L}\d.,;:!?()[\]|–—-]\p{L}?)/u
const SYMBOL_BEFORE = /(\p{Sc}|\b[A-Z]{3})[ \u00a0\u202f]?$/u
/** The last number of a range has the sign of all. */
const PERCENT_NEAR = /^(?:[^\d\n|;]{1,8}\d+(?:[.,]\d+)?){0,2}[ \u00a0\u202f]?[%٪]/u

/** Returns the unit of a number at a place of a text; null if it has none that is known. */
export function unitAt(text: string, at: number, length: number): string | null {
  const after = WORD_AFTER.exec(text.slice(at + length, at + length + 24))?.[1]?.toLowerCase()
  const before = SYMBOL_BEFORE.exec(text.slice(Math.max(0, at - 5), at))?.[1]?.toLowerCase()
  const known =
    (after === undefined ? undefined : unitOf(after)) ??
    (before === undefined ? undefined : names().get(before))
  if (known !== undefined && known !== 'money') return known
  return PERCENT_NEAR.test(text.slice(at + length, at + length + 20)) ? 'percent' : (known ?? null)
}

/** Inflected words begin like the name of their unit. In some scripts, no space ends a name. */
function unitOf(word: string): string | undefined {
  const whole = names().get(word) ?? names().get(word.replace(/(?<=^\P{L})\p{L}$/u, ''))
  if (whole !== undefined || !/\p{L}/u.test(word)) return whole
  if (/\p{sc=Han}|\p{sc=Hangul}|\p{sc=Katakana}/u.test(word))
    return names().get(word.slice(0, 2)) ?? names().get(word.slice(0, 1))
  const base = [1, 2].map((cut) => word.slice(0, -cut)).find((form) => form.length >= 3 && names().has(form))
  return base === undefined ? undefined : names().get(base)
}
