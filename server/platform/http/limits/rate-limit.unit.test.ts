import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { LIMIT, memoryRateLimiter, WINDOW_MS } from './rate-limit.ts'

test('exactly 100 requests pass in any ten seconds', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 150, maxLength: 600 }), (gaps) => {
      let now = 1_000_000
      const limiter = memoryRateLimiter({ now: () => now, clock: () => now })
      const asked: number[] = []
      const passed: number[] = []
      for (const gap of gaps) {
        now += gap
        asked.push(now)
        const { allowed, remaining, resetAt } = limiter.take('key') as {
          allowed: boolean
          remaining: number
          resetAt: number
        }
        const inWindow = passed.filter((at) => at > now - WINDOW_MS).length
        // A slow reference implementation: a request passes if fewer than 100 passed in the ten seconds before.
        assert.equal(allowed, inWindow < LIMIT)
        if (allowed) passed.push(now)
        const counted = passed.filter((at) => at > now - WINDOW_MS)
        assert.equal(remaining, LIMIT - counted.length)
        assert.equal(resetAt, counted[0]! + WINDOW_MS)
      }
      for (const end of asked) {
        const window = passed.filter((at) => at > end - WINDOW_MS && at <= end).length
        assert.ok(window <= LIMIT)
      }
      limiter.close()
    }),
    { numRuns: 200 },
  )
})

test('buckets are independent, and reading does not count', () => {
  const limiter = memoryRateLimiter({ now: () => 5, clock: () => 5 })
  for (let i = 0; i < LIMIT; i++) limiter.take('a')
  assert.deepEqual(limiter.take('a'), { allowed: false, remaining: 0, resetAt: 10_005 })
  assert.deepEqual(limiter.peek('b'), { allowed: true, remaining: LIMIT, resetAt: 10_005 })
  assert.deepEqual(limiter.peek('b'), { allowed: true, remaining: LIMIT, resetAt: 10_005 })
  limiter.close()
})

test('a bucket may have its own window and a changing limit', () => {
  let now = 0
  const limiter = memoryRateLimiter({ now: () => now, clock: () => now })
  const take = (limit: number) => limiter.take('a', { limit, windowMs: 60_000 })
  assert.deepEqual(take(2), { allowed: true, remaining: 1, resetAt: 60_000 })
  now = 30_000
  assert.deepEqual(take(2), { allowed: true, remaining: 0, resetAt: 60_000 })
  assert.deepEqual(take(1), { allowed: false, remaining: 0, resetAt: 60_000 })
  now = 60_000
  assert.deepEqual(take(2), { allowed: true, remaining: 0, resetAt: 90_000 })
  limiter.close()
})

test('setting the clock back locks nobody out', () => {
  let now = 0
  let clock = 1_000_000
  const limiter = memoryRateLimiter({ now: () => now, clock: () => clock })
  for (let i = 0; i < LIMIT; i++) limiter.take('a')
  clock = 1_000
  now = WINDOW_MS / 2
  assert.deepEqual(limiter.take('a'), { allowed: false, remaining: 0, resetAt: 1_000 + WINDOW_MS / 2 })
  now = WINDOW_MS
  assert.equal((limiter.take('a') as { allowed: boolean }).allowed, true)
  limiter.close()
})
