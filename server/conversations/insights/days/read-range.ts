import { ApiError, invalidField } from '../../../platform/http/errors.ts'

const DAY_MS = 86_400_000
const USUAL_DAYS = 30
const MAX_DAYS = 366
/** PostgreSQL writes earlier years in another format. */
const FIRST_DAY = '0001-01-01'

/**
 * Returns the requested days, first to last (YYYY-MM-DD). Missing bounds result in thirty days, by default up to today
 * (UTC). Throws VALIDATION_INVALID_DATE_RANGE or, for too many days, VALIDATION_INVALID_BODY.
 */
export function readRange(
  { startDate, endDate }: { startDate?: string; endDate?: string },
  now: Date,
): string[] {
  const last =
    endDate ?? (startDate === undefined ? dayOf(now.getTime()) : usualEnd(startDate, dayOf(now.getTime())))
  const from = startDate === undefined ? Date.parse(last) - (USUAL_DAYS - 1) * DAY_MS : Date.parse(startDate)
  if (from < Date.parse(FIRST_DAY)) {
    const field = startDate === undefined ? 'endDate' : 'startDate'
    throw invalidField(field, `The range must not begin before ${FIRST_DAY}.`)
  }
  const days = (Date.parse(last) - from) / DAY_MS + 1
  if (days < 1) throw new ApiError('VALIDATION_INVALID_DATE_RANGE')
  if (days > MAX_DAYS) throw invalidField('startDate', `Must be at most ${MAX_DAYS} days before the end.`)
  return Array.from({ length: days }, (_, i) => dayOf(from + i * DAY_MS))
}

const usualEnd = (first: string, today: string): string => {
  if (first > today) return first
  const end = dayOf(Date.parse(first) + (USUAL_DAYS - 1) * DAY_MS)
  return end > today ? today : end
}

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10)
