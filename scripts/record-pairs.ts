import { subscribe } from 'node:diagnostics_channel'
import { appendFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'

/**
 * Records which refusals and repetitions tests have seen of each route, so that a change of the tests can be compared
 * with what was before it:
 *
 *     PAIRS=/tmp/pairs node --import ./scripts/record-pairs.ts --test test/every-route.test.ts …
 *     sort -u /tmp/pairs
 *
 * A line has the route and one of: `negative` with the status and the code of the error, `tenancy` with the code for
 * what does not exist or belongs to another account, `idempotency` for a response that was repeated.
 */
const file = process.env.PAIRS
const seen = new Set<string>()

function codeIn(payload: unknown): string {
  try {
    const { error } = JSON.parse(String(payload))
    return error?.code ?? '-'
  } catch {
    return '-'
  }
}

function record(line: string): void {
  if (!file || seen.has(line)) return
  seen.add(line)
  appendFileSync(file, `${line}\n`)
}

subscribe('fastify.initialization', (message) => {
  const { fastify } = message as { fastify: FastifyInstance }
  fastify.addHook('onSend', async (request, reply, payload) => {
    const route = `${request.method} ${request.routeOptions.url ?? 'elsewhere'}`
    const status = reply.statusCode
    if (status === 404) record(`${route} tenancy ${codeIn(payload)}`)
    else if (status >= 400) record(`${route} negative ${status} ${codeIn(payload)}`)
    if (reply.getHeader('idempotency-replayed')) record(`${route} idempotency`)
  })
})
