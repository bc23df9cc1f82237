import ipaddr from 'ipaddr.js'

/** The decision on one request. `resetAt` (epoch milliseconds) is when the oldest counted request leaves the window. */
export type RateDecision = { allowed: boolean; remaining: number; resetAt: number }

/** A rate limit: `limit` requests within `windowMs` milliseconds. */
export type RateWindow = { limit: number; windowMs: number }

/** Counts requests of a bucket in an exact sliding window; refused requests do not count. */
export type RateLimiter = {
  readonly limit: number
  /** A bucket with a `window` of its own must be passed with it every time. */
  take(bucket: string, window?: RateWindow): RateDecision | Promise<RateDecision>
  /** Returns what `take` would, without counting a request. */
  peek(bucket: string): RateDecision | Promise<RateDecision>
  close(): void | Promise<void>
}

export const LIMIT = 100
export const WINDOW_MS = 10_000

type Options = {
  limit?: number
  windowMs?: number
  /** A monotonic clock in milliseconds, because setting the system clock back must not lock anybody out. */
  now?: () => number
  /** The wall clock for `resetAt`, in epoch milliseconds. */
  clock?: () => number
}

/** Creates a rate limiter for a single process, which keeps the times of the last `limit` requests of each bucket. */
export function memoryRateLimiter({
  limit = LIMIT,
  windowMs = WINDOW_MS,
  now = () => performance.now(),
  clock = Date.now,
}: Options = {}): RateLimiter {
  const common: RateWindow = { limit, windowMs }
  const buckets = new Map<string, { times: number[]; windowMs: number }>()
  const sweep = setInterval(() => {
    const time = now()
    for (const [bucket, { times, windowMs: own }] of buckets)
      if ((times.at(-1) ?? 0) <= time - own) buckets.delete(bucket)
  }, windowMs)
  sweep.unref()

  const current = (bucket: string, time: number, { windowMs: own }: RateWindow): number[] => {
    const times = buckets.get(bucket)?.times ?? []
    const firstInside = times.findIndex((at) => at > time - own)
    if (firstInside !== 0) times.splice(0, firstInside === -1 ? times.length : firstInside)
    return times
  }

  const decision = (allowed: boolean, times: number[], time: number, window: RateWindow): RateDecision => ({
    allowed,
    // The limit of an agent may have been lowered meanwhile.
    remaining: Math.max(0, window.limit - times.length),
    resetAt: Math.ceil(clock() + (times[0] ?? time) - time + window.windowMs),
  })

  return {
    limit,
    take(bucket, window = common) {
      const time = now()
      const times = current(bucket, time, window)
      const allowed = times.length < window.limit
      if (allowed) {
        times.push(time)
        buckets.set(bucket, { times, windowMs: window.windowMs })
      }
      return decision(allowed, times, time, window)
    },
    peek(bucket) {
      const time = now()
      const times = current(bucket, time, common)
      return decision(times.length < limit, times, time, common)
    },
    close: () => clearInterval(sweep),
  }
}

/** Many visitors may share one address. The agent limits what one of them may write (ipRateLimits). */
export const VISITS: RateWindow = { limit: 600, windowMs: 10_000 }

/**
 * Returns the bucket of an address. All addresses of a subscriber are one bucket, so an IPv6 address counts by its
 * first half.
 */
export function addressBucket(ip: string): string {
  if (!ipaddr.isValid(ip)) return ip
  return networkOf(ip, 64) ?? ipaddr.process(ip).toString()
}

/**
 * Returns the bucket of the whole site of an IPv6 address: some subscribers have 65,536 of the networks that
 * addressBucket tells apart. Returns null for other addresses.
 */
export const siteBucket = (ip: string): string | null => (ipaddr.isValid(ip) ? networkOf(ip, 48) : null)

function networkOf(ip: string, bits: 48 | 64): string | null {
  const address = ipaddr.process(ip)
  if (address instanceof ipaddr.IPv4) return null
  const parts = address.parts.slice(0, bits / 16)
  return `${parts.map((part) => part.toString(16)).join(':')}::/${bits}`
}
