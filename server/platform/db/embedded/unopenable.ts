/** What to do when a database is lost. */
export const RESTORE = 'restore a backup with "npm run -s parley -- restore FILE"'

/** Thrown when the files of the embedded database are damaged or not accessible. */
export class DatabaseDamaged extends Error {
  override name = 'DatabaseDamaged'
}

/** Thrown when the embedded database cannot be opened because the disk is full. */
export class StorageFull extends Error {
  override name = 'StorageFull'
  constructor(folder: string, options?: ErrorOptions) {
    super(
      `The disk with ${folder} is full, so the database cannot run. Everything that was acknowledged is stored. Free some space, then start the service again.`,
      options,
    )
  }
}

/** The errors of PostgreSQL that end it, in the lines that it prints. */
const FATAL = / (?:FATAL|PANIC):\s+(.*)/
const DETAIL = / DETAIL:\s+(.*)/
const NO_SPACE = /No space left on device/
const NO_RIGHT = /Permission denied|Read-only file system|Operation not permitted/

/** Returns the reason that the printed lines give for the end of the database; null when they give none. */
export function reasonIn(lines: string[]): string | null {
  const at = lines.findLastIndex((line) => FATAL.test(line))
  if (at === -1) return null
  const detail = DETAIL.exec(lines[at + 1] ?? '')?.[1]
  const said = FATAL.exec(lines[at] ?? '')?.[1] ?? ''
  return detail === undefined ? said : `${said}: ${detail}`
}

/** Returns the error for a database that ended with this reason. */
export function endedBecause(folder: string, reason: string): Error {
  if (NO_SPACE.test(reason)) return new StorageFull(folder)
  const place = `DATA_DIR: the database in ${folder} cannot be used: ${reason.replace(/\.$/, '')}.`
  if (NO_RIGHT.test(reason))
    return new DatabaseDamaged(`${place} Check the owner and the permissions of its files.`)
  return damaged(place)
}

export const damaged = (what: string): DatabaseDamaged =>
  new DatabaseDamaged(
    `${what} Its files are damaged or incomplete. Put the folder back from a copy that was made while the service was stopped, or move it away and ${RESTORE}.`,
  )
