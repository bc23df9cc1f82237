import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Selectable } from 'kysely'
import { onBehalfOf, onBehalfOfStranger } from '../../db/connections/lanes.ts'
import { DatabaseAway, isUnavailable } from '../../db/connections/unavailable.ts'
import type { Db } from '../../db/database.ts'
import { isPassing } from '../../db/statements/transact.ts'
import type { AgentsTable } from '../../db/tables/agents.ts'
import { holderOf } from '../bodies/admit-bodies.ts'
import type { Form, Uploads } from '../bodies/uploads.ts'
import { type Endpoint, Exact, type Scope } from '../contract.ts'
import { bodyErrors, commonErrors, type ErrorCode, postErrors } from '../error-codes.ts'
import { ApiError } from '../errors.ts'
import { dropEmptyCursor, nameIgnored } from '../input/ignored-fields.ts'
import { bodyValidator, refuseInvalid, textValidator } from '../input/validate.ts'
import type { RateDecision, RateLimiter, RateWindow } from '../limits/rate-limit.ts'
import { answerOnce, checkKey, unrepeatable } from '../once/answer-once.ts'
import { type Asked, type Call, type Caller, type Repeatable, type Route, SENT } from '../route.ts'
import { notFound } from './not-found.ts'
import { responseChecker } from './response-check.ts'

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | null
  }
  interface FastifyContextConfig {
    endpoint?: Endpoint
  }
}

/** The checks before every handler, in the order of the contract. */
export type Gate = {
  refuseDuringMaintenance(): Promise<void>
  authenticate(request: FastifyRequest, beforeStranger?: () => Promise<void>): Promise<Caller>
  authorize(caller: Caller, scope: Scope): void
  limiter: RateLimiter
  /** Returns the rate limit of the caller; undefined means the default of the limiter. */
  windowOf(caller: Caller): RateWindow | undefined
  /** Returns the agent that a path names, or throws AGENT_NOT_FOUND. */
  findAgent(db: Db, caller: Caller, agentId: string): Promise<Selectable<AgentsTable>>
  /** Writes an audit entry for a request before it runs, and resolves to a function that removes the entry. */
  note(db: Db, caller: Caller, action: string, request: FastifyRequest): Promise<() => Promise<void>>
}

type Options = {
  routes: Route[]
  gate: Gate
  /** Where idempotency keys are kept. */
  db: Db
  /** For tests: a response or an error code that the contract does not declare becomes a 500. */
  strict: boolean
  /** The body limit in bytes of endpoints that declare none; default 1 MiB. */
  bodyLimit?: number
  /** Receives the files that endpoints are sent; absent where no endpoint takes files. */
  uploads?: Uploads
  /** Formats the response to an error; by default as version 2 does. */
  present?: PresentError
}

/** Returns the status and the body of the response to an error. */
export type PresentError = (
  error: ApiError,
  endpoint: Endpoint | undefined,
) => { status: number; body: unknown }

/** Registers the route table below the instance's prefix. All errors have the same shape. */
export function serveRoutes(app: FastifyInstance, options: Options): void {
  const { routes, gate, strict, present, bodyLimit = 1_048_576 } = options
  app.decorateRequest('caller', null)
  app.addHook('onRequest', (request, reply) => passGate(request, reply, gate))
  app.addHook('onSend', async (_request, reply) => {
    if (!reply.hasHeader('x-ratelimit-limit'))
      setRateHeaders(reply, gate.limiter.limit, await gate.limiter.peek(''))
  })
  const refuseUnknown = notFound(routes)
  // Refuse it before the body is read, since no handler would use the body.
  app.addHook('onRequest', async (request, reply) => {
    if (request.is404) refuseUnknown(request, reply)
  })
  app.setNotFoundHandler(refuseUnknown)
  app.setErrorHandler((error, request, reply) => renderError(error, request, reply, strict, present))
  const names = new Set<string>()
  for (const entry of routes) {
    const { method, path, name } = entry.endpoint
    if (names.has(name)) throw new Error(`Two endpoints are named ${name}.`)
    names.add(name)
    app.route({
      method,
      url: path.replace(/\{(\w+)\}/g, ':$1'),
      config: { endpoint: entry.endpoint },
      bodyLimit: entry.endpoint.bodyLimit ?? bodyLimit,
      handler: handlerOf(entry, options),
    })
  }
}

