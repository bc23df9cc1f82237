/** Local days and their beginnings in one time zone. */
export type Zone = {
  /** The local day of an instant, counted from 1970-01-01. */
  dayOf(time: number): number
  /**
   * The instant at which the local day's clock shows so many minutes. What a change of the clock leaves out is the
   * moment of the change; what it gives twice is the first of both.
   */
  at(day: number, minutes: number): number
}

const MINUTE = 60_000
const DAY = 86_400_000

/** Whether the system knows the zone by this name. */
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
  /** What the clock on the wall shows, as if it were UTC. */
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
      // No change of a clock is further away than a day, so these are the offsets before and after it.
      const before = wallAt(wall - DAY) - (wall - DAY)
      const after = wallAt(wall + DAY) - (wall + DAY)
      const early = wall - Math.max(before, after)
      if (wallAt(early) === wall) return early
      const late = wall - Math.min(before, after)
      if (wallAt(late) === wall) return late
      return changeBetween(early, late, wall)
    },
  }

  /** The first moment that shows `wall` or later. */
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
