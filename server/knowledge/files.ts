import { randomBytes } from 'node:crypto'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { AccountId } from '../db/tables.ts'

/** Where the files of a source lie, below the files folder; names of customers are never part of a path. */
export const folderOf = (accountId: AccountId, agentId: string, sourceId: string): string =>
  `${accountId}/${agentId}/${sourceId}`

/** Writes an uploaded file and answers its path below the files folder. */
export async function keepFile(filesDir: string, folder: string, bytes: Uint8Array): Promise<string> {
  const path = `${folder}/${randomBytes(12).toString('hex')}`
  await mkdir(dirname(join(filesDir, path)), { recursive: true, mode: 0o700 })
  await writeFile(join(filesDir, path), bytes, { mode: 0o600, flush: true })
  return path
}

export const readKept = (filesDir: string, path: string): Promise<Uint8Array> =>
  readFile(join(filesDir, path))

export const dropFile = (filesDir: string, path: string): Promise<void> =>
  rm(join(filesDir, path), { force: true })
