import type { FastifyRequest } from 'fastify'
import type { AgentRow } from '../../../agents/records/find-agent.ts'
import type { Context } from '../../../context.ts'
import { ApiError } from '../../../platform/http/errors.ts'
import { addressBucket, type RateWindow, siteBucket } from '../../../platform/http/limits/rate-limit.ts'
import { tooMany } from '../../../platform/http/server/gate.ts'
import type { CountryOf } from './country.ts'

type Deps = Pick<Context, 'limiter' | 'config' | 'log'>
type Rules = Pick<AgentRow, 'id' | 'blocked_countries' | 'ip_rate_limits' | 'credit_limit'>

/** A site with IPv6 may send this many times as many messages as one address. */
const ADDRESSES_OF_SITE = 10
const DAY_MS = 24 * 3_600_000
const HOURLY = { limit: 1, windowMs: 3_600_000 }

/**
 * Applies the owner's settings for visitors: the blocked countries, and the rate limit per address. The messages of all
 * visitors in a day are limited as well, because strangers spend the owner's credits, unless the agent has a credit
 * limit. Returns the visitor's country. Throws VISITOR_NOT_SERVED, and RATE_LIMIT_TOO_MANY_REQUESTS with the owner's
 * message.
 */
export async function admitVisitor(
  { limiter, config, log }: Deps,
  { id, blocked_countries, ip_rate_limits: { limit, timeframe, message }, credit_limit }: Rules,
  request: FastifyRequest,
  countryOf: CountryOf,
): Promise<string | null> {
  const country = refuseCountry({ blocked_countries }, request, countryOf)
  const windowMs = timeframe * 1_000
  const count = async (bucket: string, window: RateWindow): Promise<void> => {
    const decision = await limiter.take(bucket, window)
    if (!decision.allowed) throw tooMany(decision, message)
  }
  await count(`visitor ${id} ${addressBucket(request.ip)}`, { limit, windowMs })
  const site = siteBucket(request.ip)
  if (site !== null) await count(`visitor ${id} ${site}`, { limit: limit * ADDRESSES_OF_SITE, windowMs })
  const perDay = config.visitorMessagesPerDay
  if (credit_limit !== null || perDay === 0) return country
  await count(`visitors ${id}`, { limit: perDay, windowMs: DAY_MS }).catch(async (error: unknown) => {
    const { allowed } = await limiter.take(`visitors ${id} noted`, HOURLY)
    if (allowed)
      log.warn(
        { agentId: id },
        'The visitors of this agent have sent as many messages as VISITOR_MESSAGES_PER_DAY allows. Raise it, or give the agent a creditLimit, which replaces it.',
      )
    throw error
  })
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
  { limiter }: Deps,
  { id }: Pick<Rules, 'id'>,
  { ip }: Pick<FastifyRequest, 'ip'>,
): Promise<void> {
  const decision = await limiter.take(`visitor identities ${id} ${addressBucket(ip)}`, IDENTITIES)
  if (!decision.allowed) throw tooMany(decision)
}
