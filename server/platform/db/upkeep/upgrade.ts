import { existsSync } from 'node:fs'
import { chmod, copyFile, cp, link, mkdir, readdir, rename, rm, stat, statfs } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { sql } from 'kysely'
import { codeOf, messageOf } from '../../unknown-values.ts'
import type { Database, Db } from '../database.ts'
import { type Applied, type Migration, MigrationRefused, migrate, readMigrations } from './migrate.ts'

const MAX_BACKUPS = 3
const UNFINISHED = '.unfinished'
const BACKUP_NAME = /^\w+-before-\w+$/
/** A backup of the database, and as much again for what the migrations rewrite. */
const ROOM_FOR_COPIES = 2
const MB = 1_000_000

/**
 * Migrates the database of the service in `dataDir`. An embedded one is backed up before a newer version changes it.
 * Throws MigrationRefused.
 */
export async function upgrade(
  { db, embedded }: Pick<Database, 'db' | 'embedded'>,
  dataDir: string,
  say: (line: string) => void,
  migrations: Migration[] = readMigrations(),
): Promise<void> {
  const backUp = async (session: Db, applied: Applied[], pending: Migration[]): Promise<void> => {
    const folder = await backUpFolder(session, dataDir, applied, pending)
    say(
      `The data folder is backed up in ${folder} before the upgrade. Delete it when you no longer need it; docs/operations/running.md says how to put it back.`,
    )
  }
  // A database in memory has no folder.
  const isInFolder = embedded && existsSync(join(dataDir, 'database'))
  await migrate(db, migrations, { say, ...(isInFolder ? { before: backUp } : {}) })
}

/** What the upgrade of an embedded database needs on the disk of its backups, and what is free there, in bytes. */
export async function roomForUpgrade(dataDir: string): Promise<{ needed: number; free: number }> {
  const backups = join(dataDir, 'backups')
  const { bavail, bsize } = await statfs(existsSync(backups) ? backups : dataDir)
  return { needed: ROOM_FOR_COPIES * (await bytesIn(join(dataDir, 'database'))), free: bavail * bsize }
}

/**
 * Copies the database, the secret key and the uploaded files of the data folder, and returns the copy's folder. Nobody
 * else uses the session of the embedded database, so its files do not change meanwhile. Uploaded files never change;
 * they are linked where the file system can do that, which takes no room. Another try of the same upgrade replaces the
 * copy. Throws MigrationRefused.
 */
async function backUpFolder(
  session: Db,
  dataDir: string,
  applied: Applied[],
  pending: Migration[],
): Promise<string> {
  const backups = join(dataDir, 'backups')
  const folder = join(backups, `${numberOfNewest(applied)}-before-${numberOfNewest(pending)}`)
  const unfinished = `${folder}${UNFINISHED}`
  await sql`checkpoint`.execute(session)
  try {
    await mkdir(backups, { recursive: true, mode: 0o700 })
    await chmod(backups, 0o700)
    for (const name of await readdir(backups))
      if (name.endsWith(UNFINISHED)) await rm(join(backups, name), { recursive: true })
    await requireRoom(dataDir, backups)
    await mkdir(unfinished, { mode: 0o700 })
    await cp(join(dataDir, 'database'), join(unfinished, 'database'), { recursive: true })
    const key = join(dataDir, 'secret.key')
    if (existsSync(key)) await copyFile(key, join(unfinished, 'secret.key'))
    await linkFiles(join(dataDir, 'files'), join(unfinished, 'files'))
    await rm(folder, { recursive: true, force: true })
    await rename(unfinished, folder)
    await removeOld(backups)
  } catch (cause) {
    await rm(unfinished, { recursive: true, force: true }).catch(() => {})
    if (cause instanceof MigrationRefused || codeOf(cause) === undefined) throw cause
    throw new MigrationRefused(
      `The backup before the upgrade cannot be written to ${backups} (${messageOf(cause)}). Nothing was changed. Free some space, correct its permissions, or replace it with a link to another folder, and start again.`,
      { cause },
    )
  }
  return folder
}

async function requireRoom(dataDir: string, backups: string): Promise<void> {
  const { needed, free } = await roomForUpgrade(dataDir)
  if (needed <= free) return
  throw new MigrationRefused(
    `The upgrade needs ${inMb(needed)} MB for a backup of the database and for its changes, and the disk of ${backups} has ${inMb(free)} MB. Nothing was changed. Delete older backups there, free space in another way, or replace that folder with a link to one on another disk, and start again.`,
  )
}

const inMb = (bytes: number): number => Math.ceil(bytes / MB)

/** Returns the number of the newest migration, as in the names of backups. */
const numberOfNewest = (migrations: { name: string }[]): string =>
  migrations
    .map(({ name }) => name.split(/\W|_/)[0] ?? '')
    .sort()
    .at(-1) ?? ''

async function linkFiles(from: string, to: string): Promise<void> {
  if (!existsSync(from)) return
  await mkdir(to, { mode: 0o700 })
  for (const entry of await readdir(from, { recursive: true, withFileTypes: true })) {
    const source = join(entry.parentPath, entry.name)
    const target = join(to, relative(from, source))
    if (entry.isDirectory()) await mkdir(target, { recursive: true, mode: 0o700 })
    if (!entry.isFile()) continue
    await mkdir(dirname(target), { recursive: true, mode: 0o700 })
    await link(source, target).catch(() => copyFile(source, target))
  }
}

async function removeOld(backups: string): Promise<void> {
  const found = await Promise.all(
    (await readdir(backups))
      .filter((name) => BACKUP_NAME.test(name))
      .map(async (name) => ({ name, made: (await stat(join(backups, name))).mtimeMs })),
  )
  const old = found.sort((a, b) => b.made - a.made).slice(MAX_BACKUPS)
  for (const { name } of old) await rm(join(backups, name), { recursive: true, force: true })
}

async function bytesIn(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const sizes = entries
    .filter((entry) => entry.isFile())
    .map(async (entry) => (await stat(join(entry.parentPath, entry.name))).size)
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}
