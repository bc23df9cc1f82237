import { IncomingMessage, type OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { Ajv, type ValidateFunction } from 'ajv'
import formats from 'ajv-formats'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import helmet from 'helmet'
import { withTenant } from '../../db/connections/lanes.ts'
import type { Db } from '../../db/database.ts'
import { transact } from '../../db/statements/transact.ts'
import { recordOf } from '../../unknown-values.ts'
import { tenantOf } from '../bodies/admit-bodies.ts'
import type { Form, Uploads } from '../bodies/uploads.ts'
import { type Endpoint, Exact } from '../contract.ts'
import { ApiError } from '../errors.ts'
import {
  answerOnce,
  checkIfMatch,
  checkKey,
  etagOf,
  matches,
  unrepeatable,
} from '../idempotency/answer-once.ts'
import {
  bodyValidator,
  dropEmptyCursor,
  nameIgnored,
  refuseInvalid,
  textValidator,
} from '../input/validate.ts'
import { type Call, type Caller, type CheckedRequest, type Repeatable, type Route, SENT } from '../route.ts'
import { confine, type Gate, passGate, setRateHeaders } from './gate.ts'
import { type PresentError, renderError } from './render-error.ts'

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | null
  }
  interface FastifyContextConfig {
    endpoint?: Endpoint
  }
}

type Options = {
  routes: Route[]
  gate: Gate
  /** The storage of idempotency keys. */
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

/**
 * Wraps a handler so that an audit entry is written before its effect and removed if the handler throws. A request
 * that was cut off may thus leave an entry without an effect, but no effect can be without its entry. `before` is the
 * object that the handler changes.
 */
function audited({ endpoint: { audit }, handle }: Route, db: Db, gate: Gate) {
  return async (call: Call<Endpoint>, before?: unknown): Promise<unknown> => {
    if (audit === undefined) return handle(call)
    const takeBack = await gate.note(call.db, call.caller, audit, call.request, before)
    try {
      return await handle(call)
    } catch (error) {
      // Inside a transaction, the rollback removes the entry.
      if (call.db === db) await takeBack()
      throw error
    }
  }
}

/** Wraps a handler so that the route's check, the look-up of the agent and the check of the version come before it. */
function prepared(
  route: Route,
  { db, gate, routes }: Pick<Options, 'db' | 'gate' | 'routes'>,
): (call: CheckedRequest<Endpoint>) => Promise<unknown> {
  const handle = audited(route, db, gate)
  const { changes } = route.endpoint
  const read = changes && routes.find(({ endpoint }) => endpoint.name === changes.name)
  if (changes && !read)
    throw new Error(`${route.endpoint.name} changes what ${changes.name} reads, which has no route.`)
  const readNow = read && prepared(read, { db, gate, routes })
  return async (call) => {
    const asked = { ...call, ref: { accountId: call.caller?.account.id, ...call.params } }
    const checked = await route.check?.(asked)
    if (!read || !readNow) return finish(asked, checked)
    // The agent is locked before its version is read, so that the version is still current when the change is made.
    return transact(call.db, async (trx) => {
      const agentId = agentIdIn(call.params) ?? ''
      await gate.findAgent(trx, call.caller, agentId, 'update')
      const inside = { ...asked, db: trx }
      const isCompared = route.endpoint.audit !== undefined || call.request.headers['if-match'] !== undefined
      const before = isCompared ? await readNow({ ...inside, query: {} }) : undefined
      await refuseOtherVersion(route.endpoint, read.endpoint, inside, before)
      return finish(inside, checked, before)
    })
  }

  async function finish(
    asked: CheckedRequest<Endpoint>,
    checked: unknown,
    before?: unknown,
  ): Promise<unknown> {
    const agentId = agentIdIn(asked.params)
    const call = asked as Call<Endpoint>
    if (!route.loadsAgent || agentId === undefined) return handle({ ...call, checked }, before)
    const agent = await gate.findAgent(call.db, call.caller, agentId)
    const ref = { ...recordOf(recordOf(asked).ref), accountId: agent.account_id }
    return handle({ ...call, checked, agent, ref } as Call<Endpoint>, before)
  }

  /** Throws VERSION_MISMATCH when If-Match names another version than the current one. */
  async function refuseOtherVersion(
    { audit }: Endpoint,
    reading: Endpoint,
    { request, caller, params, db: trx }: CheckedRequest<Endpoint>,
    current: unknown,
  ): Promise<void> {
    const ifMatch = request.headers['if-match']
    if (ifMatch === undefined) return
    const etag = etagOf(reading, current)
    if (matches(ifMatch, etag)) return
    const headers = { etag }
    try {
      if (reading.scope) gate.authorize(caller, reading.scope)
    } catch {
      throw new ApiError('VERSION_MISMATCH', { headers })
    }
    const agentId = agentIdIn(params) ?? ''
    const last = audit === undefined ? null : await gate.lastChange(trx, caller, audit, agentId)
    throw new ApiError('VERSION_MISMATCH', { headers, changed: { current, ...last } })
  }
}

function agentIdIn(params: unknown): string | undefined {
  const { agentId } = recordOf(params)
  return typeof agentId === 'string' ? agentId : undefined
}

/** The schema for endpoints that declare no body or query. */
const NOTHING = Exact({})

/**
 * Returns the tenant whose share of the database a request uses: the account; without a key, the agent in the path;
 * else the address.
 */
function shareOf(request: FastifyRequest): string {
  const agentId = agentIdIn(request.params)
  return request.caller?.account.id ?? agentId ?? tenantOf(request)
}

function handlerOf(route: Route, { db, gate, routes, strict, uploads }: Options) {
  const { endpoint } = route
  const handle = prepared(route, { db, gate, routes })
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
      ...(endpoint.changes ? checkIfMatch(request.headers['if-match']) : {}),
    }
    nameIgnored(reply, ignored ?? [])
    refuseInvalid(problems)
    confine(request.caller, endpoint, agentIdIn(request.params))
    const files = multipart ? endpoint.multipart : undefined
    return withTenant(shareOf(request), () =>
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
      } as CheckedRequest<Endpoint>
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
    if (endpoint.versioned) reply.header('etag', etagOf(endpoint, given))
    return endpoint.success.status === 204 ? reply.send() : reply.send(given)
  }
}

