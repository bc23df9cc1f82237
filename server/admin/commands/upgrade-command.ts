import { sql } from 'kysely'
import type { Db } from '../../platform/db/database.ts'
import { readIndexes } from '../../platform/db/upkeep/build-indexes.ts'
import { inMb } from '../../platform/db/upkeep/disk-space.ts'
import {
  type Applied,
  compatibleFrom,
  type Migration,
  pendingOf,
  readApplied,
  readMigrations,
} from '../../platform/db/upkeep/migrate.ts'
import { roomForUpgrade } from '../../platform/db/upkeep/upgrade.ts'
import { command, usageFailure } from '../command.ts'

type Touched = {
  name: string
  bytes: number
  rows: number
  /** The estimated time for what reads or rewrites all rows of the table, in seconds. */
  seconds: number
}

type Step = { name: string; tables: string[]; indexes: string[] }

type Plan = {
  applied: number
  pending: Step[]
  tables: Touched[]
  /** Whether processes of the version before may run on the database during and after the upgrade. */
  formerVersionMayRun: boolean
  embedded: boolean
  databaseBytes: number
  neededBytes: number | null
  freeBytes: number | null
  dataDir: string
}

/** A change reads the rows, writes them, and writes the log; only reading is measured. */
const TIMES_OF_READING = 3
const SAMPLE_ROWS = 10_000

export const upgradeCommand = command({
  name: 'upgrade',
  usage: '--check',
  summary:
    'Says what the next start of this version changes in the database, and about how long that takes; changes nothing',
  options: { check: { type: 'boolean' } },
  withoutUpgrade: true,
  async run({ db, embedded, dataDir }, { values }) {
    if (!values.check)
      throw usageFailure('Usage: upgrade --check. The next start of the service does the upgrade itself.')
    const applied = await readApplied(db)
    const pending = pendingOf(readMigrations(), applied)
    const tables = await measure(db, pending)
    const room = embedded ? await roomForUpgrade(dataDir) : null
    return {
      applied: applied.length,
      pending: pending.map((migration) => stepOf(migration, tables)),
      tables,
      formerVersionMayRun: formerVersionMayRun(applied, pending),
      embedded,
      databaseBytes: await bytesOf(db),
      neededBytes: room?.needed ?? null,
      freeBytes: room?.free ?? null,
      dataDir,
    } satisfies Plan
  },
  print: (plan) => sentencesOf(plan).join('\n'),
})

function formerVersionMayRun(applied: Applied[], pending: Migration[]): boolean {
  const newest =
    applied
      .map(({ name }) => name)
      .sort()
      .at(-1) ?? ''
  return pending.every((migration) => compatibleFrom(migration) <= newest)
}

/** A name of a table after the words that come before one in a statement that changes the table or its rows. */
const TABLE_NAMED =
  /\b(?:alter table(?: if exists)?(?: only)?|update|insert into|delete from|truncate(?: table)?|drop table(?: if exists)?|(?:index(?: concurrently)? \w+|trigger .*) on) (\w+)/gs
/** The beginnings and the clauses of statements that read or write all rows of their table. */
const ALL_ROWS =
  /^(?:update|delete from|create (?:unique )?index)\b|\b(?:add (?:constraint|unique|check|foreign key|primary key)|set not null|validate constraint|alter column \w+ (?:set data )?type)\b/

/** Returns the tables that a migration names in its statements, and those of which it works on every row. */
export function readTouched(text: string): { tables: string[]; allRows: string[] } {
  const statements = text
    .replace(/--.*$/gm, '')
    .replace(/\$(\w*)\$.*?\$\1\$/gs, "''")
    .split(';')
    .map((statement) => statement.trim().replace(/\s+/g, ' '))
  const tables = new Set<string>()
  const allRows = new Set<string>()
  for (const statement of statements)
    for (const [, table = ''] of statement.matchAll(TABLE_NAMED)) {
      tables.add(table)
      if (ALL_ROWS.test(statement)) allRows.add(table)
    }
  return { tables: [...tables], allRows: [...allRows] }
}

const stepOf = (migration: Migration, tables: Touched[]): Step => {
  const named = readTouched(migration.text).tables
  return {
    name: migration.name,
    tables: tables.map(({ name }) => name).filter((name) => named.includes(name)),
    indexes: (readIndexes(migration) ?? []).map(({ name }) => name),
  }
}

