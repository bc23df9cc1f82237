import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** Thrown when another process holds the data folder. */
export class FolderInUse extends Error {
  override name = 'FolderInUse'
}

/**
 * Takes the exclusive lock on a data folder; two processes on one embedded database lose data silently.
 * The lock is SQLite's own file lock, so the kernel drops it with the process, however that ends: no stale
 * lock after kill -9, and no process numbers, which mean nothing between containers.
 */
export function lockFolder(folder: string): { release(): void } {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const lock = new DatabaseSync(join(folder, 'lock'), { timeout: 0 })
  try {
    lock.exec('pragma journal_mode = off; begin exclusive')
  } catch (cause) {
    lock.close()
    throw new FolderInUse(
      `The data folder ${folder} is in use by another Parley process. Stop that one first, or set DATA_DIR to another folder.`,
      { cause },
    )
  }
  return { release: () => lock.close() }
}
