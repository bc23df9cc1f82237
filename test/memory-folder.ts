import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Linux mounts a file system here that is kept in memory. */
const SHARED_MEMORY = '/dev/shm'
const PREFIX = 'parley-test-'
const GB = 2 ** 30
/** The databases of the tests need a fraction of this. */
const NEEDED = 4 * GB
/** This much memory is left to the processes of the tests. */
const LEFT_TO_PROCESSES = 4 * GB

/** Returns the folder for files that later runs on this machine use again. */
export const keptFolder = (): string => process.env.TEST_KEPT_FOLDER ?? tmpdir()

/** Makes this process and its children create their temporary files in memory, except those in `keptFolder`. */
export function moveIntoMemory(): void {
  process.env.TEST_KEPT_FOLDER = tmpdir()
  process.env.TMPDIR = createMemoryFolder() ?? tmpdir()
}

/**
 * Creates a folder in memory for the temporary files of this run, which is removed when the process exits. Each
 * database of a test consists of a thousand files, and creating them on a disk takes longer than most tests. Returns
 * null if there is no file system in memory, or too little memory.
 */
function createMemoryFolder(): string | null {
  if (!existsSync(SHARED_MEMORY)) return null
  removeLeftOver()
  const { bavail, bsize } = statfsSync(SHARED_MEMORY)
  if (bavail * bsize < NEEDED || process.availableMemory() < NEEDED + LEFT_TO_PROCESSES) return null
  const folder = join(SHARED_MEMORY, `${PREFIX}${process.pid}`)
  try {
    mkdirSync(folder)
  } catch {
    return null
  }
  // PostgreSQL runs as another user.
  chmodSync(folder, 0o711)
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Removes the folders of runs that were killed. */
function removeLeftOver(): void {
  for (const name of readdirSync(SHARED_MEMORY)) {
    if (!name.startsWith(PREFIX) || existsSync(`/proc/${name.slice(PREFIX.length)}`)) continue
    try {
      rmSync(join(SHARED_MEMORY, name), { recursive: true, force: true })
    } catch {
      // Another user's folder is left to that user.
    }
  }
}
