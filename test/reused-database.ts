import { type RawBuilder, sql } from 'kysely'
import { type Database, type Db, embeddedDatabase } from '../server/platform/db/database.ts'
import type { EmbeddedServer } from '../server/platform/db/embedded/start-embedded.ts'

/** A running database of this process that no test uses at the moment. */
type Idle = { server: EmbeddedServer; first: State }

/** What a database contains before its first test. */
type State = {
  /** A text that changes with every change of the schema. */
  schema: string
  /** The names of all tables, quoted where necessary. */
  tables: readonly string[]
  /** The rows of the tables that are not empty. */
  rows: readonly { table: string; rows: unknown[] }[]
}

const idle: Idle[] = []

/**
 * Returns an embedded database with the content that `start` gives it: one that an earlier test has closed, emptied,
 * or a new one. Emptying a database is several times cheaper than starting one. A database whose schema a test has
 * changed is not used again.
 */
export async function reusedDatabase(start: () => Promise<EmbeddedServer>): Promise<Database> {
  for (let one = idle.pop(); one; one = idle.pop()) {
    if (await restore(one)) return lend(one)
    await one.server.close()
  }
  const server = await start()
  return lend({ server, first: await using(server, stateOf) })
}

function lend(one: Idle): Database {
  return embeddedDatabase(one.server, async () => void idle.push(one))
}

async function using<T>(server: EmbeddedServer, work: (db: Db) => Promise<T>): Promise<T> {
  const database = embeddedDatabase(server, async () => {})
  try {
    return await work(database.db)
  } finally {
    await database.close()
  }
}

/** Restores the first state, also of the session. Returns false if the schema has changed. */
const restore = ({ server, first }: Idle): Promise<boolean> =>
  using(server, async (db) => {
    await sql`discard all`.execute(db)
    if ((await schemaOf(db)) !== first.schema) return false
    await empty(db, await filledTables(db, first.tables))
    for (const { table, rows } of first.rows)
      await sql`
        insert into ${named(table)}
        select * from json_populate_recordset(null::${named(table)}, ${JSON.stringify(rows)})`.execute(db)
    await sql`select setval(seqrelid::regclass, seqstart, false) from pg_sequence`.execute(db)
    // A new database has no statistics, which decide on plans.
    await sql`delete from pg_statistic where starelid >= 16384`.execute(db)
    return true
  })

/** Empties tables by deletion if they have few rows, which is much faster than truncating a table and its indexes. */
async function empty(db: Db, filled: readonly Filled[]): Promise<void> {
  const large = filled.filter(({ rows }) => rows > FEW_ROWS)
  if (large.length > 0)
    await sql`truncate ${sql.join(large.map(({ name }) => named(name)))} cascade`.execute(db)
  // Triggers and foreign keys are off, because every table is emptied anyway.
  await sql`set session_replication_role = replica`.execute(db)
  for (const { name, rows } of filled) if (rows <= FEW_ROWS) await sql`delete from ${named(name)}`.execute(db)
  await sql`reset session_replication_role`.execute(db)
}

async function stateOf(db: Db): Promise<State> {
  const tables = await tablesOf(db)
  const rows: { table: string; rows: unknown[] }[] = []
  for (const { name: table } of await filledTables(db, tables)) {
    const result = await sql<{ row: unknown }>`select to_json(t) as row from ${named(table)} t`.execute(db)
    rows.push({ table, rows: result.rows.map(({ row }) => row) })
  }
  return { schema: await schemaOf(db), tables, rows }
}

/** Inserts the name of a table into a statement; the catalog has quoted it. */
const named = (table: string): RawBuilder<unknown> => sql.raw(table)

async function tablesOf(db: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select c.oid::regclass::text as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind = 'r' and n.nspname not in ('pg_catalog', 'information_schema')`.execute(db)
  return rows.map(({ name }) => name)
}

/** A table that is not empty. Its rows are counted up to FEW_ROWS + 1. */
type Filled = { name: string; rows: number }

const FEW_ROWS = 200

async function filledTables(db: Db, tables: readonly string[]): Promise<Filled[]> {
  const each = tables.map(
    (table) => sql`
      select ${table}::text as name, count(*)::int as rows
      from (select from ${named(table)} limit ${sql.lit(FEW_ROWS + 1)}) few`,
  )
  const { rows } = await sql<Filled>`${sql.join(each, sql` union all `)}`.execute(db)
  return rows.filter(({ rows }) => rows > 0)
}

/**
 * Returns a text that differs after any change of the schema: a row of a catalog that was changed has a newer
 * transaction, and one that was deleted changes the count. The rows of `pg_class` are only counted, because truncating a
 * table changes them.
 */
async function schemaOf(db: Db): Promise<string> {
  const catalogs = [
    'proc',
    'trigger',
    'attribute',
    'constraint',
    'index',
    'type',
    'namespace',
    'authid',
    'db_role_setting',
  ]
  const newest = catalogs.map((name) => sql`(select max(xmin::text::bigint) from ${sql.raw(`pg_${name}`)})`)
  const counts = [...catalogs, 'class'].map((name) => sql`(select count(*) from ${sql.raw(`pg_${name}`)})`)
  const { rows } = await sql<{ state: string }>`
    select concat_ws(' ', ${sql.join([...newest, ...counts])}) as state
  `.execute(db)
  return rows[0]!.state
}
