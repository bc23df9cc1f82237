import type { FastifyInstance } from 'fastify'
import { findAttachment, openAttachment } from '../attachments/attachments.ts'
import type { Context } from '../context.ts'
import type { AccountId } from '../db/tables.ts'
import { ApiError } from '../http/errors.ts'

/** How long the address of a file holds; each answer of the API has a new one. */
const HOLDS_MS = 60 * 60 * 1_000

type Needs = Pick<Context, 'db' | 'secrets' | 'filesDir' | 'maintenance'>

/** The address of a file, for whoever is given it, for an hour. */
export function attachmentUrl(
  { secrets, config }: Pick<Context, 'secrets' | 'config'>,
  { accountId, agentId }: { accountId: AccountId; agentId: string },
  id: string,
): string {
  const token = secrets.encrypt(JSON.stringify(['attachment', accountId, agentId, id, Date.now() + HOLDS_MS]))
  return `${config.publicUrl ?? ''}/attachments/${encodeURIComponent(token)}`
}

const notThere = (): ApiError =>
  new ApiError('RESOURCE_NOT_FOUND', { message: 'There is no such file, or its address has expired.' })

/** `/attachments/{token}`: always as a download, in a page of its own that may do nothing. */
export function serveAttachments(app: FastifyInstance, ctx: Needs): void {
  app.get<{ Params: { token: string } }>('/attachments/:token', async ({ params: { token } }, reply) => {
    await ctx.maintenance.refuse()
    const { accountId, agentId, id } = readToken(ctx, token)
    const row = await findAttachment(ctx.db, { accountId, agentId }, id)
    if (!row) throw notThere()
    const stream = openAttachment(ctx.filesDir, row)
    await new Promise<void>((resolve, reject) => {
      stream.once('open', () => resolve())
      stream.once('error', () => reject(notThere()))
    })
    reply.headers({
      'content-type': row.media_type,
      'content-length': row.size,
      'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(row.name).replace(/['()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`)}`,
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
      'cross-origin-resource-policy': 'cross-origin',
      'cache-control': 'private, max-age=3600',
      'referrer-policy': 'no-referrer',
    })
    return reply.send(stream)
  })
}

function readToken({ secrets }: Needs, token: string): { accountId: AccountId; agentId: string; id: string } {
  try {
    const parts: unknown = JSON.parse(secrets.decrypt(token))
    const [kind, accountId, agentId, id, until] = Array.isArray(parts) ? parts : []
    if (kind === 'attachment' && until > Date.now()) return { accountId, agentId, id }
  } catch {
    // Damaged, or made by another installation: as unknown as one that never was.
  }
  throw notThere()
}
