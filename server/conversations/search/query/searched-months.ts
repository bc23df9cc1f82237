import { monthStart, spanOf } from '../../../platform/http/input/dates.ts'

/** The number of months before this one that the search covers (service-api, "Limits"). */
const SEARCHED_MONTHS = 12

export const searchedFrom = (now: Date): Date => monthStart(now, SEARCHED_MONTHS)

/** Returns the problem with a day or time that the search does not cover. */
export function refuseEarly(text: string): string | null {
  const first = searchedFrom(new Date())
  return spanOf(text).from >= first
    ? null
    : `The search covers the last ${SEARCHED_MONTHS} months: the first day is ${first.toISOString().slice(0, 10)}.`
}
