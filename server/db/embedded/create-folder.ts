import { execFile } from 'node:child_process'
import { existsSync, renameSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { FolderUnusable } from './folder-lock.ts'

/** The error of the file system that PGlite is compiled with, whose numbers are its own. */
const DISK_FULL = /errno: 51\b/

type Failed = Error & { stderr?: string }

/**
 * Creates the folder of the embedded database if it does not exist. A process of its own does that, because PGlite keeps
 * the memory of this step, some 200 MB. A folder that was left unfinished is made again. Throws FolderUnusable, for
 * instance when the disk is full.
 */
export async function createFolder(folder: string): Promise<void> {
  if (existsSync(folder)) return
  const unfinished = `${folder}.unfinished`
  rmSync(unfinished, { recursive: true, force: true })
  const program = fileURLToPath(new URL('./initialise-database.ts', import.meta.url))
  await promisify(execFile)(process.execPath, ['--liftoff-only', program, unfinished]).catch(
    (cause: Failed) => {
      const said = /^\w*Error\b.*/m.exec(cause.stderr ?? '')?.[0] ?? cause.message
      const reason = DISK_FULL.test(said) ? 'the disk is full' : said
      throw new FolderUnusable(`DATA_DIR: the database cannot be created in ${folder} (${reason}).`, {
        cause,
      })
    },
  )
  renameSync(unfinished, folder)
}
