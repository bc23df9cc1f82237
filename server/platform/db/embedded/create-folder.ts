import { execFile } from 'node:child_process'
import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { FolderUnusable } from './folder-lock.ts'
import { requireMemory } from './memory.ts'
import { keepToOwner } from './owner-only.ts'
import { RESTORE, StorageFull } from './unopenable.ts'

/** The error of the file system that PGlite is compiled with, whose numbers are its own. */
const DISK_FULL = /errno: 51\b/

type Failed = Error & { stderr?: string }

/**
 * Creates the folder of the embedded database in the data folder if it does not exist. A process of its own does that,
 * because PGlite keeps the memory of this step, some 200 MB. A folder that was left unfinished is created again. Without
 * `createIfLost`, an installation that has lost its database is refused, because a new database would look like the loss
 * of everything. Throws FolderUnusable, StorageFull and MemoryTooSmall.
 */
export async function createFolder(dataDir: string, { createIfLost = false } = {}): Promise<void> {
  const folder = join(dataDir, 'database')
  if (existsSync(join(folder, 'PG_VERSION'))) return
  if (!createIfLost) refuseLost(dataDir, folder)
  if (isFilled(folder))
    throw new FolderUnusable(
      `DATA_DIR: ${folder} is not a database: its file PG_VERSION is missing. Move the folder away first, then try again.`,
    )
  requireMemory('create')
  const unfinished = `${folder}.unfinished`
  rmSync(unfinished, { recursive: true, force: true })
  const program = fileURLToPath(new URL('./initialise-database.ts', import.meta.url))
  await promisify(execFile)(process.execPath, ['--liftoff-only', program, unfinished]).catch(
    (cause: Failed) => {
      const said = /^\w*Error\b.*/m.exec(cause.stderr ?? '')?.[0] ?? cause.message
      if (DISK_FULL.test(said)) throw new StorageFull(dataDir, { cause })
      throw new FolderUnusable(`DATA_DIR: the database cannot be created in ${folder} (${said}).`, { cause })
    },
  )
  keepToOwner(unfinished)
  renameSync(unfinished, folder)
}

function refuseLost(dataDir: string, folder: string): void {
  const signs = [
    existsSync(join(dataDir, 'secret.key')) ? 'a secret key' : '',
    isFilled(join(dataDir, 'files')) ? 'uploaded files' : '',
    existsSync(folder) ? 'a folder "database"' : '',
  ].filter((sign) => sign !== '')
  if (signs.length === 0) return
  throw new FolderUnusable(
    `DATA_DIR: ${dataDir} has ${signs.join(' and ')}, but ${join(folder, 'PG_VERSION')} is missing: the database is lost or incomplete. Put the folder "database" back from a copy, or move what is left of it away and ${RESTORE}. If this installation uses PostgreSQL, set DATABASE_URL. For a new installation, set DATA_DIR to an empty folder.`,
  )
}

const isFilled = (folder: string): boolean => existsSync(folder) && readdirSync(folder).length > 0
