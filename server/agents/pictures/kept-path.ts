import { join } from 'node:path'

/** Returns whether a path stays below the files folder and within the folders of its owners. */
export function isKept(path: string, ...owners: string[]): boolean {
  const names = path.split('/')
  const isOwn = names.length > owners.length && owners.every((owner, at) => names[at] === owner)
  return isOwn && names.every((name) => /^[\w-]+$/.test(name))
}

/** Returns the path of a file that a row names. Throws unless it isKept, because rows may come from a forged export. */
export function keptPath(filesDir: string, path: string, ...owners: string[]): string {
  if (isKept(path, ...owners)) return join(filesDir, path)
  throw new Error('A row names a file that is not its own.')
}