/** Looks at the tables that exist already. */
async function measure(db: Db, pending: Migration[]): Promise<Touched[]> {
  const touched = pending.map(({ text }) => readTouched(text))
  const names = [...new Set(touched.flatMap(({ tables }) => tables))]
  const { rows } = await sql<{ name: string; bytes: number; rows: number }>`
    select relname as name, pg_total_relation_size(oid) as bytes, reltuples::float8 as rows from pg_class
    where relnamespace = 'public'::regnamespace and relkind = 'r' and relname = any(${names})
    order by bytes desc`.execute(db)
  const found: Touched[] = []
  for (const { name, bytes, rows: estimated } of rows) {
    const times = touched.filter(({ allRows }) => allRows.includes(name)).length
    const { read, seconds } = await readSome(db, name)
    // A table that was never analysed has no estimate; it has at least the rows that were read.
    const count = Math.max(Math.round(estimated), read)
    const whole = read === 0 ? 0 : (seconds * count) / read
    found.push({ name, bytes, rows: count, seconds: times * TIMES_OF_READING * whole })
  }
  return found
}

async function readSome(db: Db, table: string): Promise<{ read: number; seconds: number }> {
  const begun = performance.now()
  const { rows } = await sql<{ read: number }>`
    select count(octet_length(t::text)) as read from (select * from ${sql.table(table)} limit ${sql.lit(SAMPLE_ROWS)}) t`.execute(
    db,
  )
  return { read: rows[0]?.read ?? 0, seconds: (performance.now() - begun) / 1_000 }
}

async function bytesOf(db: Db): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`select pg_database_size(current_database()) as bytes`.execute(
    db,
  )
  return rows[0]?.bytes ?? 0
}

function sentencesOf(plan: Plan): string[] {
  const { applied, pending, tables, embedded } = plan
  if (pending.length === 0) return ['Nothing to do: the database has all migrations of this version.']
  if (applied === 0) return ['The database is empty; the first start makes all tables.']
  return [
    `${pending.length === 1 ? 'One migration is' : `${pending.length} migrations are`} to be applied after the ${applied} that the database has (${inMb(plan.databaseBytes)}):`,
    ...pending.map((step) => `  ${step.name}: ${describe(step)}`),
    ...tables.map(
      ({ name, bytes, rows }) => `  The table ${name} has ${inMb(bytes)} and about ${rows} rows.`,
    ),
    `That takes ${durationOf(tables.reduce((sum, { seconds }) => sum + seconds, 0))}, as fast as the rows can be read now.`,
    ...(embedded ? ofEmbedded(plan) : ofPostgres(plan)),
    'Nothing was changed. The next start of this version does the upgrade.',
  ]
}

function describe({ indexes, tables }: Step): string {
  const built = indexes.length > 0 && `builds ${indexes.join(', ')}`
  const changed = tables.length > 0 && `changes ${tables.join(', ')}`
  return [built, changed].filter(Boolean).join(', ') || 'new tables'
}

function ofEmbedded({ dataDir, neededBytes, freeBytes }: Plan): string[] {
  const enough = (freeBytes ?? 0) >= (neededBytes ?? 0)
  return [
    `Before that, the data folder is backed up in ${dataDir}/backups. The upgrade needs ${inMb(neededBytes ?? 0)}, and ${inMb(freeBytes ?? 0)} are free${enough ? '.' : ': free some space before you start it.'}`,
  ]
}

function ofPostgres({ formerVersionMayRun, databaseBytes, dataDir }: Plan): string[] {
  return [
    formerVersionMayRun
      ? 'Processes of the former version may keep running, and start again, during and after it.'
      : 'Stop all processes of the former version before it: they cannot run on the new schema.',
    `PostgreSQL does not say how much room its disk has; allow ${inMb(databaseBytes)}.`,
    `Make a backup first: pg_dump --format=custom --file=parley.dump "$DATABASE_URL", and a copy of ${dataDir}/files and of the secret key.`,
  ]
}

function durationOf(seconds: number): string {
  if (seconds < 5) return 'a few seconds'
  return seconds < 100 ? `about ${Math.ceil(seconds)} seconds` : `about ${Math.ceil(seconds / 60)} minutes`
}
