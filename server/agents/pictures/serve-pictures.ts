import type { Context } from '../../context.ts'
import type { PictureKind } from '../../platform/db/tables/agents.ts'
import { ApiError } from '../../platform/http/errors.ts'
import { type RawRoute, rawRoute } from '../../platform/http/server/serve-raw.ts'
import { showPicture } from './contract.ts'
import { findPicture } from './pictures.ts'

const KINDS: Record<string, PictureKind> = { icon: 'icon', 'profile-picture': 'profile' }

const HEADERS = {
  'content-type': 'image/png',
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; sandbox",
  // Other sites show the picture.
  'cross-origin-resource-policy': 'cross-origin',
  // The URL stays the same when the picture changes.
  'cache-control': 'public, max-age=300, stale-while-revalidate=86400',
}

export const pictureRoutes = (ctx: Pick<Context, 'db'>): RawRoute[] => [
  rawRoute(showPicture, async ({ params: { agentId, name }, request: { headers }, reply }) => {
    const kind = Object.hasOwn(KINDS, name) ? KINDS[name] : undefined
    const picture = kind && !agentId.includes('\0') ? await findPicture(ctx.db, agentId, kind) : undefined
    if (!picture) throw new ApiError('RESOURCE_NOT_FOUND', { message: 'The picture does not exist.' })
    const etag = `"${picture.tag}"`
    reply.headers({ ...HEADERS, etag })
    if (headers['if-none-match']?.includes(etag)) return reply.code(304).send()
    return reply.send(Buffer.from(picture.bytes))
  }),
]
