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
const AFTER = /^[ \u00a0\u202f]?(\p{L}+\.?)(?: (\p{L}+))?/u
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
    // What follows adds to it, as in 1万5000 and 2만 5천.
    const [sign = '', more] = scale === null ? [] : (/^[^\d\s]{1,2}\s?(\d+)/.exec(rest) ?? [])
    if (more !== undefined) {
      const after = index + written.length + sign.length
      until = after
      const times = scaleIn(text.slice(after, after + LONGEST_NAME)) ?? 1
      scaled.push(...scaled.map((value) => plain(Number(value) + Number(more) * times)))
    }
    return [{ text: written, at: index, readings: [...new Set(scaled)] }]
  })
}

function scaleIn(rest: string): number | null {
  const [, word, next] = AFTER.exec(rest.toLowerCase()) ?? []
  if (word === undefined) return null
  const two = scales().get(`${word} ${next}`)
  if (two !== undefined) return two
  const name = word
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

/** A day of a month, as `month-day`. */
type Day = string

const dayOf = (month: number, day: number): Day[] =>
  month >= 1 && month <= 12 && day >= 1 && day <= 31 ? [`${month}-${day}`] : []

/** The names of the months, also shortened and inflected, with their numbers. */
const months = lazy(() => {
  const names = new Map<string, number>()
  for (const locale of LOCALES)
    for (const month of ['long', 'short'] as const)
      for (const options of [{ month }, { month, day: 'numeric' }] satisfies Intl.DateTimeFormatOptions[]) {
        const format = new Intl.DateTimeFormat(`${locale}-u-ca-gregory`, { ...options, timeZone: 'UTC' })
        for (let number = 1; number <= 12; number++) {
          const parts = format.formatToParts(new Date(Date.UTC(2026, number - 1, 15)))
          const name = parts.find(({ type }) => type === 'month')?.value
          if (name) names.set(plainName(name), number)
        }
      }
  return names
})

const plainName = (name: string): string => withPlainDigits(name).toLowerCase().replace(/\.$/, '')

const WORD = /\d{1,2}\s?[月월]|\p{L}[\p{L}\p{M}]{2,15}/gu

type Month = { at: number; text: string; month: number }

const monthsIn = (text: string): Month[] =>
  [...text.matchAll(WORD)].flatMap(({ 0: name, index }) => {
    const month = monthOf(name.toLowerCase().replace(' ', ''))
    return month === undefined ? [] : [{ at: index, text: name, month }]
  })

/** Some languages have more endings than those in a date. */
const monthOf = (name: string): number | undefined =>
  months().get(name) ?? (name.length > 5 ? months().get(name.slice(0, -1)) : undefined)

/** Matches dates of numbers: 2026-11-22, 22.11.2026, 22.11., 22/11 and 11月22日. */
const YEAR_FIRST = /(?<!\d)\d{4}[-/.年]\s?(\d{1,2})[-/.月]\s?(\d{1,2})(?!\d)/g
const DAY_AND_MONTH =
  /(?<![\d.,/-])(\d{1,2})(?:([./-])(\d{1,2})\2(?:\d{4}|\d{2})(?!\d)|\.\s?(\d{1,2})\.(?![\d])|\/(\d{1,2})(?![\d]|[.,/]\d))/g

export type FoundDate = { at: number; text: string; days: Day[]; isCertain: boolean }

function datesOfNumbers(text: string): FoundDate[] {
  const iso = [...text.matchAll(YEAR_FIRST)].map(({ 0: found, 1: month, 2: day, index }) => ({
    at: index,
    text: found,
    days: dayOf(Number(month), Number(day)),
    isCertain: true,
  }))
  const others = [...text.matchAll(DAY_AND_MONTH)].map(({ 0: found, 1: a, 3: b, 4: c, 5: d, index }) => {
    const other = Number(b ?? c ?? d)
    const days = [...dayOf(other, Number(a)), ...dayOf(Number(a), other)]
    return { at: index, text: found, days, isCertain: /\d{4}$/.test(found) }
  })
  return [...iso, ...others].filter(({ days }) => days.length > 0)
}

/** A number with a point may be a day and its month. */
export const daysOfPoint = (written: string): Day[] => {
  const [, day, month] = /^(\d{1,2})\.(\d{1,2})$/.exec(written) ?? []
  return day === undefined ? [] : dayOf(Number(month), Number(day))
}

const DAY_BEFORE = /(?<!\d)(\d{1,2})[^\d\n]{0,7}$/u
/** Where months are numbered, a sign follows the day. */
const NUMBERED_DAY = /^\s?(\d{1,2})\s?[日일号號]/u
const DAY_AFTER = /^[^\d\n]{0,5}(\d{1,2})(?![\d:])/u

/** Returns the dates that a text names, each with the days that it may mean. */
export function datesIn(text: string): FoundDate[] {
  const named = monthsIn(text).flatMap(({ at, text: name, month }): FoundDate[] => {
    const isNumbered = /^\d/.test(name)
    const before = isNumbered ? null : DAY_BEFORE.exec(text.slice(Math.max(0, at - 10), at))
    const after = (isNumbered ? NUMBERED_DAY : DAY_AFTER).exec(
      text.slice(at + name.length, at + name.length + 8),
    )
    const isCertain = name.length > 3 || /\p{sc=Han}|\p{sc=Hangul}/u.test(name)
    if (before) {
      const start = at - before[0].length
      return [
        {
          at: start,
          text: text.slice(start, at + name.length),
          days: dayOf(month, Number(before[1])),
          isCertain,
        },
      ]
    }
    if (!after) return []
    const found = text.slice(at, at + name.length + after[0].length)
    return [{ at, text: found, days: dayOf(month, Number(after[1])), isCertain }]
  })
  return [...datesOfNumbers(text), ...named].filter(({ days }) => days.length > 0)
}

const NEAR_BEFORE = 40
const NEAR_AFTER = 40

/**
 * Returns the days that a text may name. The name of a month goes with each number near it, because a range names it
 * once.
 */
export function daysIn(text: string): Set<Day> {
  const days = new Set(datesOfNumbers(text).flatMap((date) => date.days))
  for (const [written] of text.matchAll(/(?<![\d.,])\d{1,2}\.\d{1,2}(?![\d.,]*\d)/g))
    for (const day of daysOfPoint(written)) days.add(day)
  for (const { at, text: name, month } of monthsIn(text)) {
    const before =
      text
        .slice(Math.max(0, at - NEAR_BEFORE), at)
        .split('\n')
        .at(-1) ?? ''
    const after = text.slice(at + name.length, at + name.length + NEAR_AFTER).split('\n')[0] ?? ''
    for (const [day] of `${before} ${after}`.matchAll(/(?<!\d)\d{1,2}(?!\d)/g))
      for (const one of dayOf(month, Number(day))) days.add(one)
  }
  return days
}
