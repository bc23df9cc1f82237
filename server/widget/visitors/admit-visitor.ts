import type { FastifyRequest } from 'fastify'
import type { AgentRow } from '../../agents/records/find-agent.ts'
import type { Context } from '../../context.ts'
import { ApiError } from '../../http/errors.ts'
import { addressBucket } from '../../http/limits/address-bucket.ts'
import { tooMany } from '../../http/server/gate.ts'
import type { CountryOf } from './country.ts'

type Needs = Pick<Context, 'limiter'>
type Rules = Pick<AgentRow, 'id' | 'blocked_countries' | 'ip_rate_limits'>

/**
 * Applies the owner's settings for visitors: the blocked countries, and the rate limit per address. Returns the
 * visitor's country. Throws VISITOR_NOT_SERVED, and RATE_LIMIT_TOO_MANY_REQUESTS with the owner's message.
 */
export async function admitVisitor(
  { limiter }: Needs,
  { id, blocked_countries, ip_rate_limits: { limit, timeframe, message } }: Rules,
  request: FastifyRequest,
  countryOf: CountryOf,
): Promise<string | null> {
  const country = refuseCountry({ blocked_countries }, request, countryOf)
  const decision = await limiter.take(`visitor ${id} ${addressBucket(request.ip)}`, {
    limit,
    windowMs: timeframe * 1_000,
  })
  if (!decision.allowed) throw tooMany(decision, message)
  return country
}

/** Throws VISITOR_NOT_SERVED for a country that the owner has blocked; returns the visitor's country. */
export function refuseCountry(
  { blocked_countries }: Pick<Rules, 'blocked_countries'>,
  request: FastifyRequest,
  countryOf: CountryOf,
): string | null {
  const country = countryOf(request)
  if (country !== null && blocked_countries?.includes(country)) throw new ApiError('VISITOR_NOT_SERVED')
  return country
}

/** Every page that a visitor opens sends a token, so tokens are counted separately from messages. */
const IDENTITIES = { limit: 300, windowMs: 10 * 60 * 1_000 }

/** Throws RATE_LIMIT_TOO_MANY_REQUESTS. */
export async function countIdentity(
  { limiter }: Needs,
  { id }: Pick<Rules, 'id'>,
  { ip }: Pick<FastifyRequest, 'ip'>,
): Promise<void> {
  const decision = await limiter.take(`visitor identities ${id} ${addressBucket(ip)}`, IDENTITIES)
  if (!decision.allowed) throw tooMany(decision)
}
