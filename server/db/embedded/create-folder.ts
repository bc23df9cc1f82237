import { execFile } from 'node:child_process'
import { existsSync, renameSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/**
 * Creates the folder of the embedded database if it does not exist. A process of its own does that, because PGlite keeps
 * the memory of this step, some 200 MB. A folder that was left unfinished is made again. Rejects when that fails.
 */
export async function createFolder(folder: string): Promise<void> {
  if (existsSync(folder)) return
  const unfinished = `${folder}.unfinished`
  rmSync(unfinished, { recursive: true, force: true })
  const program = fileURLToPath(new URL('./initialise-database.ts', import.meta.url))
  await promisify(execFile)(process.execPath, ['--liftoff-only', program, unfinished])
  renameSync(unfinished, folder)
}
