import { randomBytes } from 'node:crypto'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { ApiError } from '../http/errors.ts'
import { createWorkspace } from './assets.ts'
import { workspacePage } from './page.ts'

/** The paths of the pages; the router in web/ decides what each of them shows. */
const PAGES = [
  '/',
  '/setup',
  '/sign-in',
  '/invite',
  '/invite/*',
  '/forgot',
  '/reset',
  '/reset/*',
  '/agents',
  '/agents/*',
  '/workspace',
  '/workspace/*',
]
const YEAR = 'public, max-age=31536000, immutable'

/**
 * Serves the workspace at /: one document at the path of each page, and the files under names that contain their
 * hash.
 */
export function serveWorkspace(app: FastifyInstance): { build(): Promise<unknown> } {
  const workspace = createWorkspace()

  for (const path of PAGES) {
    app.get(path, async (_request, reply) => {
      const { built } = await workspace()
      const nonce = randomBytes(16).toString('base64')
      return reply
        .headers({
          'content-type': 'text/html; charset=utf-8',
          'cache-control': 'no-cache',
          'content-security-policy': policy(nonce),
        })
        .send(workspacePage(built, nonce))
    })
  }

  app.get<{ Params: { name: string } }>('/workspace-assets/:name', async (request, reply) => {
    const { read } = await workspace()
    const asset = await read(request.params.name)
    if (!asset) throw new ApiError('ROUTE_NOT_FOUND')
    reply.headers({ 'content-type': asset.type, 'cache-control': YEAR, vary: 'accept-encoding' })
    const accepted = request.headers['accept-encoding']?.toString() ?? ''
    if (asset.brotli && /\bbr\b/.test(accepted)) return compressed(reply, 'br', asset.brotli)
    if (asset.gzipped && /\bgzip\b/.test(accepted)) return compressed(reply, 'gzip', asset.gzipped)
    return reply.send(asset.bytes)
  })

  return { build: workspace }
}

const compressed = (reply: FastifyReply, encoding: string, bytes: Buffer): FastifyReply =>
  reply.header('content-encoding', encoding).send(bytes)

/**
 * Returns the Content-Security-Policy. The nonce allows the style rules that the UI behaviour library adds while
 * something is open.
 */
const policy = (nonce: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "frame-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ')
