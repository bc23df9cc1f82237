import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../../context.ts'
import { ApiError } from '../../http/errors.ts'
import { addressBucket, VISITS } from '../../http/limits/address-bucket.ts'
import { countRequest } from '../../http/server/gate.ts'
import { type Asset, createBundler } from './bundle.ts'
import { frameAncestors, mayFrame } from './frame-ancestors.ts'
import { framePage, problemPage, scriptPath, stylePath } from './frame-page.ts'
import { launcherSettings } from './launcher-settings.ts'
import { chatStyles, shownName } from './looks.ts'
import { findPublicAgent } from './public-agent.ts'

type Needs = Pick<Context, 'db' | 'maintenance' | 'limiter'>
type AgentRequest = { Params: { agentId: string }; Querystring: { languages?: unknown } }

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

/** The script for the owner's page at /widget.js, and the chat that it puts into an iframe. */
export function serveWidget(app: FastifyInstance, ctx: Needs): void {
  const bundle = createBundler()

  app.get('/widget.js', async (request, reply) => {
    const { loader } = await bundle()
    return sendAsset(request, reply, loader, 'public, max-age=300, stale-while-revalidate=86400')
  })

  app.get<{ Params: { name: string } }>('/widget-assets/:name', async (request, reply) => {
    const built = await bundle()
    const path = `/widget-assets/${request.params.name}`
    const asset = { [scriptPath(built)]: built.script, [stylePath(built)]: built.style }[path]
    if (!asset) throw new ApiError('ROUTE_NOT_FOUND')
    return sendAsset(request, reply, asset, 'public, max-age=31536000, immutable')
  })

  app.get<AgentRequest>('/widget/:agentId', async (request, reply) => {
    await countVisit(ctx, request, reply)
    const { agentId } = request.params
    const built = await bundle()
    const agent = (await isAway(ctx)) ? AWAY : ((await findPublicAgent(ctx.db, agentId)) ?? UNKNOWN)
    reply.removeHeader('x-frame-options')
    const isProblem = 'status' in agent
    reply.headers({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'content-security-policy': policy(isProblem ? null : agent.allowed_domains),
      // Pages that isolate themselves take in nothing without it.
      'cross-origin-resource-policy': 'cross-origin',
      'cross-origin-embedder-policy': 'require-corp',
    })
    if (isProblem) return reply.code(agent.status).send(problemPage(built, agent.title, agent.sentence))
    const { theme } = chatStyles(agent)
    return reply.send(framePage(built, { id: agent.id, name: shownName(agent), theme }))
  })

  app.get<AgentRequest>('/widget/:agentId/launcher.json', async (request, reply) => {
    // What it says is public; whose page may show the chat is up to the frame's own policy.
    reply.headers({ 'access-control-allow-origin': '*', 'cross-origin-resource-policy': 'cross-origin' })
    reply.header('vary', 'origin')
    await countVisit(ctx, request, reply)
    await ctx.maintenance.refuse()
    const agent = await findPublicAgent(ctx.db, request.params.agentId)
    const { origin } = request.headers
    // Without a button nobody opens a panel that stays empty.
    if (!agent || (origin && !mayFrame(origin, agent.allowed_domains))) throw new ApiError('AGENT_NOT_FOUND')
    reply.header('cache-control', 'public, max-age=60')
    return launcherSettings(ctx.db, agent, String(request.query.languages ?? ''))
  })
}

/** With what the API of the widget is asked for from the same address. */
const countVisit = ({ limiter }: Needs, { ip }: FastifyRequest, reply: FastifyReply) =>
  countRequest(reply, limiter, `widget ${addressBucket(ip)}`, VISITS)

function sendAsset(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  asset: Asset,
  cache: string,
): FastifyReply {
  // Weak: the same file, compressed or not.
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

/** During maintenance; not thrown, since a person reads it in the panel. */
async function isAway({ maintenance }: Needs): Promise<boolean> {
  try {
    await maintenance.refuse()
    return false
  } catch {
    return true
  }
}
