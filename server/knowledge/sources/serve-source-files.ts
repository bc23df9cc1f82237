import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { extname } from 'node:path'
import { sql } from 'kysely'
import type { Db } from '../../platform/db/database.ts'
import { isId } from '../../platform/db/ids.ts'
import { ofAgent, type SourceRef } from '../../platform/db/refs.ts'
import { ApiError } from '../../platform/http/errors.ts'
import { type RawRoute, rawRoute } from '../../platform/http/server/serve-raw.ts'
import type { Secrets } from '../../platform/secrets/secrets.ts'
import { recordOf } from '../../platform/unknown-values.ts'
import { ADDRESS_OF_FILE } from '../search/answering/citations.ts'
import { ownPath } from './files.ts'
import { openSourceFile } from './files-contract.ts'

type Deps = { db: Db; secrets: Secrets; filesDir: string }

const noSuchSourceFile = (cause?: unknown): ApiError =>
  new ApiError('RESOURCE_NOT_FOUND', { message: 'There is no such file, or its address has expired.', cause })

/** The media types that browsers display and that cannot run scripts; all other files are downloads. */
const SHOWN: Record<string, string> = {
  '.pdf': 'application/pdf',
  '.txt': 'text/plain; charset=utf-8',
  '.md': 'text/plain; charset=utf-8',
  '.csv': 'text/plain; charset=utf-8',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.webp': 'image/webp',
}

export const sourceFileRoutes = (ctx: Deps): RawRoute[] => [
  rawRoute(openSourceFile, async ({ params: { token }, reply }) => {
    const file = await findFile(ctx, await readToken(ctx, token))
    const size = await stat(file.path).then(
      (found) => found.size,
      () => null,
    )
    if (size === null) throw noSuchSourceFile()
    // The upload checked the content against the extension, but not against the sender's media type.
    const extension = extname(file.name).toLowerCase()
    const shown = SHOWN[extension]
    const name = encodeURIComponent(file.name.toWellFormed()).replace(
      /['()*]/g,
      (sign) => `%${sign.charCodeAt(0).toString(16)}`,
    )
    reply.headers({
      'content-type': shown ?? 'application/octet-stream',
      'content-length': size,
      'content-disposition': `${shown ? 'inline' : 'attachment'}; filename*=UTF-8''${name}`,
      'x-content-type-options': 'nosniff',
      // The viewers of browsers do not open a PDF in a sandbox.
      'content-security-policy':
        extension === '.pdf'
          ? "default-src 'none'; object-src 'self'; style-src 'unsafe-inline'; frame-ancestors 'none'"
          : "default-src 'none'; sandbox",
      'cross-origin-resource-policy': 'cross-origin',
      'cache-control': 'private, max-age=3600',
      'referrer-policy': 'no-referrer',
    })
    return reply.send(createReadStream(file.path))
  }),
]

async function findFile(
  { db, filesDir }: Deps,
  { accountId, agentId, sourceId }: SourceRef,
): Promise<{ path: string; name: string }> {
  const row = isId(sourceId)
    ? await db
        .selectFrom('sources')
        .select(['id', 'account_id', 'agent_id', 'name', 'metadata', 'status'])
        .select(sql<string | null>`content ->> 'file'`.as('file'))
        .where(ofAgent({ accountId, agentId }))
        .where('id', '=', sourceId)
        .where('type', '=', 'file')
        .executeTakeFirst()
    : undefined
  if (!row?.file || row.status === 'toBeDeleted') throw noSuchSourceFile()
  const { filename } = recordOf(row.metadata)
  return {
    path: placeOf(filesDir, { ...row, content: { file: row.file } }),
    name: typeof filename === 'string' ? filename : (row.name ?? 'file'),
  }
}

/** A row of a forged backup may name a file that is not its own. */
function placeOf(filesDir: string, row: Parameters<typeof ownPath>[1]): string {
  try {
    return ownPath(filesDir, row)
  } catch (cause) {
    throw noSuchSourceFile(cause)
  }
}

async function readToken({ secrets }: Deps, token: string): Promise<SourceRef> {
  try {
    const parts: unknown = JSON.parse(await secrets.decrypt(token, ADDRESS_OF_FILE))
    const [accountId, agentId, sourceId, until] = Array.isArray(parts) ? parts : []
    if (until > Date.now()) return { accountId, agentId, sourceId }
  } catch {
    // The token is damaged or was made by another installation.
  }
  throw noSuchSourceFile()
}
