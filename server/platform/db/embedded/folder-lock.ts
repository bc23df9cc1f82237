import { accessSync, constants, existsSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { messageOf, recordOf } from '../../unknown-values.ts'

/** Thrown when another process holds the data folder. */
export class FolderInUse extends Error {
  override name = 'FolderInUse'
}

/** Thrown when the data folder cannot be created or written to. */
export class FolderUnusable extends Error {
  override name = 'FolderUnusable'
}

const SQLITE_BUSY = 5

/** Creates the data folder if it does not exist. Throws FolderUnusable. */
export function requireFolder(folder: string): void {
  try {
    // On a read-only file system, a recursive mkdir fails with ENOENT, which says nothing.
    if (!existsSync(folder) && existsSync(dirname(folder))) accessSync(dirname(folder), constants.W_OK)
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (cause) {
    throw unusable(folder, cause)
  }
}

/**
 * Acquires the exclusive lock on a data folder, because two processes on one embedded database lose data silently. The
 * lock is SQLite's file lock, which the kernel releases when the process ends in any way: there are no stale locks
 * after kill -9, and no process ids, which mean nothing across containers. Throws FolderInUse and FolderUnusable.
 */
export function lockFolder(folder: string): { release(): void } {
  requireFolder(folder)
  let lock: DatabaseSync
  try {
    lock = new DatabaseSync(join(folder, 'lock'), { timeout: 0 })
  } catch (cause) {
    throw unusable(folder, cause)
  }
  try {
    lock.exec('pragma journal_mode = off; begin exclusive')
  } catch (cause) {
    lock.close()
    if (recordOf(cause).errcode !== SQLITE_BUSY) throw unusable(folder, cause)
    throw new FolderInUse(
      `The data folder ${folder} is in use by another Parley process. Stop that one first, or set DATA_DIR to another folder.`,
      { cause },
    )
  }
  return { release: () => lock.close() }
}

const unusable = (folder: string, cause: unknown): FolderUnusable =>
  new FolderUnusable(`DATA_DIR: the folder ${folder} cannot be used (${messageOf(cause)}).`, { cause })
