import type { FastifyInstance } from 'fastify'

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
