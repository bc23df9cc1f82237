import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import type { Json } from '../http/openapi/openapi-schemas.ts'
import { type RawRoute, rawRoute } from '../http/server/serve-raw.ts'
import { readOpenApi } from './contract.ts'

const pack = promisify(gzip)

/** The pages of the reference, whose routes are those of a plugin. */
export const REFERENCE = '/reference'

/**
 * Serves a page at /reference to read the OpenAPI document and to try it. The document is made when it is first asked
 * for, which saves a start a tenth of its time.
 */
export async function serveReference(
  app: FastifyInstance,
  base: string,
  makeDocument: () => Json,
): Promise<void> {
  let made: Json | undefined
  const toJSON = (): Json => {
    made ??= makeDocument()
    return made
  }
  await app.register(swagger, { mode: 'static', specification: { document: { toJSON } as never } })
  await app.register(swaggerUi, {
    routePrefix: REFERENCE,
    indexPrefix: base,
    staticCSP: true,
    uiConfig: { docExpansion: 'list', layout: 'BaseLayout', persistAuthorization: false },
    theme: { title: 'Parley API reference' },
  })
}

/** The document is the one that serveReference makes. Compressed, it has a twelfth of its size. */
export function referenceRoutes(): RawRoute[] {
  let packed: Promise<Buffer> | undefined
  return [
    rawRoute(readOpenApi, async ({ request, reply }) => {
      reply.type('application/json').header('vary', 'accept-encoding')
      if (!/\bgzip\b/.test(String(request.headers['accept-encoding']))) return request.server.swagger()
      packed ??= pack(JSON.stringify(request.server.swagger()))
      return reply.header('content-encoding', 'gzip').send(await packed)
    }),
  ]
}
