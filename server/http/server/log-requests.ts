import type { FastifyInstance } from 'fastify'

/**
 * A line of the log for each request, when its answer has been sent or the client has gone. The route stands for the
 * address: paths and queries may hold what somebody searches for, or names of people.
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
