import { createHash, randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import pg from 'pg'
import { readConfig } from '../server/config.ts'
import {
  type Database,
  embeddedDatabase,
  openEmbedded,
  openPostgres,
} from '../server/platform/db/database.ts'
import type { EmbeddedOptions } from '../server/platform/db/embedded/embedded-thread.ts'
import { type EmbeddedServer, startEmbedded } from '../server/platform/db/embedded/start-embedded.ts'
import { readMigrations } from '../server/platform/db/upkeep/migrate.ts'
import { keptFolder } from './memory-folder.ts'
import { mustEnd } from './must-end.ts'
import { reusedDatabase } from './reused-database.ts'
import { takeFaults, watchStatements } from './watch-statements.ts'

mustEnd()

const EMBEDDED = '@electric-sql/pglite'

type Fresh = { database: Database; drop(): Promise<void> }

/**
 * Creates a database for one test, either embedded in memory or on the PostgreSQL server in TEST_DATABASE_URL. It has
 * all tables without any rows, or with `empty` not even tables. The tables are created once and then copied, because
 * creating them takes longer than most tests.
 */
export async function freshDatabase({ empty = false } = {}): Promise<Fresh> {
  watchStatements()
  const server = process.env.TEST_DATABASE_URL
  if (!server) {
    const database = empty
      ? await openSnapshot({ empty })
      : await reusedDatabase(() => startSnapshot({ empty }))
    return { database, drop: async () => refuseFaults() }
  }
  const url = await createPostgresDatabase(server, { empty })
  return {
    database: openPostgres(url, 10),
    async drop() {
      await dropPostgresDatabase(server, url)
      refuseFaults()
    },
  }
}

async function startSnapshot(what: { empty: boolean }): Promise<EmbeddedServer> {
  const snapshot = new Blob([readFileSync(await keptCluster(what))])
  return startEmbedded({ snapshot, module: await embeddedProgram() })
}

async function openSnapshot(what: { empty: boolean }): Promise<Database> {
  const server = await startSnapshot(what)
  return embeddedDatabase(server, server.close)
}

// The types of Node do not declare it as a value.
declare const WebAssembly: { compile(bytes: Uint8Array): Promise<NonNullable<EmbeddedOptions['module']>> }

let program: ReturnType<typeof WebAssembly.compile> | undefined

/** Compiles the embedded database once for all databases of this process, which then share its code. */
function embeddedProgram(): ReturnType<typeof WebAssembly.compile> {
  const file = new URL('pglite.wasm', import.meta.resolve(EMBEDDED))
  program ??= WebAssembly.compile(readFileSync(file))
  return program
}

/** Throws if a statement that was sent since the last call does not name the account whose rows it works on. */
function refuseFaults(): void {
  const faults = takeFaults()
  if (faults.length > 0) throw new Error(faults.join('\n'))
}

export const onPostgres = (): boolean => process.env.TEST_DATABASE_URL !== undefined

export async function createPostgresDatabase(server: string, { empty = false } = {}): Promise<string> {
  const name = `parley_${randomBytes(6).toString('hex')}`
  const template = empty ? 'template1' : await templateOf(server)
  await administer(server, (client) => client.query(`create database ${name} template ${template}`))
  return databaseUrl(server, name)
}

/** Drops a database. Throws if statements deadlocked in it, because only the caller knows which test used it. */
export async function dropPostgresDatabase(server: string, url: string): Promise<void> {
  const name = new URL(url).pathname.slice(1)
  const deadlocks = await administer(server, async (client) => {
    const { rows } = await client.query<{ deadlocks: string }>(
      'select deadlocks from pg_stat_database where datname = $1',
      [name],
    )
    await client.query(`drop database if exists ${name} with (force)`)
    return Number(rows[0]?.deadlocks ?? 0)
  })
  if (deadlocks > 0)
    throw new Error(`${deadlocks} deadlocks in this test's database: see the log of PostgreSQL.`)
}

function databaseUrl(server: string, name: string): string {
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}

async function administer<T>(server: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: server })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** Returns a version that changes whenever the tables may change. */
function tablesVersion(): string {
  const hash = createHash('sha256')
  for (const { checksum } of readMigrations()) hash.update(checksum)
  return hash.digest('hex').slice(0, 16)
}

