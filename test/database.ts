import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import pg from 'pg'
import { type Database, openEmbedded, openPostgres } from '../server/db/database.ts'

type Fresh = { database: Database; drop(): Promise<void> }

/** A database of the test's own: embedded in memory, or on the PostgreSQL that TEST_DATABASE_URL names. */
export async function freshDatabase(): Promise<Fresh> {
  const server = process.env.TEST_DATABASE_URL
  return server
    ? freshPostgres(server)
    : { database: await openEmbedded('memory', await emptyCluster()), drop: async () => {} }
}

export const onPostgres = (): boolean => process.env.TEST_DATABASE_URL !== undefined

async function freshPostgres(server: string): Promise<Fresh> {
  const url = await createPostgresDatabase(server)
  return { database: openPostgres(url, 10), drop: () => dropPostgresDatabase(server, url) }
}

export async function createPostgresDatabase(server: string): Promise<string> {
  const name = `parley_${randomBytes(6).toString('hex')}`
  await administer(server, `create database ${name}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}

export async function dropPostgresDatabase(server: string, url: string): Promise<void> {
  await administer(server, `drop database if exists ${new URL(url).pathname.slice(1)} with (force)`)
}

async function administer(server: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: server })
  await client.connect()
  await client.query(statement)
  await client.end()
}

/** A new cluster takes PGlite two seconds to make and a fraction of that to load: it is made once and kept. */
async function emptyCluster(): Promise<Blob> {
  const version = JSON.parse(readFileSync('node_modules/@electric-sql/pglite/package.json', 'utf8')).version
  const file = join(tmpdir(), `parley-test-cluster-${version}-${process.getuid?.() ?? 0}.tar`)
  if (!existsSync(file)) {
    const pglite = await PGlite.create()
    const dump = await pglite.dumpDataDir('none')
    await pglite.close()
    const unfinished = `${file}.${process.pid}`
    writeFileSync(unfinished, Buffer.from(await dump.arrayBuffer()))
    renameSync(unfinished, file)
  }
  return new Blob([readFileSync(file)])
}
