import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { addressBucket } from '../http/address-bucket.ts'
import type { RateLimiter, RateWindow } from '../http/rate-limit.ts'
import { countRequest } from '../http/serve.ts'

const QUARTER = 15 * 60_000
/** A house behind one address signs in within this; a machine that guesses gets nowhere. */
const PER_ADDRESS: RateWindow = { limit: 60, windowMs: QUARTER }
const PER_NAME: RateWindow = { limit: 20, windowMs: QUARTER }

/** Counts an attempt to get in, by where it comes from and by whom it is for; RATE_LIMIT_TOO_MANY_REQUESTS. */
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
