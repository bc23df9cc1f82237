/** The answer to one request: `resetAt` (epoch ms) is when the oldest counted request leaves the window. */
export type RateDecision = { allowed: boolean; remaining: number; resetAt: number }

/** Counts requests of a bucket in an exact sliding window; refused requests do not count. */
export type RateLimiter = {
  readonly limit: number
  take(bucket: string): RateDecision | Promise<RateDecision>
  /** What `take` would say, without counting. */
  peek(bucket: string): RateDecision | Promise<RateDecision>
  close(): void | Promise<void>
}

export const LIMIT = 100
export const WINDOW_MS = 10_000

type Options = { limit?: number; windowMs?: number; now?: () => number }

/** For one process: a ring of the last `limit` times for each bucket. */
export function memoryRateLimiter({
  limit = LIMIT,
  windowMs = WINDOW_MS,
  now = Date.now,
}: Options = {}): RateLimiter {
  const buckets = new Map<string, number[]>()
  const sweep = setInterval(() => {
    const oldest = now() - windowMs
    for (const [bucket, times] of buckets) if ((times.at(-1) ?? 0) <= oldest) buckets.delete(bucket)
  }, windowMs)
  sweep.unref()

  const current = (bucket: string, time: number): number[] => {
    const times = buckets.get(bucket) ?? []
    const firstInside = times.findIndex((at) => at > time - windowMs)
    if (firstInside !== 0) times.splice(0, firstInside === -1 ? times.length : firstInside)
    return times
  }

  const decision = (allowed: boolean, times: number[], time: number): RateDecision => ({
    allowed,
    remaining: limit - times.length,
    resetAt: (times[0] ?? time) + windowMs,
  })

  return {
    limit,
    take(bucket) {
      const time = now()
      const times = current(bucket, time)
      const allowed = times.length < limit
      if (allowed) {
        times.push(time)
        buckets.set(bucket, times)
      }
      return decision(allowed, times, time)
    },
    peek(bucket) {
      const time = now()
      const times = current(bucket, time)
      return decision(times.length < limit, times, time)
    },
    close: () => clearInterval(sweep),
  }
}