const versionOf = (name: string): string =>
  JSON.parse(readFileSync(`node_modules/${name}/package.json`, 'utf8')).version

/** Makes all tables, as a service does at its first start. */
async function makeTables(database: Database): Promise<void> {
  // Only this step needs the service, whose code takes seconds to load.
  const { createContext } = await import('../server/context.ts')
  const folder = mkdtempSync(join(tmpdir(), 'parley-tables-'))
  const config = readConfig({ DATA_DIR: folder, LOG_LEVEL: 'error' })
  const ctx = await createContext(config, { database: { ...database, close: async () => {} } })
  await ctx.close()
  rmSync(folder, { recursive: true })
  // What the service notes about itself is not part of a new database.
  await sql`truncate settings, processes`.execute(database.db)
}

/**
 * Returns the name of a template database with all tables, and creates it if necessary. One process creates it while
 * others wait.
 */
async function templateOf(server: string): Promise<string> {
  const name = `parley_template_${tablesVersion()}`
  return administer(server, async (client) => {
    await client.query(`select pg_advisory_lock(hashtext('parley test template'))`)
    const { rows } = await client.query<{ datname: string }>(
      `select datname from pg_database where datname like 'parley\\_template\\_%'`,
    )
    if (rows.some(({ datname }) => datname === name)) return name
    const building = `parley_building_${randomBytes(6).toString('hex')}`
    await client.query(`create database ${building}`)
    const database = openPostgres(databaseUrl(server, building), 2)
    await makeTables(database)
    await database.close()
    await client.query(`alter database ${building} rename to ${name}`)
    return name
  })
}

/**
 * Returns the path of a tar file of an embedded cluster, with the content of the `database` folder of a data folder.
 * It is created once for each version of the tables.
 */
export async function keptCluster({ empty }: { empty: boolean }): Promise<string> {
  const what = empty ? 'empty' : `tables-${tablesVersion()}`
  const file = join(keptFolder(), `parley-test-${what}-${versionOf(EMBEDDED)}-${process.getuid?.() ?? 0}.tar`)
  if (!existsSync(file)) {
    const unfinished = `${file}.${process.pid}`
    writeFileSync(unfinished, withoutTemplates(Buffer.from(await (await dumpCluster(empty)).arrayBuffer())))
    renameSync(unfinished, file)
  }
  return file
}

async function dumpCluster(empty: boolean): Promise<Blob> {
  const database = await openEmbedded('memory')
  try {
    if (!empty) await makeTables(database)
    // Otherwise each database that begins with the dump would repeat what was written since the last checkpoint.
    await sql`checkpoint`.execute(database.db)
    return await database.dump()
  } finally {
    await database.close()
  }
}

const BLOCK = 512

/**
 * Removes the files of the template databases from the tar. They are never used, but each test would have to read
 * them.
 */
function withoutTemplates(tar: Buffer): Buffer {
  const kept: Buffer[] = []
  for (let at = 0; at < tar.length; ) {
    const [name] = tar.toString('latin1', at, at + 100).split('\0')
    // Empty blocks mark the end of the archive.
    if (!name) {
      kept.push(tar.subarray(at))
      break
    }
    const size = Number.parseInt(tar.toString('latin1', at + 124, at + 136), 8) || 0
    const next = at + BLOCK + Math.ceil(size / BLOCK) * BLOCK
    if (!/^\/?base\/[14]\/./.test(name)) kept.push(tar.subarray(at, next))
    at = next
  }
  return Buffer.concat(kept)
}
