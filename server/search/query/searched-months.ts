import { monthStart, spanOf } from '../../http/input/dates.ts'

/** What is searched begins with the month so long before this one (service-api, "Limits"). */
const SEARCHED_MONTHS = 12

export const searchedFrom = (now: Date): Date => monthStart(now, SEARCHED_MONTHS)

/** Says of a day or time that the search does not reach back to it. */
export function refuseEarly(text: string): string | null {
  const first = searchedFrom(new Date())
  return spanOf(text).from >= first
    ? null
    : `The search covers the last ${SEARCHED_MONTHS} months: the first day is ${first.toISOString().slice(0, 10)}.`
}
