import { appendFile, mkdir, rename, rm } from 'node:fs/promises'
import { dirname, resolve, sep } from 'node:path'
import { sql } from 'kysely'
import type { Db, Trx } from '../db/database.ts'
import { json } from '../db/json.ts'
import { readMigrations } from '../db/migrate.ts'
import { type Line, readBackup } from './backup-format.ts'
import { backupTables, settingsLeftOut } from './backup-tables.ts'
import { CommandFailure } from './command.ts'
import type { Counts } from './write-backup.ts'

/**
 * Replaces all data by that of a backup, in one transaction; a file that is damaged or of another version is
 * found out before anything is changed.
 */
export async function restoreBackup(db: Db, filesDir: string, file: string): Promise<Counts> {
  await check(file)
  const staged = `${filesDir}.restoring`
  const counts: Counts = { rows: 0, files: 0 }
  await rm(staged, { recursive: true, force: true })
  await mkdir(staged, { recursive: true, mode: 0o700 })
  try {
    await db.transaction().execute(async (trx) => {
      await empty(trx)
      const files = new Set<string>()
      for await (const line of readBackup(file)) {
        if (line.kind === 'rows') counts.rows += await insert(trx, line)
        if (line.kind === 'file') {
          files.add(line.path)
          await write(staged, line)
        }
      }
      counts.files = files.size
      // Indexes in memory follow the version; it must differ from any that they have seen.
      await sql`update agents set knowledge_version = (extract(epoch from clock_timestamp()) * 1000)::bigint`.execute(
        trx,
      )
      await swap(filesDir, staged)
    })
  } catch (error) {
    await swapBack(filesDir)
    throw error
  } finally {
    await rm(staged, { recursive: true, force: true })
  }
  await rm(replacedOf(filesDir), { recursive: true, force: true })
  return counts
}

async function check(file: string): Promise<void> {
  let isFirst = true
  for await (const line of readBackup(file)) {
    if (isFirst) refuseOtherVersion(line)
    isFirst = false
  }
}

function refuseOtherVersion(line: Line): void {
  const ours = readMigrations()
  const theirs = line.kind === 'head' && line.format === 1 ? line.migrations : {}
  const same =
    ours.length === Object.keys(theirs).length &&
    ours.every(({ name, checksum }) => theirs[name] === checksum)
  if (!same) {
    throw new CommandFailure(
      'The backup was made by another version of Parley; restore it with that version, then upgrade.',
    )
  }
}

async function empty(trx: Trx): Promise<void> {
  for (const { name } of [...backupTables].reverse()) {
    const some = name === 'settings' ? sql`where name not in (${sql.join([...settingsLeftOut])})` : sql``
    await sql`delete from ${sql.table(name)} ${some}`.execute(trx)
  }
}

async function insert(trx: Trx, { table, rows }: Extract<Line, { kind: 'rows' }>): Promise<number> {
  if (!backupTables.some(({ name }) => name === table))
    throw new CommandFailure(`The backup has an unknown table ${table}.`)
  await sql`insert into ${sql.table(table)}
    select * from jsonb_populate_recordset(null::${sql.table(table)}, ${json(rows)})`.execute(trx)
  return rows.length
}

async function write(folder: string, { path, data }: Extract<Line, { kind: 'file' }>): Promise<void> {
  const target = resolve(folder, path)
  if (!target.startsWith(folder + sep))
    throw new CommandFailure(`The backup has a file outside of its folder: ${path}.`)
  await mkdir(dirname(target), { recursive: true, mode: 0o700 })
  await appendFile(target, Buffer.from(data, 'base64'), { mode: 0o600 })
}

const replacedOf = (filesDir: string): string => `${filesDir}.replaced`

async function swap(filesDir: string, staged: string): Promise<void> {
  await rm(replacedOf(filesDir), { recursive: true, force: true })
  await rename(filesDir, replacedOf(filesDir)).catch(ignoreMissing)
  await rename(staged, filesDir)
}

async function swapBack(filesDir: string): Promise<void> {
  const replaced = replacedOf(filesDir)
  await rename(replaced, `${replaced}.back`)
    .then(async () => {
      await rm(filesDir, { recursive: true, force: true })
      await rename(`${replaced}.back`, filesDir)
    })
    .catch(ignoreMissing)
}

function ignoreMissing(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
}
