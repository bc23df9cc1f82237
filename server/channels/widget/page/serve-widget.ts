import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../../../context.ts'
import { ApiError } from '../../../platform/http/errors.ts'
import { addressBucket, VISITS } from '../../../platform/http/limits/rate-limit.ts'
import { countRequest } from '../../../platform/http/server/gate.ts'
import { basePathOf } from '../../../platform/http/server/own-origin.ts'
import { type RawRoute, rawRoute } from '../../../platform/http/server/serve-raw.ts'
import { type Asset, createBundler } from './bundle.ts'
import { loadWidget, loadWidgetAsset, readLauncher, showChat } from './contract.ts'
import { frameAncestors, mayFrame } from './frame-ancestors.ts'
import { framePage, problemPage, scriptPath, stylePath } from './frame-page.ts'
import { launcherSettings } from './launcher-settings.ts'
import { findPublicAgent } from './public-agent.ts'
import { chatStyles, shownName } from './widget-styles.ts'

type Deps = Pick<Context, 'config' | 'db' | 'maintenance' | 'limiter'>

const UNKNOWN = {
  status: 404,
  title: 'This chat is not available',
  sentence: 'It was moved or switched off. Please reach the team behind this site in another way.',
}
const AWAY = {
  status: 503,
  title: 'This chat is taking a short break',
  sentence: 'It is under maintenance. Please come back in a few minutes.',
}

/** Serves the script for the owner's page and the chat that it shows in an iframe. */
export function widgetPageRoutes(ctx: Deps): RawRoute[] {
  const bundle = createBundler()
  const base = basePathOf(ctx.config)

  const sendLoader = rawRoute(loadWidget, async ({ request, reply }) => {
    const { loader } = await bundle()
    return sendAsset(request, reply, loader, 'public, max-age=300, stale-while-revalidate=86400')
  })

  const sendFile = rawRoute(loadWidgetAsset, async ({ params: { name }, request, reply }) => {
    const built = await bundle()
    const path = `/widget-assets/${name}`
    const asset = { [scriptPath(built)]: built.script, [stylePath(built)]: built.style }[path]
    if (!asset) throw new ApiError('ROUTE_NOT_FOUND')
    return sendAsset(request, reply, asset, 'public, max-age=31536000, immutable')
  })

  const sendChat = rawRoute(showChat, async ({ params: { agentId }, request, reply }) => {
    await countVisit(ctx, request, reply)
    const files = { bundle: await bundle(), base }
    const agent = (await isDown(ctx)) ? AWAY : ((await findPublicAgent(ctx.db, agentId)) ?? UNKNOWN)
    reply.removeHeader('x-frame-options')
    const isProblem = 'status' in agent
    reply.headers({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'content-security-policy': policy(isProblem ? null : agent.allowed_domains),
      // Cross-origin isolated pages embed nothing without this header.
      'cross-origin-resource-policy': 'cross-origin',
      'cross-origin-embedder-policy': 'require-corp',
    })
    if (isProblem) return reply.code(agent.status).send(problemPage(files, agent.title, agent.sentence))
    const { theme } = chatStyles(agent)
    return reply.send(framePage(files, { id: agent.id, name: shownName(agent), theme }))
  })

  const sendLauncher = rawRoute(readLauncher, async ({ params, query, request, reply }) => {
    // The settings are public. The policy of the frame decides which sites may show the chat.
    reply.headers({ 'access-control-allow-origin': '*', 'cross-origin-resource-policy': 'cross-origin' })
    reply.header('vary', 'origin')
    await countVisit(ctx, request, reply)
    await ctx.maintenance.refuse()
    const agent = await findPublicAgent(ctx.db, params.agentId)
    const { origin } = request.headers
    // A site that may not show the chat gets no button, because the panel would stay empty.
    if (!agent || (origin && !mayFrame(origin, agent.allowed_domains))) throw new ApiError('AGENT_NOT_FOUND')
    reply.header('cache-control', 'public, max-age=60')
    return launcherSettings(ctx.db, agent, String(query.languages ?? ''))
  })

  return [sendLoader, sendFile, sendChat, sendLauncher]
}

/** Counts the request against the same limit as those of the widget's API from this address. */
const countVisit = ({ limiter }: Deps, { ip }: FastifyRequest, reply: FastifyReply) =>
  countRequest(reply, limiter, `widget ${addressBucket(ip)}`, VISITS)

function sendAsset(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  asset: Asset,
  cache: string,
): FastifyReply {
  // The ETag is weak, because it stands for the compressed and the uncompressed file.
  const etag = `W/"${asset.hash}"`
  reply.headers({
    'content-type': asset.type,
    'cache-control': cache,
    'cross-origin-resource-policy': 'cross-origin',
    vary: 'accept-encoding',
    etag,
  })
  if (headers['if-none-match']?.includes(etag)) return reply.code(304).send()
  if (!/\bgzip\b/.test(headers['accept-encoding']?.toString() ?? '')) return reply.send(asset.bytes)
  return reply.header('content-encoding', 'gzip').send(asset.gzipped)
}

const policy = (domains: string[] | null): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${frameAncestors(domains)}`,
  ].join('; ')

/** Returns whether the service is under maintenance, instead of throwing, because a person reads the page. */
async function isDown({ maintenance }: Deps): Promise<boolean> {
  try {
    await maintenance.refuse()
    return false
  } catch {
    return true
  }
}