async function passGate(request: FastifyRequest, reply: FastifyReply, gate: Gate): Promise<void> {
  const endpoint = request.routeOptions.config.endpoint
  if (!endpoint || endpoint.scope === null) return
  await gate.refuseDuringMaintenance()
  let caller: Caller
  try {
    // The caller's account is not known yet. Few callers are unknown at a time; see refuseFlood.
    caller = await onBehalfOfStranger(request.headers.authorization ?? holderOf(request), () =>
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
      message: 'This is for members who are signed in, not for API keys.',
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

function setRateHeaders(reply: FastifyReply, limit: number, decision: RateDecision): void {
  reply.header('x-ratelimit-limit', limit)
  reply.header('x-ratelimit-remaining', decision.remaining)
  reply.header('x-ratelimit-reset', decision.resetAt)
}

/**
 * Wraps a handler so that an audit entry is written before its effect and removed if the handler throws. A request
 * that was cut off may thus leave an entry without an effect, but no effect can be without its entry.
 */
function audited({ endpoint: { audit }, handle }: Route, db: Db, gate: Gate): Route['handle'] {
  if (audit === undefined) return handle
  return async (call) => {
    const takeBack = await gate.note(call.db, call.caller, audit, call.request)
    try {
      return await handle(call)
    } catch (error) {
      // Inside a transaction, the rollback removes the entry.
      if (call.db === db) await takeBack()
      throw error
    }
  }
}

/** Wraps a handler so that the route's check and the look for the agent come before it. */
function prepared(route: Route, db: Db, gate: Gate): (call: Asked<Endpoint>) => Promise<unknown> {
  const handle = audited(route, db, gate)
  return async (call) => {
    const { agentId } = call.params as { agentId?: string }
    const asked = { ...call, ref: { accountId: call.caller?.account.id, ...call.params } }
    const checked = await route.check(asked)
    if (!route.loadsAgent || agentId === undefined) return handle({ ...asked, checked })
    const agent = await gate.findAgent(call.db, call.caller, agentId)
    const ref = { ...asked.ref, accountId: agent.account_id }
    return handle({ ...asked, checked, agent, ref } as Call<Endpoint>)
  }
}

/** Throws when a member who is limited to some agents asks for something that is not about one of them. */
function confine(caller: Caller | null, endpoint: Endpoint, { agentId }: { agentId?: string }): void {
  const agentIds = caller?.member?.agentIds
  if (!agentIds) return
  if (agentId !== undefined && !agentIds.includes(agentId)) throw new ApiError('AGENT_NOT_FOUND')
  if (endpoint.limitedMembers === 'all') return
  if (agentId === undefined || endpoint.limitedMembers === 'none')
    throw new ApiError('AUTH_INSUFFICIENT_PERMISSIONS', {
      message: 'Your membership is limited to some agents, and this is about the whole account.',
    })
}

/** The schema for endpoints that declare no body or query. */
const NOTHING = Exact({})

/**
 * Returns the holder whose share of the database a request uses: the account; without a key, the agent in the path;
 * else the address.
 */
function shareOf(request: FastifyRequest): string {
  const { agentId } = request.params as { agentId?: string }
  return request.caller?.account.id ?? agentId ?? holderOf(request)
}

function handlerOf(route: Route, { db, gate, strict, uploads }: Options) {
  const { endpoint } = route
  const handle = prepared(route, db, gate)
  const params = endpoint.params && textValidator(endpoint.params)
  const query = textValidator(endpoint.query ?? NOTHING)
  const body = bodyValidator(endpoint.body ?? NOTHING)
  const check = strict ? responseChecker(endpoint) : null
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const multipart = request.isMultipart()
    if (multipart && !endpoint.multipart) throw new ApiError('VALIDATION_UNSUPPORTED_MEDIA_TYPE')
    const key = endpoint.method === 'POST' ? (request.headers['idempotency-key']?.toString() ?? null) : null
    const ignored: string[] | undefined = endpoint.unknownFields === 'ignored' ? [] : undefined
    if (ignored) dropEmptyCursor(request.query)
    const problems = {
      ...params?.(request.params),
      ...query(request.query, ignored),
      ...(multipart || endpoint.method === 'GET'
        ? {}
        : body(request.body ?? (endpoint.body ? undefined : {}), ignored)),
      ...checkKey(key),
    }
    nameIgnored(reply, ignored ?? [])
    refuseInvalid(problems)
    confine(request.caller, endpoint, request.params as { agentId?: string })
    const files = multipart ? endpoint.multipart : undefined
    return onBehalfOf(shareOf(request), () =>
      files && uploads
        ? uploads.receive(request, files, (form) => answer(request, reply, key, form))
        : answer(request, reply, key, null),
    )
  }

  async function answer(
    request: FastifyRequest,
    reply: FastifyReply,
    key: string | null,
    form: Form | null,
  ): Promise<unknown> {
    const { caller } = request
    const run = async (repeatable: Repeatable): Promise<unknown> => {
      const call = {
        ...repeatable,
        caller,
        form,
        params: request.params,
        query: request.query,
        body: request.body,
        request,
        reply,
      } as Asked<Endpoint>
      const given = await handle(call)
      if (given !== SENT) check?.(given)
      return given
    }
    const given =
      key === null || !caller
        ? await run(unrepeatable(db))
        : await answerOnce(db, { route, caller, key, form, request, reply }, run)
    if (given === SENT) return reply
    reply.code(endpoint.success.status)
    return endpoint.success.status === 204 ? reply.send() : reply.send(given)
  }
}

/** The contract's codes for requests that Fastify itself refuses before a handler runs. */
const FRAMEWORK: Record<string, ErrorCode> = {
  FST_ERR_CTP_INVALID_JSON_BODY: 'VALIDATION_INVALID_JSON',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'VALIDATION_INVALID_JSON',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'VALIDATION_INVALID_JSON',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'VALIDATION_UNSUPPORTED_MEDIA_TYPE',
  FST_ERR_CTP_BODY_TOO_LARGE: 'VALIDATION_BODY_TOO_LARGE',
  FST_REQ_FILE_TOO_LARGE: 'VALIDATION_BODY_TOO_LARGE',
  FST_INVALID_MULTIPART_CONTENT_TYPE: 'VALIDATION_UNSUPPORTED_MEDIA_TYPE',
}

const FOREIGN_KEY = '23503'

function toApiError(error: unknown, { raw, log }: FastifyRequest): ApiError {
  if (error instanceof ApiError) return error
  const { code, statusCode, constraint } = error as {
    code?: string
    statusCode?: number
    constraint?: string
  }
  if (isPassing(error) || isUnavailable(error)) {
    log.warn({ err: error }, 'the database could not do it now')
    const message = error instanceof DatabaseAway ? { message: error.message } : {}
    return new ApiError('SERVICE_OVERLOADED', { ...message, cause: error, headers: { 'retry-after': '1' } })
  }
  // The agent was deleted between the look for it and the write below it.
  if (code === FOREIGN_KEY && constraint?.endsWith('_agent_id_fkey'))
    return new ApiError('AGENT_NOT_FOUND', { cause: error })
  const known = code === undefined ? undefined : FRAMEWORK[code]
  if (known) return new ApiError(known, { cause: error })
  if (error instanceof SyntaxError && statusCode === 400)
    return new ApiError('VALIDATION_INVALID_JSON', { cause: error })
  if (code === 'ECONNRESET' && !raw.complete) {
    // Nobody hears the answer.
    log.debug({ err: error }, 'the client broke its body off')
    return new ApiError('VALIDATION_INVALID_JSON', { cause: error })
  }
  log.error({ err: error }, 'unhandled error')
  return new ApiError('INTERNAL_SERVER_ERROR', { cause: error })
}

const asVersion2: PresentError = ({ status, body }) => ({ status, body })

/** Answers with the error. */
export function renderError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  strict: boolean,
  present = asVersion2,
): FastifyReply {
  let apiError = toApiError(error, request)
  const endpoint = request.routeOptions.config.endpoint
  if (strict && endpoint && !declared(endpoint).has(apiError.code)) {
    request.log.error({ code: apiError.code, endpoint: endpoint.name }, 'error code is not in the contract')
    apiError = new ApiError('INTERNAL_SERVER_ERROR', {
      message: `${endpoint.name} does not declare ${apiError.code}`,
    })
  }
  const { status, body } = present(apiError, endpoint)
  return reply.code(status).headers(apiError.headers).send(body)
}

/** Every code that the endpoint may answer. */
export function declared(endpoint: Endpoint): Set<ErrorCode> {
  return new Set<ErrorCode>([
    ...commonErrors,
    ...(endpoint.method === 'GET' ? [] : bodyErrors),
    ...(endpoint.method === 'POST' ? postErrors : []),
    ...endpoint.errors,
  ])
}
