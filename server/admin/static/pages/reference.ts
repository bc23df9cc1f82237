import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Json } from '../../../platform/http/openapi/openapi-schemas.ts'
import { type RawRoute, rawRoute } from '../../../platform/http/server/serve-raw.ts'
import { readOpenApi } from './contract.ts'

/** The pages of the reference, which the OpenAPI document does not describe. */
export const REFERENCE = '/reference'

const { resolve } = createRequire(import.meta.url)
const FILES = {
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'swagger-ui.css': 'text/css; charset=utf-8',
  'index.css': 'text/css; charset=utf-8',
  'favicon-32x32.png': 'image/png',
}

/** Serves a page at /reference to read the OpenAPI document and to try it. It loads nothing from elsewhere. */
export function serveReference(app: FastifyInstance, base: string): void {
  const at = `${base}${REFERENCE}`
  const page = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Parley API reference</title><link rel="stylesheet" href="${at}/swagger-ui.css">
<link rel="stylesheet" href="${at}/index.css"><link rel="icon" href="${at}/favicon-32x32.png"></head><body><div id="page"></div>
<script src="${at}/swagger-ui-bundle.js"></script><script src="${at}/start.js"></script></body></html>`
  const start = `SwaggerUIBundle(${JSON.stringify({
    url: `${base}/openapi.json`,
    dom_id: '#page',
    deepLinking: true,
    docExpansion: 'list',
    validatorUrl: null,
  })})`
  for (const path of [REFERENCE, `${REFERENCE}/`])
    app.get(path, (_request, reply) => reply.type('text/html; charset=utf-8').send(page))
  app.get(`${REFERENCE}/start.js`, (_request, reply) => reply.type(FILES['swagger-ui-bundle.js']).send(start))
  for (const [name, type] of Object.entries(FILES)) {
    const send = packed(async () => readFile(resolve(`swagger-ui-dist/${name}`)))
    app.get(`${REFERENCE}/${name}`, (request, reply) => send(request, reply.type(type)))
  }
}

/** The document is made when it is first asked for, which saves a start a tenth of its time. */
export function referenceRoutes(makeDocument: () => Json): RawRoute[] {
  const send = packed(async () => Buffer.from(JSON.stringify(makeDocument())))
  return [rawRoute(readOpenApi, ({ request, reply }) => send(request, reply.type('application/json')))]
}

/** Returns a function that sends the same bytes each time, compressed if the client accepts it. */
function packed(
  load: () => Promise<Buffer>,
): (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply> {
  let loaded: Promise<Buffer> | undefined
  let compressed: Promise<Buffer> | undefined
  return async ({ headers }, reply) => {
    loaded ??= load()
    reply.header('vary', 'accept-encoding')
    if (!/\bgzip\b/.test(String(headers['accept-encoding']))) return reply.send(await loaded)
    compressed ??= loaded.then(promisify(gzip))
    return reply.header('content-encoding', 'gzip').send(await compressed)
  }
}
