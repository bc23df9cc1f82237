import { ApiError, invalidField } from './errors.ts'

const DAY = /^(\d{4})-(\d{2})-(\d{2})$/
const TIME = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?([Zz]|[+-]\d{2}:?\d{2})?$/
const DAY_MS = 86_400_000

export type DateRange = { from: Date | null; until: Date | null }

/**
 * Reads `startDate` and `endDate` (a UTC day or an ISO 8601 time; without an offset it is UTC). `until` is
 * inclusive to the millisecond: a day ends with it, and a time given in whole seconds covers its second, as
 * times are shown in seconds. Throws VALIDATION_INVALID_BODY or VALIDATION_INVALID_DATE_RANGE.
 */
export function readDateRange(query: { startDate?: string; endDate?: string }): DateRange {
  const start = query.startDate === undefined ? null : readDate('startDate', query.startDate)
  const end = query.endDate === undefined ? null : readDate('endDate', query.endDate)
  if (start && end && start.from > end.until) throw new ApiError('VALIDATION_INVALID_DATE_RANGE')
  return { from: start?.from ?? null, until: end?.until ?? null }
}

/** What a day or a time spans; `until` is inclusive. Throws VALIDATION_INVALID_BODY for the field. */
export function readDate(field: string, text: string): { from: Date; until: Date } {
  const from = parseDate(text)
  if (!from) throw invalidField(field, 'Must be a day as YYYY-MM-DD or an ISO 8601 date-time.')
  const span = DAY.test(text) ? DAY_MS : text.includes('.') ? 1 : 1000
  return { from, until: new Date(from.getTime() + span - 1) }
}

/** Whether the text is a day or an ISO 8601 time. */
export const isDate = (text: string): boolean => parseDate(text) !== null

function parseDate(text: string): Date | null {
  const isDay = DAY.test(text)
  if (!isDay && !TIME.test(text)) return null
  const from = new Date(isDay ? `${text}T00:00:00.000Z` : withOffset(text))
  // Date accepts 2026-02-30 and means March: a day that does not come back as it was is none.
  return Number.isNaN(from.getTime()) || !isRealDay(text.slice(0, 10)) ? null : from
}

const withOffset = (text: string): string =>
  (/([Zz]|[+-]\d{2}:?\d{2})$/.test(text) ? text : `${text}Z`).replace(' ', 'T')

function isRealDay(day: string): boolean {
  const time = new Date(`${day}T00:00:00.000Z`)
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(day)
}
