import { randomBytes } from 'node:crypto'
import { readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { safePath } from '../../agents/pictures/safe-path.ts'
import type { Db } from '../../platform/db/database.ts'
import { isId } from '../../platform/db/ids.ts'
import type { AgentRef } from '../../platform/db/refs.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import { moveFile } from '../../platform/http/bodies/uploads.ts'

/**
 * Returns the folder of a source's files, below the files folder. Names that customers choose are never part of a
 * path.
 */
export const folderOf = ({ accountId, agentId }: AgentRef, sourceId: string): string =>
  `${accountId}/${agentId}/${sourceId}`

/** Moves an uploaded file to its place and returns its path below the files folder. */
export async function keepFile(filesDir: string, folder: string, file: { path: string }): Promise<string> {
  const path = `${folder}/${randomBytes(12).toString('hex')}`
  await moveFile(file.path, join(filesDir, path))
  return path
}

/** Returns the content of a source's file. Throws when the source names a file that is not its own. */
export const readKept = async (filesDir: string, source: OwnFile): Promise<Uint8Array> =>
  readFile(ownPath(filesDir, source))

type OwnFile = { id: string; account_id: AccountId; agent_id: string; content: { file?: string } }

export const ownPath = (filesDir: string, { account_id, agent_id, id, content }: OwnFile): string =>
  safePath(filesDir, content.file ?? '', account_id, agent_id, id)

export const dropFile = (filesDir: string, path: string): Promise<void> =>
  rm(safePath(filesDir, path), { force: true })

/** A file is written before the row that names it is committed, so files are kept for this long without one. */
const GRACE_MS = 60 * 60 * 1_000
const FOLDERS_AT_ONCE = 500

/** Removes the files of sources that no row names, because a transaction was rolled back or a process died. */
export async function sweepSourceFiles(db: Db, filesDir: string): Promise<number> {
  let removed = 0
  for (const accountId of await namesIn(filesDir)) {
    for (const agentId of await namesIn(join(filesDir, accountId))) {
      const ids = (await namesIn(join(filesDir, accountId, agentId))).filter(isId)
      for (let from = 0; from < ids.length; from += FOLDERS_AT_ONCE) {
        const batch = ids.slice(from, from + FOLDERS_AT_ONCE)
        const kept = await db
          .selectFrom('sources')
          .select(sql<string | null>`content ->> 'file'`.as('file'))
          .where('id', 'in', batch)
          .execute()
        const known = new Set(kept.map(({ file }) => file))
        for (const id of batch) removed += await sweepFolder(filesDir, `${accountId}/${agentId}/${id}`, known)
      }
    }
  }
  return removed
}

async function sweepFolder(filesDir: string, folder: string, known: Set<string | null>): Promise<number> {
  let removed = 0
  for (const name of await namesIn(join(filesDir, folder))) {
    const path = `${folder}/${name}`
    if (known.has(path)) continue
    const { mtimeMs } = await stat(join(filesDir, path)).catch(() => ({ mtimeMs: Date.now() }))
    if (Date.now() - mtimeMs < GRACE_MS) continue
    await dropFile(filesDir, path)
    removed++
  }
  return removed
}

const namesIn = (folder: string): Promise<string[]> => readdir(folder).catch(() => [])
