import { appendFile, mkdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { sql } from 'kysely'
import { indexAllWords } from '../../knowledge/search/index-words.ts'
import type { Db, Trx } from '../../platform/db/database.ts'
import { json } from '../../platform/db/statements/json.ts'
import { readMigrations } from '../../platform/db/upkeep/migrate.ts'
import { preparePgvector } from '../../platform/db/upkeep/pgvector.ts'
import { hasFormerQueue, takeOverFormerJobs } from '../../platform/jobs/former-jobs.ts'
import { CommandFailure } from '../command.ts'
import { type Line, readBackup } from './backup-format.ts'
import { backupTables, settingsLeftOut } from './backup-tables.ts'
import { dropSpaces, leaveMissingSpaces, restoreVectors, VECTORS } from './backup-vectors.ts'
import { type Locked, withoutForeignSecrets } from './foreign-secrets.ts'
import { refuseForeignFiles, refuseForeignPath } from './refuse-foreign.ts'
import { type Counts, filesIn } from './write-backup.ts'

/** An id that no key has, so that every encrypted text counts as foreign. */
const NO_KEY = ['']

/**
 * Replaces all data with that of a backup, in one transaction. A damaged file or one of another version is detected
 * before anything is changed. Uploaded files have random names and never change, so the files of the backup are added
 * first, and files that are no longer referenced are deleted after the commit. If the process is interrupted at any
 * point, every row still finds its file. `withoutSecrets` leaves out everything encrypted. Throws CommandFailure.
 */
export async function restoreBackup(
  db: Db,
  filesDir: string,
  file: string,
  { withoutSecrets = false } = {},
): Promise<Counts & { locked: Locked; withoutVectors: number }> {
  await checkBackup(file)
  await preparePgvector(db)
  const staged = `${filesDir}.restoring`
  const before = new Set(await filesIn(filesDir))
  const files = new Set<string>()
  const counts: Counts = { rows: 0, files: 0 }
  const locked: Locked = { actions: 0, rows: 0 }
  let withoutVectors = 0
  let isCommitting = false
  await rm(staged, { recursive: true, force: true })
  await mkdir(staged, { recursive: true, mode: 0o700 })
  try {
    await db.transaction().execute(async (trx) => {
      await empty(trx)
      for await (const line of readBackup(file)) {
        if (line.kind === 'rows' && line.table === VECTORS) {
          const restored = await restoreVectors(trx, line)
          counts.rows += restored.rows
          withoutVectors += restored.withoutVectors
        } else if (line.kind === 'rows') {
          refuseForeignFiles(line)
          const isLocked =
            withoutSecrets && backupTables.some((one) => one.name === line.table && one.encrypted)
          const rows = isLocked ? withoutForeignSecrets(line, NO_KEY, locked) : line.rows
          counts.rows += await insertRows(trx, { ...line, rows })
        }
        if (line.kind !== 'file') continue
        refuseForeignPath(line.path)
        files.add(line.path)
        await writePiece(staged, line)
      }
      // What was derived from the knowledge follows its version, so it must differ from any that was seen.
      await sql`update agents set knowledge_version = (extract(epoch from clock_timestamp()) * 1000)::bigint`.execute(
        trx,
      )
      await leaveMissingSpaces(trx)
      for (const path of files) await placeFile(join(staged, path), join(filesDir, path))
      isCommitting = true
    })
  } catch (error) {
    // A commit whose response was lost may have happened; then the files have to stay.
    if (!isCommitting) await removeAll(filesDir, without(files, before))
    throw error
  } finally {
    await rm(staged, { recursive: true, force: true })
  }
  await removeAll(filesDir, without(before, files))
  // If the command is interrupted here, the service indexes the rest when it starts.
  await indexAllWords(db)
  counts.files = files.size
  return { ...counts, locked, withoutVectors }
}

/** Throws CommandFailure unless the file can be restored completely. */
export async function checkBackup(file: string): Promise<void> {
  let first: Line | null = null
  for await (const line of readBackup(file)) {
    first ??= line
    if (line.kind === 'head' && line.account)
      throw new CommandFailure(
        `${file} contains one account, and restoring it would remove all others; use import. Nothing was changed.`,
      )
  }
  if (!first) throw new CommandFailure(`${file} is not a backup of Parley; nothing was changed.`)
  // A damaged first line looks like that of another version, so this comes after the whole file was read.
  refuseOtherVersion(first)
}

/** Throws unless the first line says that the backup was written with this program's schema. */
export function refuseOtherVersion(line: Line): void {
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
  // The jobs in the queue concern the previous rows. Some would delete files that the restore brings back.
  if (await hasFormerQueue(trx)) await takeOverFormerJobs(trx)
  await sql`delete from jobs`.execute(trx)
  await dropSpaces(trx)
  for (const { name } of [...backupTables].reverse()) {
    const some = name === 'settings' ? sql`where name not in (${sql.join([...settingsLeftOut])})` : sql``
    await sql`delete from ${sql.table(name)} ${some}`.execute(trx)
  }
}

/** Adds the rows of a line. Throws for an unknown table. */
export async function insertRows(
  trx: Trx,
  { table, rows }: Extract<Line, { kind: 'rows' }>,
): Promise<number> {
  if (!backupTables.some(({ name }) => name === table))
    throw new CommandFailure(`The backup has an unknown table ${table}.`)
  const kept = table === 'sources' ? rows.map((row) => ({ ...row, words_version: null })) : rows
  await sql`insert into ${sql.table(table)}
    select * from jsonb_populate_recordset(null::${sql.table(table)}, ${json(kept)})`.execute(trx)
  return rows.length
}

/** Adds a piece to a file in the folder. Its path has been checked. */
export async function writePiece(
  folder: string,
  { path, data }: Extract<Line, { kind: 'file' }>,
): Promise<void> {
  const target = join(folder, path)
  await mkdir(dirname(target), { recursive: true, mode: 0o700 })
  await appendFile(target, Buffer.from(data, 'base64'), { mode: 0o600 })
}

/** Moves a file and creates missing folders. */
export async function placeFile(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 })
  await rename(from, to)
}

/** Deletes files in a folder. */
export async function removeAll(folder: string, paths: Iterable<string>): Promise<void> {
  for (const path of paths) await rm(join(folder, path), { force: true })
}

const without = (all: Set<string>, others: Set<string>): string[] =>
  [...all].filter((path) => !others.has(path))
