import { chmodSync, lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** The rights of the group and of all others. */
const OTHERS = 0o077
/** What the service keeps in the data folder beside the embedded database. */
const ENTRIES = ['secret.key', 'lock', 'lock-journal', 'files', 'uploads']

/** Takes away the rights of others on everything in the data folder but the database. */
export function keepFolderToOwner(dataDir: string): void {
  // What is in a folder that others cannot enter is closed to them.
  for (const name of ENTRIES) takeRights(join(dataDir, name))
}

/** Takes away the rights of others on a folder and on everything in it. */
export function keepToOwner(folder: string): void {
  takeRights(folder)
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
    if (entry.isFile() || entry.isDirectory()) takeRights(join(entry.parentPath, entry.name))
}

/** Whoever may write to a file but does not own it cannot change its rights, and some file systems have none. */
function takeRights(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (!found || found.isSymbolicLink() || (found.mode & OTHERS) === 0 || process.platform === 'win32') return
  try {
    chmodSync(path, found.mode & ~OTHERS)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    process.stderr.write(
      `Other users of this machine may read ${path}: its rights cannot be changed (${code}).\n`,
    )
  }
}
