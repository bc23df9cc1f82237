import { join } from 'node:path'

/** Whether a path below the files folder leads nowhere else, and into the folders of its owners. */
export function isKept(path: string, ...owners: string[]): boolean {
  const names = path.split('/')
  const isOwn = names.length > owners.length && owners.every((owner, at) => names[at] === owner)
  return isOwn && names.every((name) => /^[\w-]+$/.test(name))
}

/** Where a file lies that a row names. Rows may come from a forged export: throws unless it isKept. */
export function keptPath(filesDir: string, path: string, ...owners: string[]): string {
  if (isKept(path, ...owners)) return join(filesDir, path)
  throw new Error('A row names a file that is not its own.')
}
