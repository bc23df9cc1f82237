import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '../errors.ts'
import type { Route } from '../route.ts'

/** Returns a handler for unknown routes: 405 with Allow if the path is known, else 404 ROUTE_NOT_FOUND. */
export function notFound(routes: Route[]): (request: FastifyRequest, reply: FastifyReply) => never {
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
