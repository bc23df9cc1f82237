import type { BusinessHours, Weekday } from '../../platform/db/tables/helpdesk.ts'
import { openZone, type Zone } from './time-zone.ts'

/** The time that counts: all of it, or only business hours. Times are in milliseconds. */
export type BusinessTime = {
  /** Returns the moment after the given amount of it. */
  add(from: number, milliseconds: number): number
  /** Returns the amount of it between two moments, negative when `to` is earlier. */
  between(from: number, to: number): number
}

const MINUTE = 60_000
/** The latest end of a target, whatever the business hours are. */
const MAX_DAYS = 20_000
/** 1970-01-01 was a Thursday. */
const WEEK: Weekday[] = ['thursday', 'friday', 'saturday', 'sunday', 'monday', 'tuesday', 'wednesday']

const AROUND_THE_CLOCK: BusinessTime = {
  add: (from, milliseconds) => from + milliseconds,
  between: (from, to) => to - from,
}

/** With null, every moment counts. */
export function businessTime(hours: BusinessHours | null): BusinessTime {
  if (hours === null) return AROUND_THE_CLOCK
  const zone = openZone(hours.timeZone)
  const week = WEEK.map((day) => openingsOf(hours.days[day] ?? []))
  const holidays = new Set(hours.holidays.map((day) => Date.parse(`${day}T00:00:00Z`) / 86_400_000))
  const openOn = (day: number): [number, number][] => (holidays.has(day) ? [] : spans(zone, week, day))
  const forward = (from: number, to: number): number => {
    let sum = 0
    const last = zone.dayOf(to)
    for (let day = zone.dayOf(from); day <= last; day++) {
      for (const [open, close] of openOn(day)) sum += Math.max(0, Math.min(close, to) - Math.max(open, from))
    }
    return sum
  }
  return {
    add(from, milliseconds) {
      let left = milliseconds
      const first = zone.dayOf(from)
      for (let day = first; day < first + MAX_DAYS; day++) {
        for (const [open, close] of openOn(day)) {
          const start = Math.max(open, from)
          const room = close - start
          if (room <= 0) continue
          if (left <= room) return start + left
          left -= room
        }
      }
      return zone.at(first + MAX_DAYS, 0)
    },
    between: (from, to) => (from <= to ? forward(from, to) : -forward(to, from)),
  }
}

type Opening = { from: number; to: number }

/** Returns the openings in minutes of the day, sorted and merged. */
function openingsOf(day: { from: string; to: string }[]): Opening[] {
  const sorted = day
    .map(({ from, to }) => ({ from: minutesOf(from), to: minutesOf(to) }))
    .sort((a, b) => a.from - b.from)
  const joined: Opening[] = []
  for (const opening of sorted) {
    const last = joined.at(-1)
    if (last && opening.from <= last.to) last.to = Math.max(last.to, opening.to)
    else joined.push(opening)
  }
  return joined
}

export const minutesOf = (clock: string): number => Number(clock.slice(0, 2)) * 60 + Number(clock.slice(3, 5))

const spans = (zone: Zone, week: Opening[][], day: number): [number, number][] =>
  (week[((day % 7) + 7) % 7] ?? []).map(({ from, to }) => [zone.at(day, from), endOf(zone, day, to)])

/** A day ends when the next one begins, because its length varies. */
const endOf = (zone: Zone, day: number, minutes: number): number =>
  minutes === 24 * 60 ? zone.at(day + 1, 0) : zone.at(day, minutes)

/** Openings of a week in minutes. */
export const weeklyMinutes = ({ days }: BusinessHours): number =>
  Object.values(days)
    .flatMap((day) => openingsOf(day))
    .reduce((sum, { from, to }) => sum + (to - from), 0)

export const minutes = (count: number): number => count * MINUTE
