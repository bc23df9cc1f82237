import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { readdir, rename, rm } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { sql } from 'kysely'
import type { Db } from '../db/database.ts'
import { readMigrations } from '../db/migrate.ts'
import type { Line } from './backup-format.ts'
import { type BackupTable, backupTables, settingsLeftOut } from './backup-tables.ts'

const ROWS_A_LINE = 200
const FILE_PIECE = 256 * 1024

export type Counts = { rows: number; files: number }

/** Writes a backup of one moment; the file appears when it is whole. Memory stays at a page of rows. */
export async function writeBackup(db: Db, filesDir: string, file: string): Promise<Counts> {
  const unfinished = `${file}.tmp`
  const counts: Counts = { rows: 0, files: 0 }
  try {
    await db
      .transaction()
      .setIsolationLevel('repeatable read')
      .execute(async (trx) => {
        const lines = Readable.from(textOf(backupLines(trx, filesDir, counts)))
        await pipeline(lines, createGzip(), createWriteStream(unfinished, { mode: 0o600, flush: true }))
      })
    await rename(unfinished, file)
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

async function* backupLines(trx: Db, filesDir: string, counts: Counts): AsyncGenerator<Line> {
  const migrations = Object.fromEntries(readMigrations().map(({ name, checksum }) => [name, checksum]))
  yield { kind: 'head', format: 1, createdAt: new Date().toISOString(), migrations }
  for (const table of backupTables) {
    for await (const rows of pagesOf(trx, table)) {
      counts.rows += rows.length
      yield { kind: 'rows', table: table.name, rows }
    }
  }
  for (const path of await filesIn(filesDir)) {
    for await (const piece of createReadStream(join(filesDir, path), { highWaterMark: FILE_PIECE })) {
      yield { kind: 'file', path, data: (piece as Buffer).toString('base64') }
    }
    counts.files++
  }
  yield { kind: 'end', ...counts, sha256: '' }
}

async function* pagesOf(trx: Db, { name, key }: BackupTable): AsyncGenerator<Record<string, unknown>[]> {
  const columns = sql.join(key.map((column) => sql.ref(`t.${column}`)))
  let last: unknown[] | null = null
  for (;;) {
    // Keys are compared as their own types; the text of the page before is cast by PostgreSQL.
    const from = last ? sql`where (${columns}) > (${sql.join(last.map((value) => sql`${value}`))})` : sql``
    const page: { rows: { row: Record<string, unknown> }[] } = await sql<{ row: Record<string, unknown> }>`
      select to_jsonb(t) as row from ${sql.table(name)} as t ${from} order by ${columns} limit ${ROWS_A_LINE}`.execute(
      trx,
    )
    const rows = page.rows.map(({ row }) => row)
    const kept =
      name === 'settings' ? rows.filter((row) => !settingsLeftOut.includes(String(row.name))) : rows
    if (kept.length > 0) yield kept
    const newest = rows.at(-1)
    if (!newest || rows.length < ROWS_A_LINE) return
    last = key.map((column) => newest[column])
  }
}

async function filesIn(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true })
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
