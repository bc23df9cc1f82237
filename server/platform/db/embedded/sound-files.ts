import { closeSync, existsSync, openSync, readdirSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type Kysely, sql } from 'kysely'
import type { Tables } from '../tables/tables.ts'
import { DatabaseDamaged, damaged } from './unopenable.ts'

const SEGMENT = /^[0-9A-F]{24}$/
/** PostgreSQL gives each file of its log this size before it writes to it. */
const SEGMENT_BYTES = 16 * 1024 * 1024
const TABLE = /^\d+$/
const HEADER_BYTES = 24
/** The files of the database `postgres`, which always has this id. */
const BASE = join('base', '5')

/**
 * Throws DatabaseDamaged when the write-ahead log has been truncated: PostgreSQL would take the cut for the end of the
 * log, and silently lose the changes after it.
 */
export function requireWholeLog(folder: string): void {
  const log = join(folder, 'pg_wal')
  if (!existsSync(log)) return
  for (const name of readdirSync(log)) {
    if (!SEGMENT.test(name)) continue
    const file = join(log, name)
    const { size } = statSync(file)
    if (size === SEGMENT_BYTES) continue
    throw new DatabaseDamaged(
      `${damaged(`DATA_DIR: ${file} has been cut to ${size} bytes of ${SEGMENT_BYTES}, and with it the last changes.`).message} To start with what is left, run: truncate -s ${SEGMENT_BYTES} ${file}`,
    )
  }
}

/**
 * Throws DatabaseDamaged when the first page of a table or index has been overwritten with zeros: PostgreSQL would take
 * the table for empty.
 */
export async function requireFilledTables(db: Kysely<Tables>, folder: string): Promise<void> {
  const zeroed = zeroedFiles(join(folder, BASE))
  if (zeroed.length === 0) return
  const { rows } = await sql<{ name: string }>`select oid::regclass::text as name from pg_class
    where relpages > 0 and relfilenode::text = any(${zeroed}) order by oid`.execute(db)
  const [first] = rows
  if (first)
    throw damaged(`DATA_DIR: the database in ${folder} cannot be used: ${first.name} has been overwritten.`)
}

function zeroedFiles(folder: string): string[] {
  const header = Buffer.alloc(HEADER_BYTES)
  return readdirSync(folder).filter((name) => {
    if (!TABLE.test(name)) return false
    const file = openSync(join(folder, name), 'r')
    const read = readSync(file, header)
    closeSync(file)
    return read === HEADER_BYTES && header.every((byte) => byte === 0)
  })
}
