import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { readdir, rename, rm } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { sql } from 'kysely'
import { isSafePath } from '../../agents/pictures/safe-path.ts'
import type { Db } from '../../platform/db/database.ts'
import { readMigrations } from '../../platform/db/upkeep/migrate.ts'
import { codeOf, recordOf } from '../../platform/unknown-values.ts'
import { CommandFailure } from '../command.ts'
import { accountTables, type ScopedTable } from './account-scope.ts'
import type { AccountLine, Line } from './backup-format.ts'
import { type BackupTable, backupTables, settingsLeftOut } from './backup-tables.ts'
import { VECTORS, vectorPages } from './backup-vectors.ts'

/** Bytes. */
const FILE_PIECE = 256 * 1024

export type Counts = { rows: number; files: number }

/**
 * Writes a consistent backup of everything or of one account. The file appears once it is complete. Memory use stays at
 * one page of rows. Throws CommandFailure when the file cannot be written.
 */
export async function writeBackup(
  db: Db,
  filesDir: string,
  file: string,
  account: AccountLine | null = null,
): Promise<Counts> {
  const unfinished = `${file}.tmp`
  const counts: Counts = { rows: 0, files: 0 }
  try {
    const lines = Readable.from(textOf(backupLines(db, filesDir, counts, account)))
    await pipeline(lines, createGzip(), createWriteStream(unfinished, { mode: 0o600, flush: true }))
    await rename(unfinished, file)
  } catch (error) {
    if (String(recordOf(error).path).startsWith(file))
      throw new CommandFailure(`The backup ${file} cannot be written (${codeOf(error)}); no backup was made.`)
    throw error
  } finally {
    await rm(unfinished, { force: true })
  }
  return counts
}

async function* textOf(lines: AsyncGenerator<Line>): AsyncGenerator<string> {
  const hash = createHash('sha256')
  for await (const line of lines) {
    if (line.kind === 'end') line.sha256 = hash.digest('hex')
    const text = `${JSON.stringify(line)}\n`
    if (line.kind !== 'end') hash.update(text)
    yield text
  }
}

async function* backupLines(
  db: Db,
  filesDir: string,
  counts: Counts,
  account: AccountLine | null,
): AsyncGenerator<Line> {
  const migrations = Object.fromEntries(readMigrations().map(({ name, checksum }) => [name, checksum]))
  const head = { kind: 'head', format: 1, createdAt: new Date().toISOString(), migrations } as const
  yield account ? { ...head, account } : head
  yield* rowLines(db, counts, account)
  // Files are read after the transaction, which blocks all others on the embedded database. A file never changes, and
  // it is written before the row that refers to it.
  const folder = account ? join(filesDir, account.id) : filesDir
  for (const path of (await filesIn(folder)).map((found) => join(relative(filesDir, folder), found))) {
    let isThere = false
    for await (const piece of piecesOf(join(filesDir, path))) {
      isThere = true
      yield { kind: 'file', path, data: piece.toString('base64') }
    }
    if (isThere) counts.files++
  }
  yield { kind: 'end', ...counts, sha256: '' }
}

async function* rowLines(db: Db, counts: Counts, account: AccountLine | null): AsyncGenerator<Line> {
  const trx = await db.startTransaction().setIsolationLevel('repeatable read').execute()
  try {
    for (const table of account ? await accountTables(trx) : backupTables) {
      for await (const rows of pagesOf(trx, table, account)) {
        counts.rows += rows.length
        yield { kind: 'rows', table: table.name, rows }
      }
    }
    for await (const rows of vectorPages(trx, account)) {
      counts.rows += rows.length
      yield { kind: 'rows', table: VECTORS, rows }
    }
  } finally {
    await trx.rollback().execute()
  }
}

async function* pagesOf(
  trx: Db,
  table: BackupTable | ScopedTable,
  account: AccountLine | null,
): AsyncGenerator<Record<string, unknown>[]> {
  const { name, key, page } = table
  const owned = account && 'owner' in table ? sql`${sql.ref(`t.${table.owner}`)} = ${account.id}` : sql`true`
  const columns = sql.join(key.map((column) => sql.ref(`t.${column}`)))
  let last: unknown[] | null = null
  for (;;) {
    // Keys are compared as their own types: PostgreSQL casts the text from the previous page.
    const from = last ? sql`and (${columns}) > (${sql.join(last.map((value) => sql`${value}`))})` : sql``
    const found: { rows: { row: Record<string, unknown> }[] } = await sql<{ row: Record<string, unknown> }>`
      select to_jsonb(t) as row from ${sql.table(name)} as t where ${owned} ${from} order by ${columns} limit ${page}`.execute(
      trx,
    )
    const rows = found.rows.map(({ row }) => row)
    const kept =
      name === 'settings' ? rows.filter((row) => !settingsLeftOut.includes(String(row.name))) : rows
    if (kept.length > 0) yield kept
    const newest = rows.at(-1)
    if (!newest || rows.length < page) return
    last = key.map((column) => newest[column])
  }
}

/** Yields the file's bytes in at least one piece, or nothing when it was deleted meanwhile. */
async function* piecesOf(path: string): AsyncGenerator<Buffer> {
  let isEmpty = true
  try {
    for await (const piece of createReadStream(path, { highWaterMark: FILE_PIECE })) {
      isEmpty = false
      yield piece
    }
    if (isEmpty) yield Buffer.alloc(0)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
  }
}

/**
 * Returns the paths of all files in the folder, relative to it; none when the folder does not exist. Links, and files
 * whose names the service does not give, are left out.
 */
export async function filesIn(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true })
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll(sep, '/'))
      .filter((path) => isSafePath(path))
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return []
    throw error
  }
}
