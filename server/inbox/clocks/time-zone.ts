/** Converts between instants and local days in one time zone. */
export type Zone = {
  /** Returns the local day of an instant, counted from 1970-01-01. */
  dayOf(time: number): number
  /**
   * Returns the instant at which the local clock shows this many minutes of the day. For a time that is skipped by a
   * clock change it is the moment of the change, and for a repeated time the first of both.
   */
  at(day: number, minutes: number): number
}

const MINUTE = 60_000
const DAY = 86_400_000

/** Returns whether the system knows a zone of this name. */
export function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

export function openZone(name: string): Zone {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: name,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  /** Returns the local time as if it were UTC. */
  const wallAt = (time: number): number => {
    const seen: Record<string, number> = {}
    for (const { type, value } of format.formatToParts(time)) seen[type] = Number(value)
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = seen
    return Date.UTC(year, month - 1, day, hour, minute, second) + (((time % 1_000) + 1_000) % 1_000)
  }
  return {
    dayOf: (time) => Math.floor(wallAt(time) / DAY),
    at(day, minutes) {
      const wall = day * DAY + minutes * MINUTE
      // A clock changes at most once within two days, so these are the offsets before and after the change.
      const before = wallAt(wall - DAY) - (wall - DAY)
      const after = wallAt(wall + DAY) - (wall + DAY)
      const early = wall - Math.max(before, after)
      if (wallAt(early) === wall) return early
      const late = wall - Math.min(before, after)
      if (wallAt(late) === wall) return late
      return changeBetween(early, late, wall)
    },
  }

  /** Returns the first moment that shows `wall` or later. */
  function changeBetween(from: number, to: number, wall: number): number {
    let [low, high] = [from, to]
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2)
      if (wallAt(middle) >= wall) high = middle
      else low = middle
    }
    return high
  }
}
