import { chmodSync, lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf } from '../../unknown-values.ts'

/** The permissions of the group and of all others. */
const OTHERS = 0o077
/** What the service keeps in the data folder beside the embedded database. */
const ENTRIES = ['secret.key', 'lock', 'lock-journal', 'files', 'uploads']

/** Removes the permissions of other users on everything in the data folder except the database. */
export function keepFolderToOwner(dataDir: string): void {
  // Others cannot read what is in a folder that they cannot enter.
  for (const name of ENTRIES) closeToOthers(join(dataDir, name))
}

/** Removes the permissions of other users on a folder and on everything in it. */
export function keepToOwner(folder: string): void {
  closeToOthers(folder)
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
    if (entry.isFile() || entry.isDirectory()) closeToOthers(join(entry.parentPath, entry.name))
}

/** A failure is only reported: only the owner of a file can change its permissions, and some file systems have none. */
function closeToOthers(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (!found || found.isSymbolicLink() || (found.mode & OTHERS) === 0 || process.platform === 'win32') return
  try {
    chmodSync(path, found.mode & ~OTHERS)
  } catch (error) {
    const code = codeOf(error)
    process.stderr.write(
      `Other users of this machine may read ${path}: its permissions cannot be changed (${code}). Make the user of the service its owner.\n`,
    )
  }
}
