const numbers = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 })
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'narrow' })
const whole = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
/** The service sends days as YYYY-MM-DD, which JavaScript parses as midnight UTC. */
const date = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' })
const day = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' })

export const formatNumber = (value: number): string => numbers.format(value)

export function formatBytes(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`
  if (bytes < 1_000_000) return `${numbers.format(bytes / 1_000)} KB`
  return `${numbers.format(bytes / 1_000_000)} MB`
}

const money = { style: 'currency', currency: 'USD' } as const
const inCents = new Intl.NumberFormat(undefined, money)
const small = new Intl.NumberFormat(undefined, { ...money, maximumSignificantDigits: 2 })

/** Formats US dollars, of which a text may cost less than a thousandth. */
export const formatDollars = (dollars: number | null): string =>
  dollars === null
    ? 'not known'
    : dollars > 0 && dollars < 0.0001
      ? 'under $0.0001'
      : (dollars < 0.1 && dollars > 0 ? small : inCents).format(dollars)

export const formatShare = (share: number | null): string =>
  share === null ? '–' : `${Math.round(share * 100)}%`

/** Parses a time from the service, which is either an ISO 8601 string or in Unix seconds. */
export const dateOf = (time: string | number): Date => new Date(typeof time === 'number' ? time * 1000 : time)

export const formatTime = (time: string | number): string => whole.format(dateOf(time))

export const formatDay = (time: string): string => date.format(new Date(time))

const STEPS = [
  [60, 'second', 1],
  [3_600, 'minute', 60],
  [86_400, 'hour', 3_600],
  [7 * 86_400, 'day', 86_400],
] as const

/** Says how long ago a time was, or how far ahead it is. */
export function formatAgo(time: string | number): string {
  const seconds = (Date.now() - dateOf(time).getTime()) / 1000
  if (Math.abs(seconds) < 45) return 'now'
  for (const [below, unit, size] of STEPS) {
    if (Math.abs(seconds) < below) return relative.format(-Math.round(seconds / size), unit)
  }
  return day.format(dateOf(time))
}

/** Says how much time has passed since a time, in its largest unit; null: less than a minute. */
export function formatPassed(time: string): string | null {
  const seconds = (Date.now() - Date.parse(time)) / 1_000
  const [unit, size] = seconds < 3_600 ? ['minute', 60] : seconds < 86_400 ? ['hour', 3_600] : ['day', 86_400]
  const passed = Math.floor(seconds / Number(size))
  const format = new Intl.NumberFormat(undefined, {
    style: 'unit',
    unit: String(unit),
    unitDisplay: 'narrow',
  })
  return passed < 1 ? null : format.format(passed)
}

export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${formatNumber(count)} ${count === 1 ? one : many}`
