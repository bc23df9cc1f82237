import {
  datesIn,
  daysIn,
  daysOfPoint,
  type FoundDate,
  type FoundNumber,
  LOCALES,
  lazy,
  numbersIn,
  withPlainDigits,
} from './numbers-and-dates.ts'

/** A value of an answer that stands in nothing that its model was given. */
export type Ungrounded = { kind: 'number' | 'date' | 'time' | 'phone' | 'email' | 'url'; text: string }

const MAX_VALUES = 20
const EMAIL = /[^\s<>()[\]@,;:"'`*|]{1,64}@[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,8}/gu
const URL_ =
  /(?:https?:\/\/|www\.)[^\s<>"'`)\]|]{1,2000}|(?<![\p{L}\p{N}./@-])(?:[\p{L}\p{N}-]{1,63}\.){1,8}\p{L}{2,24}\/[^\s<>"'`)\]|]{0,2000}/giu
/** The service numbers lists and sources itself. */
const OWN_NUMBERS = /^[ \t>*-]{0,20}\d{1,3}[.)](?=\s)|\[\d{1,3}\]/gm
const PHONE = /(?<![\d.,])\+?\(?\d(?:[ \u00a0\u202f()./\p{Pd}]{0,3}\d){6,18}(?![\d])/gu
const TIME = /(?<![\d.,:])([01]?\d|2[0-4])(?::|[.h時点시]\s?|\s?[hг]\s?)([0-5]\d)(?![\d.,]\d|\d)/giu
const MIN_PHONE = 7
/** Matches a date of numbers with points. */
const DATE = /^\d{1,2}\.\d{1,2}\.\d{2,4}$/

/** `null` is a place at which a number has no unit. */
type Place = { at: number; length: number } | null
type Evidence = {
  text: string
  /** The numbers, with the places at which each stands. */
  numbers: ReadonlyMap<string, readonly Place[]>
  unitOf(place: Place): string | null
  digits(): string
  days(): Set<string>
  times(): Set<string>
}

/**
 * Returns the numbers, dates, addresses and links of an answer that stand nowhere in `given`, whatever the languages of
 * the two. A value is taken to stand there if anything that it may mean does.
 */
export function ungroundedValues(answer: string, given: () => string): Ungrounded[] {
  if (!/[\p{Nd}@]|:\/\/|www\.|\.\p{L}+\//u.test(answer)) return []
  const evidence = evidenceOf(given())
  const found: Ungrounded[] = []
  let text = withPlainDigits(answer).replace(OWN_NUMBERS, blank)
  const take = (
    pattern: RegExp,
    kind: Ungrounded['kind'],
    isGiven: (value: string) => boolean | null,
  ): void => {
    text = text.replace(pattern, (value) => {
      const is = isGiven(value)
      if (is === null) return value
      if (!is) found.push({ kind, text: trimmed(value.trim()) })
      return blank(value)
    })
  }
  take(EMAIL, 'email', (address) => evidence.text.includes(trimmed(address).toLowerCase()))
  take(URL_, 'url', (url) => evidence.text.includes(canonicalUrl(url)))
  for (const { date, isGiven } of takeDates(text, evidence)) {
    if (!isGiven) found.push({ kind: 'date', text: date.text })
    text = blanked(text, date)
  }
  take(PHONE, 'phone', (number) => phoneIsGiven(number, evidence))
  take(TIME, 'time', (time) => {
    if (timesOf(time).some((one) => evidence.times().has(one)) || isHourGiven(time, evidence)) return true
    // It may be a number with two decimals.
    return time.includes('.') ? null : false
  })
  for (const number of numbersIn(text))
    if (!isNumberGiven(text, number, evidence)) found.push({ kind: 'number', text: number.text })
  return unique(found).slice(0, MAX_VALUES)
}

function evidenceOf(given: string): Evidence {
  const plain = withPlainDigits(given)
  const numbers = new Map<string, Place[]>()
  const note = (value: string, place: Place): void => {
    const places = numbers.get(value)
    if (places) places.push(place)
    else numbers.set(value, [place])
  }
  for (const { text, at, readings } of numbersIn(plain)) {
    const place = { at, length: text.length }
    for (const value of readings) note(value, place)
    if (isAfternoon(plain, at + text.length))
      for (const value of readings) note(String(Number(value) + 12), place)
    // Spaces may separate numbers, too, and marks the parts of a date.
    if (/\D/.test(text))
      for (const piece of text.split(/\D+/))
        if (!/[.,]/.test(text) || DATE.test(text)) note(String(Number(piece)), null)
  }
  return {
    text: plain.toLowerCase().replaceAll('www.', ''),
    numbers,
    unitOf: (place) => place && unitAt(plain, place.at, place.length),
    digits: lazy(() => plain.replace(/(?<=\d)[ \u00a0\u202f()./\p{Pd}]{1,3}(?=\d)/gu, '')),
    days: lazy(() => daysIn(plain)),
    times: lazy(() => new Set([...plain.matchAll(TIME)].flatMap(([time]) => timesOf(time)))),
  }
}

function takeDates(text: string, evidence: Evidence): { date: FoundDate; isGiven: boolean }[] {
  return datesIn(text).flatMap((date) => {
    const isGiven = date.days.some((day) => evidence.days().has(day))
    // What may not be a date is checked as numbers instead.
    if (!isGiven && !date.isCertain) return []
    const [year] = /\d{4}/.exec(date.text) ?? []
    return [{ date, isGiven: isGiven && (year === undefined || evidence.numbers.has(year)) }]
  })
}

/**
 * A number is given if it stands somewhere with the same unit, or without one that is known. The word for one is also an
 * article, so it is not looked for.
 */
function isNumberGiven(
  text: string,
  { text: written, at, readings }: FoundNumber,
  { numbers, unitOf, days }: Evidence,
): boolean {
  const unit = unitAt(text, at, written.length)
  const isIn = (value: string): boolean => {
    const places = numbers.get(value)
    if (!places || unit === null) return places !== undefined
    return places.some((place) => {
      const there = unitOf(place)
      return there === unit || (there === null && unit !== 'percent')
    })
  }
  const isInOtherUnit = (value: string): boolean =>
    unit !== null &&
    sameIn(unit).some(([other, factor]) =>
      (numbers.get(String(Number(value) * factor)) ?? []).some((place) => unitOf(place) === other),
    )
  // Amounts may be given in whole cents, or be said in them.
  const isPartOfAmount = (value: string): boolean =>
    unit === null &&
    Number(value) < 100 &&
    (numbers.get(String(Number(value) / 100)) ?? []).some((place) => unitOf(place) === 'money')
  const cents = (/[.,]\d{2}$/.test(written) ? readings : []).map((value) => Math.round(Number(value) * 100))
  const hours = isAfternoon(text, at + written.length)
    ? readings.map((value) => String(Number(value) + 12))
    : []
  return (
    written === '1' ||
    [...readings, ...hours].some(isIn) ||
    readings.some(isInOtherUnit) ||
    readings.some(isPartOfAmount) ||
    daysOfPoint(written).some((day) => days().has(day)) ||
    cents.some((value) => value >= 1_000 && numbers.has(String(value)))
  )
}

const isAfternoon = (text: string, at: number): boolean => /^\s?p\.?m\b/i.test(text.slice(at, at + 5))

/** Numbers or times with a dash between them. */
const RANGE = /^\(?\d{1,3}(?:\.\d{2,3})+\s?\p{Pd}\s?\d{1,3}(?:\.\d{2,3})+$/u
const GROUPED = /^\(?[1-9]\d{0,2}(?:[ \u00a0\u202f.]\d{3})+$/

/** Returns null when what looks like a phone number may be something else. */
function phoneIsGiven(written: string, { digits }: Evidence): boolean | null {
  const number = written.replace(/\D/g, '')
  if (number.length < MIN_PHONE || RANGE.test(written) || GROUPED.test(written)) return null
  if (nationalNumbers(written, number).some((one) => digits().includes(one))) return true
  const isPhone = /^[+(0]/.test(written) || written.split(/[^\d]+/).length > 2
  return isPhone ? false : null
}

/** A number may be given without its country's code, which has one to three digits, or without the zero in its place. */
const nationalNumbers = (written: string, number: string): string[] =>
  [
    number,
    number.replace(/^0+/, ''),
    ...(/^(?:\+|00)/.test(written) ? [1, 2, 3].map((code) => number.replace(/^00/, '').slice(code)) : []),
  ].filter(({ length }) => length >= MIN_PHONE)

/** Returns the hours and minutes that a time may mean, in both halves of the day. */
function timesOf(written: string): string[] {
  const [hour = 0, minute = 0] = (written.match(/\d+/g) ?? []).map(Number)
  return [hour, hour + 12, hour - 12].filter((one) => one >= 0 && one <= 24).map((one) => `${one}:${minute}`)
}

function isHourGiven(written: string, { numbers }: Evidence): boolean {
  const [hour = 0, minute = 0] = (written.match(/\d+/g) ?? []).map(Number)
  return minute === 0 && [hour, hour + 12, hour - 12].some((one) => numbers.has(String(one)))
}

const trimmed = (value: string): string => value.replace(/[.,;:!?*_~]+$/, '')

/** Returns an address without its scheme, `www.` and what follows it in a sentence. */
const canonicalUrl = (url: string): string =>
  trimmed(url)
    .toLowerCase()
    .replace(/^https?:\/\//, '')
    .replace(/^www\./, '')
    .replace(/\/$/, '')

const blank = (text: string): string => ' '.repeat(text.length)

const blanked = (text: string, { at, text: found }: FoundDate): string =>
  text.slice(0, at) + blank(found) + text.slice(at + found.length)

function unique(values: readonly Ungrounded[]): Ungrounded[] {
  return [...new Map(values.map((value) => [`${value.kind} ${value.text}`, value])).values()]
}

/** Units that numbers in answers of companies usually have. `percent` is one of them. */
const UNITS = [
  ...(['second', 'minute', 'hour', 'day', 'week', 'month', 'year', 'percent', 'celsius'] as const),
  ...(['millimeter', 'centimeter', 'meter', 'kilometer', 'gram', 'kilogram', 'milliliter', 'liter'] as const),
  ...(['kilobyte', 'megabyte', 'gigabyte'] as const),
]
type Unit = (typeof UNITS)[number]

/** What a unit measures, and how many of the smallest unit it has. A month is no number of days. */
const SIZES: Partial<Record<Unit, [kind: string, size: number]>> = {
  second: ['time', 1],
  minute: ['time', 60],
  hour: ['time', 3_600],
  day: ['time', 86_400],
  week: ['time', 604_800],
  month: ['months', 1],
  year: ['months', 12],
  millimeter: ['length', 1],
  centimeter: ['length', 10],
  meter: ['length', 1_000],
  kilometer: ['length', 1_000_000],
  gram: ['mass', 1],
  kilogram: ['mass', 1_000],
  milliliter: ['volume', 1],
  liter: ['volume', 1_000],
}

/** Returns the other units of what a unit measures, each with how many of them it has. */
function sameIn(unit: string): [unit: string, factor: number][] {
  const [kind, size] = SIZES[unit as Unit] ?? []
  if (size === undefined) return []
  return Object.entries(SIZES).flatMap(([other, [of, its]]) =>
    other !== unit && of === kind ? [[other, size / its] as [string, number]] : [],
  )
}

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
function unitAt(text: string, at: number, length: number): string | null {
  const written = WORD_AFTER.exec(text.slice(at + length, at + length + 24))?.[1]
  // A decade is no time, and the code of a currency has capital letters.
  const isDecade = written === 's' && length === 4
  const isWord = /^[a-z]{3}$/i.test(written ?? '') && written !== written?.toUpperCase()
  const word = written?.toLowerCase()
  const after = isDecade || (isWord && names().get(word ?? '') === 'money') ? undefined : word
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
