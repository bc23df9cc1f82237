import { randomBytes } from 'node:crypto'
import { createReadStream, type ReadStream } from 'node:fs'
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Selectable } from 'kysely'
import { safePath } from '../../agents/pictures/safe-path.ts'
import type { Db, Trx } from '../../platform/db/database.ts'
import { isId, newId } from '../../platform/db/ids.ts'
import { type AgentRef, ofAgent } from '../../platform/db/refs.ts'
import type { AttachmentNote, AttachmentsTable } from '../../platform/db/tables/attachments.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import { moveFile, type Upload } from '../../platform/http/bodies/uploads.ts'

export type AttachmentRow = Selectable<AttachmentsTable>

/** Returns the name for headers and pages: one line without a path, of at most 200 characters. */
export const safeName = (name: string): string =>
  name
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
    .replace(/[\u0000-\u001f\u007f/\\]+/g, '_')
    .trim()
    .slice(0, 200)
    .toWellFormed() || 'file'

/** Writes the bytes and their row. If the row is rolled back, sweepAttachments removes the bytes. */
export async function keepAttachment(
  filesDir: string,
  trx: Trx,
  { accountId, agentId }: AgentRef,
  {
    name,
    mediaType,
    ...content
  }: { name: string; mediaType: string } & ({ bytes: Uint8Array } | Pick<Upload, 'path' | 'size'>),
  belongsTo: { conversationId?: string | null; ticketId?: string | null; sender?: string } = {},
): Promise<AttachmentNote> {
  const id = newId()
  const path = `${accountId}/${agentId}/attachments/${randomBytes(12).toString('hex')}`
  const target = join(filesDir, path)
  if ('path' in content) await moveFile(content.path, target)
  else {
    await mkdir(dirname(target), { recursive: true, mode: 0o700 })
    await writeFile(target, content.bytes, { mode: 0o600, flush: true })
  }
  const size = 'path' in content ? content.size : content.bytes.byteLength
  const note = { id, name: safeName(name), type: mediaType, size }
  await trx
    .insertInto('attachments')
    .values({
      id,
      account_id: accountId,
      agent_id: agentId,
      conversation_id: belongsTo.conversationId ?? null,
      ticket_id: belongsTo.ticketId ?? null,
      name: note.name,
      media_type: mediaType,
      size: note.size,
      sender: belongsTo.sender ?? null,
      path,
    })
    .execute()
  return note
}

export async function findAttachment(db: Db, ref: AgentRef, id: string): Promise<AttachmentRow | null> {
  if (!isId(id)) return null
  const row = await db
    .selectFrom('attachments')
    .selectAll()
    .where(ofAgent(ref))
    .where('id', '=', id)
    .executeTakeFirst()
  return row ?? null
}

/** Opens the file. Throws when the row names a file that is not its own. */
export const openAttachment = (filesDir: string, row: AttachmentRow): ReadStream =>
  createReadStream(pathOf(filesDir, row))

const pathOf = (filesDir: string, { account_id, agent_id, path }: AttachmentRow): string =>
  safePath(filesDir, path, account_id, agent_id, 'attachments')

/** Returns an attachment with its bytes, or null when its row or its file no longer exists. */
export async function readAttachment(
  filesDir: string,
  db: Db,
  ref: AgentRef,
  id: string,
): Promise<{ row: AttachmentRow; bytes: Uint8Array<ArrayBuffer> } | null> {
  const row = await findAttachment(db, ref, id)
  const bytes = row && (await readBytes(filesDir, row).catch(() => null))
  return row && bytes ? { row, bytes } : null
}

const readBytes = async (filesDir: string, row: AttachmentRow): Promise<Uint8Array<ArrayBuffer>> =>
  readFile(pathOf(filesDir, row))

/** Files without a row are kept for this long, because the row may not have been committed yet. */
const GRACE_MS = 60 * 60 * 1_000

/** Removes files without rows, because their conversation was deleted or their transaction was rolled back. */
export async function sweepAttachments(db: Db, filesDir: string): Promise<number> {
  let removed = 0
  for (const accountId of await namesIn(filesDir)) {
    for (const agentId of await namesIn(join(filesDir, accountId))) {
      const folder = `${accountId}/${agentId}/attachments`
      const names = await namesIn(join(filesDir, folder))
      for (let from = 0; from < names.length; from += 500) {
        const paths = names.slice(from, from + 500).map((name) => `${folder}/${name}`)
        const kept = await db.selectFrom('attachments').select('path').where('path', 'in', paths).execute()
        const known = new Set(kept.map(({ path }) => path))
        for (const path of paths.filter((candidate) => !known.has(candidate))) {
          const { mtimeMs } = await stat(join(filesDir, path)).catch(() => ({ mtimeMs: Date.now() }))
          if (Date.now() - mtimeMs < GRACE_MS) continue
          await rm(join(filesDir, path), { force: true })
          removed++
        }
      }
    }
  }
  return removed
}

const namesIn = (folder: string): Promise<string[]> => readdir(folder).catch(() => [])

/** Assigns received files to the conversation or ticket that they were sent in. */
export async function giveAttachments(
  trx: Trx,
  accountId: AccountId,
  ids: readonly string[],
  to: { conversation_id: string } | { ticket_id: string },
): Promise<void> {
  if (ids.length === 0) return
  await trx
    .updateTable('attachments')
    .set(to)
    .where('account_id', '=', accountId)
    .where('id', 'in', ids)
    .execute()
}

/** Deletes the rows of files. Returns their paths, for the job that deletes the files themselves. */
export async function deleteAttachments(
  trx: Db,
  accountId: AccountId,
  ids: readonly string[],
): Promise<string[]> {
  if (ids.length === 0) return []
  const rows = await trx
    .deleteFrom('attachments')
    .where('account_id', '=', accountId)
    .where('id', 'in', ids)
    .returning('path')
    .execute()
  return rows.map(({ path }) => path)
}
