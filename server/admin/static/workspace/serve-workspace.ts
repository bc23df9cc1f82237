import { randomBytes } from 'node:crypto'
import type { FastifyReply } from 'fastify'
import type { Context } from '../../../context.ts'
import { ApiError } from '../../../platform/http/errors.ts'
import { basePathOf } from '../../../platform/http/server/own-origin.ts'
import { type RawRoute, rawRoute } from '../../../platform/http/server/serve-raw.ts'
import { createWorkspace } from './assets.ts'
import { loadWorkspaceAsset, showWorkspace } from './contract.ts'
import { workspacePage } from './page.ts'

const YEAR = 'public, max-age=31536000, immutable'

/** One document at the path of each page, and the files under names that contain their hash. */
export function workspaceRoutes({ config }: Pick<Context, 'config'>): RawRoute[] {
  const workspace = createWorkspace()
  const base = basePathOf(config)

  const sendPage = rawRoute(showWorkspace, async ({ reply }) => {
    const { built } = await workspace()
    const nonce = randomBytes(16).toString('base64')
    return reply
      .headers({
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-cache',
        'content-security-policy': policy(nonce),
      })
      .send(workspacePage(built, base, nonce))
  })

  const sendAsset = rawRoute(loadWorkspaceAsset, async ({ params: { name }, request, reply }) => {
    const { read } = await workspace()
    const asset = await read(name)
    if (!asset) throw new ApiError('ROUTE_NOT_FOUND')
    reply.headers({ 'content-type': asset.type, 'cache-control': YEAR, vary: 'accept-encoding' })
    const accepted = request.headers['accept-encoding']?.toString() ?? ''
    if (asset.brotli && /\bbr\b/.test(accepted)) return compressed(reply, 'br', asset.brotli)
    if (asset.gzipped && /\bgzip\b/.test(accepted)) return compressed(reply, 'gzip', asset.gzipped)
    return reply.send(asset.bytes)
  })

  return [sendPage, sendAsset]
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