/**
 * Logs a line for each request when its response has been sent or the client has disconnected. It contains the route
 * instead of the URL, because paths and queries may contain search texts and names of people.
 */
export function logRequests(app: FastifyInstance): void {
  app.addHook('onResponse', async (request, reply) => {
    app.log.info(
      {
        requestId: request.id,
        method: request.method,
        route: request.routeOptions.url ?? null,
        status: reply.statusCode,
        durationMs: Math.round(reply.elapsedTime),
      },
      'request',
    )
  })
}

const ajv = new Ajv({ strict: false, allErrors: true, discriminator: true })
formats.default(ajv)

/**
 * Returns a function that throws when a response does not match the endpoint's contract, also because of undeclared
 * fields.
 */
function responseChecker(endpoint: Endpoint): (answer: unknown) => void {
  let check: ValidateFunction | undefined
  return (answer) => {
    check ??= ajv.compile(endpoint.success.schema)
    // Check what the client receives: dates become text, and undefined members disappear.
    const seen: unknown = answer === undefined ? undefined : JSON.parse(JSON.stringify(answer))
    if (check(seen)) return
    throw new Error(`The answer of ${endpoint.name} is not its contract's: ${ajv.errorsText(check.errors)}`)
  }
}

/**
 * Returns the security headers of all responses. Helmet sets them on a response, which keeps a list of its own as long as
 * it is open; copying the headers from one response instead keeps thousands of streams smaller.
 */
export function securityHeaders(isSecure: boolean): OutgoingHttpHeaders {
  const response = new ServerResponse(new IncomingMessage(new Socket()))
  // Over plain HTTP, such as on a local network, the browser must not be told to upgrade requests to HTTPS.
  const upgradeInsecureRequests = isSecure ? [] : null
  const set = helmet({
    contentSecurityPolicy: { directives: { upgradeInsecureRequests } },
    strictTransportSecurity: isSecure,
  })
  set(response.req, response, () => {})
  return response.getHeaders()
}

/** Returns a handler for unknown routes: 405 with Allow if the path is known, else 404 ROUTE_NOT_FOUND. */
function notFound(routes: Route[]): (request: FastifyRequest, reply: FastifyReply) => never {
  const known = routes.map(({ endpoint }) => ({
    method: endpoint.method,
    pattern: new RegExp(`${endpoint.path.replace(/\{\w+\}/g, '[^/]+')}$`),
    segments: endpoint.path.split('/').length,
  }))
  return (request) => {
    const path = request.url.split('?')[0] ?? ''
    // The prefix, such as /api/v2, has two segments.
    const segments = path.split('/').length - 2
    const methods = known
      .filter((route) => route.segments === segments && route.pattern.test(path))
      .map((route) => route.method)
    if (methods.length === 0) throw new ApiError('ROUTE_NOT_FOUND')
    const allow = [
      ...new Set(methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))),
    ].join(', ')
    throw new ApiError('METHOD_NOT_ALLOWED', {
      message: `This path supports ${allow}, not ${request.method}.`,
      headers: { allow },
    })
  }
}
