import type { IncomingMessage, ServerResponse } from 'node:http'
import multipart from '@fastify/multipart'
import {
  type FastifyBaseLogger,
  type FastifyContextConfig,
  type FastifyInstance,
  fastify,
  LogController,
} from 'fastify'
import { v7 } from 'uuid'
import { authorize } from './accounts/keys/keys.ts'
import { lastChangeOf, recordRequest } from './accounts/keys/record-request.ts'
import { REFERENCE, serveReference } from './admin/static/pages/reference.ts'
import { requireAgent } from './agents/records/find-agent.ts'
import { serveWidgetApi } from './channels/widget/page/serve-api.ts'
import { ConfigError } from './config.ts'
import type { Context } from './context.ts'
import { features } from './features.ts'
import { admitBodies, PACE, type Pace, watchConnections } from './platform/http/bodies/admit-bodies.ts'
import { acceptJson } from './platform/http/bodies/storable.ts'
import { V1, V2 } from './platform/http/contract.ts'
import { ApiError, type ErrorCode } from './platform/http/errors.ts'
import type { RateWindow } from './platform/http/limits/rate-limit.ts'
import type { Gate } from './platform/http/server/gate.ts'
import { basePathOf } from './platform/http/server/own-origin.ts'
import {
  codeOfClientError,
  type EarlyRefusal,
  refuseEarly,
  renderError,
  sendEarly,
  sendOnSocket,
} from './platform/http/server/render-error.ts'
import { logRequests, securityHeaders, serveRoutes } from './platform/http/server/serve.ts'
import { serveRaw } from './platform/http/server/serve-raw.ts'
import { presentError } from './v1/errors.ts'
import { version1Routes } from './v1/routes.ts'

const KEYLESS_BYTES = 65_536
/** The rate limit of members, which is higher because a page of the workspace sends many requests at once. */
const MEMBER_WINDOW: RateWindow = { limit: 300, windowMs: 10_000 }
const MAX_HEADERS_MS = 20_000
const MAX_REQUEST_MS = 600_000
/** How often connections that have become idle are closed while the service stops. */
const LET_GO_MS = 50

type Options = {
  /** For tests: undeclared responses and error codes become a 500. */
  strict?: boolean
  /** For tests: the minimum transfer rate of a body. */
  pace?: Pace
}

