import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Static, TSchema } from 'typebox'
import type { RawEndpoint } from '../raw-endpoint.ts'
import type { Maintenance } from './gate.ts'

type Typed<S> = S extends TSchema ? Static<S> : Record<string, never>

/** What a handler is given. Nothing has been checked against the contract. */
type RawCall<E extends RawEndpoint> = {
  params: Typed<E['params']>
  query: E['query'] extends TSchema ? Record<keyof Static<E['query']>, unknown> : Record<string, never>
  request: FastifyRequest
  reply: FastifyReply
}

/** The handler returns the payload, or the reply if it has been sent, as a handler of Fastify does. */
type Handler<E extends RawEndpoint> = (call: RawCall<E>) => unknown
type BeforeBody<E extends RawEndpoint> = (call: RawCall<E>) => Promise<void>

/** A contract and what serves it. */
export type RawRoute = {
  endpoint: RawEndpoint
  handle: Handler<RawEndpoint>
  /** Refuses a request before its body is read. */
  beforeBody?: BeforeBody<RawEndpoint>
}

export function rawRoute<const E extends RawEndpoint>(
  endpoint: E,
  handle: Handler<NoInfer<E>>,
  beforeBody?: BeforeBody<NoInfer<E>>,
): RawRoute {
  return { endpoint, handle, ...(beforeBody ? { beforeBody } : {}) } as RawRoute
}

/** Registers the routes. A route with a body gets a scope of its own for its parsers. The application renders errors. */
export function serveRaw(app: FastifyInstance, routes: RawRoute[], maintenance: Maintenance): void {
  for (const route of routes) {
    const { body } = route.endpoint
    if (!body) serve(app, route, maintenance)
    else
      app.register(async (scope) => {
        acceptBody(scope, body)
        serve(scope, route, maintenance)
      })
  }
}

function serve(
  app: FastifyInstance,
  { endpoint, handle, beforeBody }: RawRoute,
  maintenance: Maintenance,
): void {
  const { method, path, otherPaths = [], body, duringMaintenance } = endpoint
  for (const url of [path, ...otherPaths])
    app.route({
      method,
      url: url.replace(/\{(\w+)\}/g, ':$1'),
      config: { raw: endpoint, ...(body?.as === 'stream' ? { spooled: true } : {}) },
      ...(body ? { bodyLimit: body.maxBytes } : {}),
      onRequest: async (request, reply) => {
        if (duringMaintenance === undefined) await maintenance.refuse()
        await beforeBody?.(callOf(request, reply))
      },
      handler: (request, reply) => handle(callOf(request, reply)),
    })
}

const callOf = (request: FastifyRequest, reply: FastifyReply): RawCall<RawEndpoint> =>
  ({ params: request.params, query: request.query, request, reply }) as RawCall<RawEndpoint>

function acceptBody(scope: FastifyInstance, { as, types }: NonNullable<RawEndpoint['body']>): void {
  if (as === 'fields') {
    // The application's parser reads JSON.
    scope.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string' },
      (_request, body, done) => done(null, Object.fromEntries(new URLSearchParams(body.toString()))),
    )
    return
  }
  scope.removeAllContentTypeParsers()
  const accepted = types === 'any' ? '*' : [...types]
  if (as === 'stream') scope.addContentTypeParser(accepted, (_request, body, done) => done(null, body))
  else scope.addContentTypeParser(accepted, { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
}
