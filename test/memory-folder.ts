import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Where Linux keeps files in memory. */
const SHARED_MEMORY = '/dev/shm'
const PREFIX = 'parley-test-'
const GB = 2 ** 30
/** What the databases of the tests need at most, several times over. */
const NEEDED = 4 * GB
/** What has to be left to the processes of the tests. */
const LEFT_TO_PROCESSES = 4 * GB

/** Returns the folder for what later runs on this machine use again. */
export const keptFolder = (): string => process.env.TEST_KEPT_FOLDER ?? tmpdir()

/** Moves the temporary files of this process and its children into memory, and leaves what is kept where it is. */
export function moveIntoMemory(): void {
  process.env.TEST_KEPT_FOLDER = tmpdir()
  process.env.TMPDIR = createMemoryFolder() ?? tmpdir()
}

/**
 * Creates a folder in memory for the temporary files of this run, which is removed when the process exits. Each
 * database of a test consists of a thousand files, and to create them on a disk takes longer than most tests. Returns
 * null if there is no such place or too little memory.
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
      // It belongs to another user.
    }
  }
}