/** Creates the HTTP application without listening. */
export async function createApp(
  ctx: Context,
  { strict = false, pace = PACE }: Options = {},
): Promise<FastifyInstance> {
  const base = basePathOf(ctx.config)
  const secure = securityHeaders(ctx.config.publicUrl?.startsWith('https:') ?? false)
  const refuse = (code: ErrorCode, requestId: string): EarlyRefusal =>
    refuseEarly(code, { requestId, secure, window: ctx.config.rateLimit })
  const app = fastify({
    loggerInstance: ctx.log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: ctx.config.trustedProxies.length > 0 ? ctx.config.trustedProxies : false,
    // A proxy may strip the path of PUBLIC_URL or pass it on.
    rewriteUrl: ({ url = '/' }: IncomingMessage) => (base === '' ? url : withoutBase(base, url)),
    genReqId: requestIdOf,
    requestIdHeader: false,
    // The limit where no key is required.
    bodyLimit: KEYLESS_BYTES,
    // The limits for the headers and for the whole request, however slowly it arrives. Bodies also have a minimum rate.
    requestTimeout: MAX_REQUEST_MS,
    http: {
      headersTimeout: MAX_HEADERS_MS,
      connectionsCheckingInterval: MAX_HEADERS_MS / 4,
      // Node would refuse a request without Host with an empty response; the hook below does it with our error.
      requireHostHeader: false,
    },
    clientErrorHandler: (error, socket) => {
      if (!isAnswered(error, socket)) sendOnSocket(socket, refuse(codeOfClientError(error), v7()))
    },
    // During shutdown, requests on open connections are still served; only new replies are refused (Generations.admit).
    return503OnClosing: false,
    routerOptions: { maxParamLength: 2_048 },
    // A URL that cannot be decoded.
    frameworkErrors: (_error, { id, url }, reply) =>
      sendEarly(
        reply.raw,
        refuse('ROUTE_NOT_FOUND', id),
        url.startsWith(`${V1}/`) ? presentError : undefined,
      ),
  })
  const isAnswered = watchConnections(app.server)
  app.server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) =>
    sendEarly(response, refuse('EXPECTATION_FAILED', requestIdOf(request))),
  )
  app.addHook('onRequest', async ({ id, raw }, reply) => {
    reply.headers(secure).header('x-request-id', id)
    if (raw.headers.host === undefined && raw.httpVersion !== '1.0') throw new ApiError('REQUEST_MALFORMED')
  })
  app.addHook('onResponse', async ({ method }) => {
    if (method !== 'GET') ctx.activity.note()
  })
  app.addHook('onRequest', async ({ routeOptions: { config } }) => {
    if (storesSomething(config) && ctx.databaseSpace.isFull()) throw new ApiError('STORAGE_FULL')
  })
  if (ctx.config.logRequests) logRequests(app)
  // Set it before any route is registered, because existing routes would keep Fastify's error handler.
  app.setErrorHandler((error, request, reply) => renderError(error, request, reply, strict))
  app.addHook('onRoute', ({ config, method, url }) => {
    if (!config?.endpoint && !config?.raw && !url.startsWith(REFERENCE))
      throw new Error(`No contract describes ${method} ${url}.`)
    if (base && `${url}/`.startsWith(`${base}/`))
      throw new ConfigError([
        `PUBLIC_URL: its path cannot be ${base}, because the service has pages of its own there.`,
      ])
  })
  app.addHook('preClose', async () => {
    // Tabs that only listen, and clients without a request, reconnect to another process.
    ctx.stop()
    const letting = setInterval(() => app.server.closeIdleConnections(), LET_GO_MS)
    app.server.once('close', () => clearInterval(letting))
  })
  acceptJson(app)
  await app.register(multipart)
  admitBodies(app, ctx.bodies, pace)

  const sharedBy = (version: 1 | 2) => ({
    gate: gateOf(ctx, version),
    db: ctx.db,
    strict,
    uploads: ctx.uploads,
  })
  const shared = sharedBy(2)
  const routes = features.flatMap((feature) => feature.routes?.(ctx) ?? [])
  await app.register(async (v2) => serveRoutes(v2, { ...shared, routes }), { prefix: V2 })
  await app.register(
    async (v1) => serveRoutes(v1, { ...sharedBy(1), routes: version1Routes(ctx), present: presentError }),
    { prefix: V1 },
  )
  await serveWidgetApi(app, ctx, { ...shared, bodyLimit: KEYLESS_BYTES })
  const rawRoutes = features.flatMap((feature) => feature.rawRoutes?.(ctx) ?? [])
  serveRaw(app, rawRoutes, ctx.maintenance)
  serveReference(app, base)
  app.setNotFoundHandler(() => {
    throw new ApiError('ROUTE_NOT_FOUND')
  })
  return app
}

function gateOf({ config, keys, limiter, maintenance, sessions }: Context, version: 1 | 2): Gate {
  const byKey: Gate['authenticate'] = ({ headers }, beforeStranger) =>
    keys.authenticate(headers.authorization, beforeStranger)
  const bySession: Gate['authenticate'] = (request, beforeStranger) =>
    request.headers.authorization === undefined && sessions.hasCookie(request)
      ? sessions.callerOf(request, beforeStranger)
      : byKey(request, beforeStranger)
  return {
    refuseDuringMaintenance: maintenance.refuse,
    limiter,
    windowOf: ({ account, member }) => (member ? MEMBER_WINDOW : config.planRateLimits[account.plan]),
    findAgent: (db, { account }, agentId, lock) => requireAgent(db, { accountId: account.id, agentId }, lock),
    lastChange: lastChangeOf,
    note: recordRequest,
    authenticate: version === 1 ? byKey : bySession,
    authorize: (caller, scope) => authorize(caller, scope, version),
  }
}

/** Returns the URL of a request within the service. */
const withoutBase = (base: string, url: string): string =>
  url.startsWith(base) && /^([/?]|$)/.test(url.slice(base.length))
    ? url.slice(base.length).replace(/^(?!\/)/, '/')
    : url

/** A POST that only reads has a scope for reading. */
function storesSomething({ endpoint, raw }: FastifyContextConfig): boolean {
  if (endpoint?.scope?.endsWith(':read')) return false
  const method = (endpoint ?? raw)?.method
  return method !== undefined && method !== 'GET'
}

function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const sent = headers['x-request-id']
  return typeof sent === 'string' && /^[\w-]{1,64}$/.test(sent) ? sent : v7()
}
