import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf } from '../../platform/unknown-values.ts'

/** Returns whether a path stays below the files folder and within the folders of its owners. */
export function isSafePath(path: string, ...owners: string[]): boolean {
  const names = path.split('/')
  const isOwn = names.length > owners.length && owners.every((owner, at) => names[at] === owner)
  return isOwn && names.every((name) => /^[\w-]+$/.test(name))
}

/**
 * Returns the path of a file that a row names. Throws unless it isKept and no link leads elsewhere, because rows and
 * files may come from a forged backup or export.
 */
export function safePath(filesDir: string, path: string, ...owners: string[]): string {
  if (isSafePath(path, ...owners) && isReal(filesDir, path)) return join(filesDir, path)
  throw new Error('A row names a file that is not its own.')
}

function isReal(filesDir: string, path: string): boolean {
  try {
    return realpathSync.native(join(filesDir, path)) === join(realpathSync.native(filesDir), path)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return true
    throw error
  }
}
