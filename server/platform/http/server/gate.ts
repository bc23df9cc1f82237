import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Selectable } from 'kysely'
import { withUnknownTenant } from '../../db/connections/lanes.ts'
import type { Db } from '../../db/database.ts'
import { readSetting, writeSetting } from '../../db/settings.ts'
import type { AgentsTable } from '../../db/tables/agents.ts'
import { tenantOf } from '../bodies/admit-bodies.ts'
import type { Endpoint, Scope } from '../contract.ts'
import { ApiError, type Changed } from '../errors.ts'
import type { RateDecision, RateLimiter, RateWindow } from '../limits/rate-limit.ts'
import type { Caller } from '../route.ts'

/** The checks before every handler, in the order of the contract. */
export type Gate = {
  refuseDuringMaintenance(): Promise<void>
  authenticate(request: FastifyRequest, beforeStranger?: () => Promise<void>): Promise<Caller>
  authorize(caller: Caller, scope: Scope): void
  limiter: RateLimiter
  /** Returns the rate limit of the caller; undefined means the default of the limiter. */
  windowOf(caller: Caller): RateWindow | undefined
  /** Returns the agent that a path names, locked in the transaction if `lock` says so, or throws AGENT_NOT_FOUND. */
  findAgent(db: Db, caller: Caller, agentId: string, lock?: 'update'): Promise<Selectable<AgentsTable>>
  /** Returns who made the last change that the audit log has under this action, and when; null when it has none. */
  lastChange(
    db: Db,
    caller: Caller,
    action: string,
    agentId: string,
  ): Promise<Omit<Changed, 'current'> | null>
  /** Writes an audit entry for a request before it runs, and resolves to a function that removes the entry. */
  note(
    db: Db,
    caller: Caller,
    action: string,
    request: FastifyRequest,
    before?: unknown,
  ): Promise<() => Promise<void>>
}

/** Identifies the caller of an endpoint that needs a key, and counts and checks the request. */
export async function passGate(request: FastifyRequest, reply: FastifyReply, gate: Gate): Promise<void> {
  const endpoint = request.routeOptions.config.endpoint
  if (!endpoint || endpoint.scope === null) return
  await gate.refuseDuringMaintenance()
  let caller: Caller
  try {
    // The caller's account is not known yet. Few callers are unknown at a time; see refuseFlood.
    caller = await withUnknownTenant(request.headers.authorization ?? tenantOf(request), () =>
      gate.authenticate(request, () => refuseFlood(request, reply, gate.limiter)),
    )
  } catch (error) {
    // A request without a valid key can be counted only against its address.
    if (error instanceof ApiError && error.status === 401) await countRequest(reply, gate.limiter, request.ip)
    throw error
  }
  const { key, member } = caller
  const bucket = key ? `${key.id} ${request.ip}` : `member ${member?.id}`
  await countRequest(reply, gate.limiter, bucket, gate.windowOf(caller))
  gate.authorize(caller, endpoint.scope)
  if (endpoint.onlySessions && !member)
    throw new ApiError('AUTH_INSUFFICIENT_PERMISSIONS', {
      message: 'This endpoint is for signed-in members, not for API keys.',
    })
  request.caller = caller
}

/**
 * Throws when the address has used up its limit with refused requests, so that the database is not asked about yet
 * another key.
 */
async function refuseFlood({ ip }: FastifyRequest, reply: FastifyReply, limiter: RateLimiter): Promise<void> {
  const decision = await limiter.peek(ip)
  if (decision.allowed) return
  setRateHeaders(reply, limiter.limit, decision)
  throw tooMany(decision)
}

/**
 * Counts a request against the service's rate limit, or against `window`. Throws RATE_LIMIT_TOO_MANY_REQUESTS beyond
 * it.
 */
export async function countRequest(
  reply: FastifyReply,
  limiter: RateLimiter,
  bucket: string,
  window?: RateWindow,
): Promise<void> {
  const decision = await limiter.take(bucket, window)
  setRateHeaders(reply, window?.limit ?? limiter.limit, decision)
  if (!decision.allowed) throw tooMany(decision)
}

/** Returns the error for a rate limit, with a Retry-After header. */
export function tooMany({ resetAt }: RateDecision, message?: string): ApiError {
  const seconds = Math.max(1, Math.ceil((resetAt - Date.now()) / 1000))
  return new ApiError('RATE_LIMIT_TOO_MANY_REQUESTS', {
    headers: { 'retry-after': String(seconds) },
    ...(message === undefined ? {} : { message }),
  })
}

export function setRateHeaders(reply: FastifyReply, limit: number, decision: RateDecision): void {
  reply.header('x-ratelimit-limit', limit)
  reply.header('x-ratelimit-remaining', decision.remaining)
  reply.header('x-ratelimit-reset', decision.resetAt)
}

/** Throws when a member who is limited to some agents asks for something that is not about one of them. */
export function confine(caller: Caller | null, endpoint: Endpoint, agentId: string | undefined): void {
  const agentIds = caller?.member?.agentIds
  if (!agentIds) return
  if (agentId !== undefined && !agentIds.includes(agentId)) throw new ApiError('AGENT_NOT_FOUND')
  if (endpoint.limitedMembers === 'all') return
  if (agentId === undefined || endpoint.limitedMembers === 'none')
    throw new ApiError('AUTH_INSUFFICIENT_PERMISSIONS', {
      message: 'Your membership is limited to some agents, and this request concerns the whole account.',
    })
}

const MAINTENANCE = 'maintenance'
const FRESH_MS = 500

export type Maintenance = {
  /** Throws SERVICE_UNDER_MAINTENANCE while the switch is on. */
  refuse(): Promise<void>
  set(on: boolean): Promise<void>
  isOn(): Promise<boolean>
}

/**
 * Creates the maintenance switch. It is a row, so that it applies to every process, and it is read again after half a
 * second. While the database cannot be reached, as may happen during maintenance, the last value stands.
 */
export function createMaintenance(db: Db): Maintenance {
  let on = false
  let checkedAt = Number.NEGATIVE_INFINITY
  let checking: Promise<void> | null = null

  const check = async (): Promise<void> => {
    try {
      on = (await readSetting(db, MAINTENANCE)) === true
    } catch {
      // The queries of the request will report the problem.
    }
    checkedAt = performance.now()
    checking = null
  }
  const refresh = async (): Promise<void> => {
    if (performance.now() - checkedAt < FRESH_MS) return
    checking ??= check()
    await checking
  }

  return {
    async refuse() {
      await refresh()
      if (on) throw new ApiError('SERVICE_UNDER_MAINTENANCE')
    },
    async set(next) {
      await writeSetting(db, MAINTENANCE, next)
      on = next
      checkedAt = performance.now()
    },
    async isOn() {
      await check()
      return on
    },
  }
}
