import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import { type Described, openApiDocument } from '../http/openapi/openapi.ts'

/** The OpenAPI document at /openapi.json and a page to read and try it at /reference. */
export async function servePages(app: FastifyInstance, described: Described, rootUrl: string): Promise<void> {
  const document = openApiDocument(described, rootUrl)
  app.get('/openapi.json', async (_request, reply) => reply.type('application/json').send(document))
  await app.register(swagger, { mode: 'static', specification: { document: document as never } })
  await app.register(swaggerUi, {
    routePrefix: '/reference',
    staticCSP: true,
    uiConfig: { docExpansion: 'list', layout: 'BaseLayout', persistAuthorization: false },
    theme: { title: 'Parley API reference' },
  })
}
