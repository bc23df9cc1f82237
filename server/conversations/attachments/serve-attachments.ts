import type { ReadStream } from 'node:fs'
import type { Config } from '../../config.ts'
import type { Db } from '../../platform/db/database.ts'
import type { AgentRef } from '../../platform/db/refs.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import { ApiError } from '../../platform/http/errors.ts'
import { type RawRoute, rawRoute } from '../../platform/http/server/serve-raw.ts'
import type { SecretLocation } from '../../platform/secrets/seal.ts'
import type { Secrets } from '../../platform/secrets/secrets.ts'
import { type AttachmentRow, findAttachment, openAttachment } from './attachments.ts'
import { downloadAttachment } from './contract.ts'

/** The default lifetime of a file's URL. Every API response contains a new one. */
const HOUR_MS = 60 * 60 * 1_000
export const DAY_MS = 24 * HOUR_MS

type Deps = { db: Db; secrets: Secrets; filesDir: string }

/** Returns a URL that gives anybody who has it access to the file for `holdsMs`. */
export function attachmentUrl(
  { secrets, config }: { secrets: Secrets; config: Config },
  { accountId, agentId }: AgentRef,
  id: string,
  holdsMs = HOUR_MS,
): string {
  const token = secrets.key.seal(JSON.stringify([accountId, agentId, id, Date.now() + holdsMs]), PLACE)
  return `${config.publicUrl ?? ''}/attachments/${encodeURIComponent(token)}`
}

/** A URL is not stored, so there is no row to bind it to. */
const PLACE: SecretLocation = { table: 'attachments', row: '', purpose: 'address' }

const noSuchFile = (): ApiError =>
  new ApiError('RESOURCE_NOT_FOUND', { message: 'There is no such file, or its address has expired.' })

/** Files are always sent as downloads, and the policy keeps a browser from running anything in them. */
export const attachmentRoutes = (ctx: Deps): RawRoute[] => [
  rawRoute(downloadAttachment, async ({ params: { token }, reply }) => {
    const { accountId, agentId, id } = await readToken(ctx, token)
    const row = await findAttachment(ctx.db, { accountId, agentId }, id)
    if (!row) throw noSuchFile()
    const stream = opened(ctx.filesDir, row)
    await new Promise<void>((resolve, reject) => {
      stream.once('open', () => resolve())
      stream.once('error', () => reject(noSuchFile()))
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
  }),
]

function opened(filesDir: string, row: AttachmentRow): ReadStream {
  try {
    return openAttachment(filesDir, row)
  } catch {
    throw noSuchFile()
  }
}

type Named = { accountId: AccountId; agentId: string; id: string }

async function readToken({ secrets }: Deps, token: string): Promise<Named> {
  try {
    const parts: unknown = JSON.parse(await secrets.decrypt(token, PLACE))
    const [accountId, agentId, id, until] = Array.isArray(parts) ? parts : []
    if (until > Date.now()) return { accountId, agentId, id }
  } catch {
    // The token is damaged or was made by another installation.
  }
  throw noSuchFile()
}
