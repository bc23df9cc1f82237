import { ApiError } from '../errors.ts'

const DAY = /^(\d{4})-(\d{2})-(\d{2})$/
const TIME = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?([Zz]|[+-]\d{2}:?\d{2})?$/
const DAY_MS = 86_400_000
/** The range of years that JavaScript and PostgreSQL both write with four digits, with a day to spare at either end. */
const FIRST = Date.parse('0001-01-02T00:00:00.000Z')
const LAST = Date.parse('9999-12-30T23:59:59.999Z')

export type DateRange = { from: Date | null; until: Date | null }

/**
 * Reads `startDate` and `endDate` (a UTC day or an ISO 8601 time; without an offset it is UTC). `until` is
 * inclusive to the millisecond: a day ends with it, and a time given in whole seconds covers its second, as
 * times are shown in seconds. Both are texts that isDate() takes. Throws VALIDATION_INVALID_DATE_RANGE.
 */
export function readDateRange(query: { startDate?: string; endDate?: string }): DateRange {
  const start = query.startDate === undefined ? null : spanOf(query.startDate)
  const end = query.endDate === undefined ? null : spanOf(query.endDate)
  if (start && end && start.from > end.until) throw new ApiError('VALIDATION_INVALID_DATE_RANGE')
  return { from: start?.from ?? null, until: end?.until ?? null }
}

/**
 * Returns the span of a day or time that isDate() accepts; `until` is inclusive. Times outside of the supported
 * years become the ends of the range, because nothing is older or newer.
 */
export function spanOf(text: string): { from: Date; until: Date } {
  const from = parseDate(text)
  if (!from) throw new RangeError(`${text} is not a date.`)
  const span = DAY.test(text) ? DAY_MS : text.includes('.') ? 1 : 1000
  return { from: bounded(from.getTime()), until: bounded(from.getTime() + span - 1) }
}

const bounded = (time: number): Date => new Date(Math.min(Math.max(time, FIRST), LAST))

/** Returns the first instant, in UTC, of the month that is this many months ago. */
export const monthStart = (now: Date, monthsBack: number): Date =>
  new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - monthsBack, 1))

/** Returns whether the text is a day or an ISO 8601 time. */
export const isDate = (text: string): boolean => parseDate(text) !== null

function parseDate(text: string): Date | null {
  const isDay = DAY.test(text)
  if (!isDay && !TIME.test(text)) return null
  const from = new Date(isDay ? `${text}T00:00:00.000Z` : withOffset(text))
  // Date accepts 2026-02-30 as a day in March, so a day must be formatted as it was parsed.
  return Number.isNaN(from.getTime()) || !isRealDay(text.slice(0, 10)) ? null : from
}

const withOffset = (text: string): string =>
  (/([Zz]|[+-]\d{2}:?\d{2})$/.test(text) ? text : `${text}Z`).replace(' ', 'T')

function isRealDay(day: string): boolean {
  const time = new Date(`${day}T00:00:00.000Z`)
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(day)
}
