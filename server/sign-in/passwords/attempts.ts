import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { addressBucket } from '../../http/limits/address-bucket.ts'
import type { RateLimiter, RateWindow } from '../../http/limits/rate-limit.ts'
import { countRequest } from '../../http/server/gate.ts'

const QUARTER = 15 * 60_000
/** Enough for everybody who shares an address to sign in, and far too few to guess a password. */
const PER_ADDRESS: RateWindow = { limit: 60, windowMs: QUARTER }
const PER_NAME: RateWindow = { limit: 20, windowMs: QUARTER }

/**
 * Counts a sign-in attempt against the client's address and, if given, against the name it is for. Throws
 * RATE_LIMIT_TOO_MANY_REQUESTS.
 */
export async function countAttempt(
  limiter: RateLimiter,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  name?: string,
): Promise<void> {
  await countRequest(reply, limiter, `sign-in from ${addressBucket(request.ip)}`, PER_ADDRESS)
  if (name === undefined) return
  const hash = createHash('sha256').update(name.trim().toLowerCase()).digest('base64url')
  await countRequest(reply, limiter, `sign-in as ${hash}`, PER_NAME)
}
