import { createClient } from '@redis/client'
import {
  LIMIT,
  memoryRateLimiter,
  type RateDecision,
  type RateLimiter,
  type RateWindow,
  WINDOW_MS,
} from './rate-limit.ts'

const PREFIX = 'parley:rate:'
/** A request does not wait longer than this for the count. */
const ANSWER_MS = 500
/** After a failure, this process counts by itself for this long before it asks the server again. */
const PAUSE_MS = 1_000
const SLOWEST_RECONNECT_MS = 2_000

// One round trip that uses the server's clock, so that processes with different clocks count the same window. Returns
// whether the request passes, how many are left, and the milliseconds until the oldest leaves the window.
const SCRIPT = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local limit, window, counts, nonce = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3] == '1', ARGV[4]
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - window)
local used = redis.call('ZCARD', KEYS[1])
local allowed = used < limit
if allowed and counts then
  redis.call('ZADD', KEYS[1], now, nonce)
  redis.call('PEXPIRE', KEYS[1], window)
  used = used + 1
end
local oldest = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')[2]
return { allowed and 1 or 0, math.max(0, limit - used), oldest and oldest + window - now or window }`

type Options = {
  url: string
  limit?: number
  windowMs?: number
  /** Called once when the server fails, and once with null when it works again. */
  onState: (problem: Error | null) => void
}

/**
 * Creates a rate limiter for several processes, with the same exact sliding window in Redis or Valkey. If that is
 * unavailable, requests are still served and each process counts by itself.
 */
export function redisRateLimiter({
  url,
  limit = LIMIT,
  windowMs = WINDOW_MS,
  onState,
}: Options): RateLimiter {
  const common: RateWindow = { limit, windowMs }
  const local = memoryRateLimiter(common)
  const self = crypto.randomUUID()
  let calls = 0
  let pausedUntil = 0
  let isDown = false
  const note = (problem: Error | null): void => {
    if (isDown !== (problem !== null)) onState(problem)
    isDown = problem !== null
  }

  const client = createClient({
    url,
    disableOfflineQueue: true,
    socket: {
      connectTimeout: 5_000,
      reconnectStrategy: (tries) => Math.min(100 * 2 ** Math.min(tries, 10), SLOWEST_RECONNECT_MS),
    },
  })
  client.on('error', note)
  client.connect().catch(note)

  const ask = async (bucket: string, counts: boolean, window: RateWindow): Promise<RateDecision> => {
    const reply = (await within(
      ANSWER_MS,
      client.eval(SCRIPT, {
        keys: [PREFIX + bucket],
        arguments: [String(window.limit), String(window.windowMs), counts ? '1' : '0', `${self}:${calls++}`],
      }),
    )) as [number, number, number]
    const [allowed, remaining, resetMs] = reply
    return { allowed: allowed === 1, remaining, resetAt: Date.now() + resetMs }
  }

  const decide = async (bucket: string, counts: boolean, window = common): Promise<RateDecision> => {
    if (client.isReady && performance.now() >= pausedUntil) {
      try {
        const decision = await ask(bucket, counts, window)
        note(null)
        return decision
      } catch (error) {
        pausedUntil = performance.now() + PAUSE_MS
        note(error instanceof Error ? error : new Error(String(error)))
      }
    }
    return counts ? local.take(bucket, window) : local.peek(bucket)
  }

  return {
    limit,
    take: (bucket, window) => decide(bucket, true, window),
    peek: (bucket) => decide(bucket, false),
    close() {
      local.close()
      client.destroy()
    },
  }
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
