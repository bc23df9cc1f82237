import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { onPostgres } from '../../../../test/database.ts'
import { openEmbedded } from '../database.ts'

const skip = onPostgres() && 'it is about the embedded database'
const root = mkdtempSync(join(tmpdir(), 'parley-files-'))
const seed = join(root, 'seed')
after(() => rmSync(root, { recursive: true }))

before(async () => {
  if (skip) return
  const { db, close } = await openEmbedded(seed)
  await sql`create table notes (id integer primary key)`.execute(db)
  await sql`insert into notes select generate_series(1, 1000)`.execute(db)
  await sql`vacuum analyze notes`.execute(db)
  await close()
})

function copyOf(name: string): { dataDir: string; database: string } {
  const dataDir = join(root, name)
  cpSync(seed, dataDir, { recursive: true, filter: (path) => !path.endsWith('parley.sock') })
  return { dataDir, database: join(dataDir, 'database') }
}

const fillWithZeros = (file: string): void => writeFileSync(file, Buffer.alloc(statSync(file).size))

/** Everything that is in the folder, with sizes, to see that nothing was changed. */
const listOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.startsWith('lock'))
    .map(({ parentPath, name }) => `${join(parentPath, name)} ${statSync(join(parentPath, name)).size}`)
    .sort()

const tableFile = async (): Promise<string> => {
  const { dataDir } = copyOf('asked')
  const { db, close } = await openEmbedded(dataDir)
  const { rows } = await sql<{ file: string }>`select pg_relation_filepath('notes') as file`.execute(db)
  await close()
  return rows[0]?.file ?? ''
}

test('an installation that has lost its database is refused, and no database is created', {
  skip,
}, async () => {
  const losses: Record<string, (dataDir: string) => void> = {
    'a database without PG_VERSION': (dataDir) => rmSync(join(dataDir, 'database', 'PG_VERSION')),
    'an emptied database': (dataDir) => {
      rmSync(join(dataDir, 'database'), { recursive: true })
      mkdirSync(join(dataDir, 'database'))
    },
    'a key alone': (dataDir) => {
      rmSync(join(dataDir, 'database'), { recursive: true })
      writeFileSync(join(dataDir, 'secret.key'), `${'k'.repeat(43)}\n`)
    },
    'files alone': (dataDir) => {
      rmSync(join(dataDir, 'database'), { recursive: true })
      mkdirSync(join(dataDir, 'files', 'account'), { recursive: true })
    },
  }
  for (const [name, lose] of Object.entries(losses)) {
    const { dataDir } = copyOf(name)
    lose(dataDir)
    const before = listOf(dataDir)
    await assert.rejects(openEmbedded(dataDir), (error: Error) => {
      assert.match(error.message, /^DATA_DIR: .*PG_VERSION is missing.*restore a backup with/, name)
      assert.doesNotMatch(error.message, /\n/)
      return true
    })
    assert.deepEqual(listOf(dataDir), before, name)
  }
})

test('a restore may replace a lost database, but never what is left of one', { skip }, async () => {
  const { dataDir, database } = copyOf('to be restored')
  rmSync(join(database, 'PG_VERSION'))
  writeFileSync(join(dataDir, 'secret.key'), `${'k'.repeat(43)}\n`)
  await assert.rejects(openEmbedded(dataDir, { createIfLost: true }), /Move the folder away first/)
  rmSync(database, { recursive: true })
  const { close } = await openEmbedded(dataDir, { createIfLost: true })
  await close()
  assert.ok(existsSync(join(database, 'PG_VERSION')))
})

test('damaged files are reported in one sentence that says what to do', { skip }, async () => {
  const table = await tableFile()
  const everyTable = (database: string): void => {
    const base = join(database, 'base', '5')
    for (const name of readdirSync(base)) fillWithZeros(join(base, name))
  }
  const damages: Record<string, (database: string) => void> = {
    'pg_control of zeros': (database) => fillWithZeros(join(database, 'global', 'pg_control')),
    'no pg_control': (database) => rmSync(join(database, 'global', 'pg_control')),
    'every table of zeros': everyTable,
    'one table of zeros': (database) => fillWithZeros(join(database, table)),
    'no log': (database) => {
      for (const name of readdirSync(join(database, 'pg_wal')))
        if (/^\w{24}$/.test(name)) rmSync(join(database, 'pg_wal', name))
    },
    'another version': (database) => writeFileSync(join(database, 'PG_VERSION'), '16\n'),
  }
  for (const [name, damage] of Object.entries(damages)) {
    const { dataDir, database } = copyOf(name)
    damage(database)
    await assert.rejects(openEmbedded(dataDir), (error: Error) => {
      assert.match(error.message, /^DATA_DIR: .* damaged or incomplete\..* restore a backup with/, name)
      assert.doesNotMatch(error.message, /\n/)
      return true
    })
  }
})

test('a log that was cut after a kill is not taken for its end', { skip }, async () => {
  const { dataDir, database } = copyOf('cut')
  const program = `
    import { sql } from 'kysely'
    import { openEmbedded } from './server/platform/db/database.ts'
    const { db } = await openEmbedded(${JSON.stringify(dataDir)})
    await sql\`insert into notes select generate_series(1001, 2000)\`.execute(db)
    const { rows: [{ at }] } = await sql\`select (pg_current_wal_lsn() - '0/0')::text as at\`.execute(db)
    console.log(at)
    setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program])
  const [position] = await once(child.stdout, 'data')
  child.kill('SIGKILL')
  await once(child, 'exit')
  const log = join(database, 'pg_wal')
  const last = readdirSync(log)
    .filter((name) => /^\w{24}$/.test(name))
    .sort()
    .at(-1) as string
  const full = statSync(join(log, last)).size
  truncateSync(join(log, last), (Number(position) % full) - 20_000)
  await assert.rejects(openEmbedded(dataDir), /has been cut to \d+ bytes .* truncate -s 16777216 /)
  truncateSync(join(log, last), full)
  const { db, close } = await openEmbedded(dataDir)
  const { rows } = await sql<{ n: number }>`select count(*) as n from notes`.execute(db)
  await close()
  assert.ok((rows[0]?.n ?? 0) >= 1_000)
})

test('the service ends with that sentence and the code of a wrong setting', { skip }, async () => {
  const { dataDir, database } = copyOf('started')
  fillWithZeros(join(database, 'global', 'pg_control'))
  const child = spawn(process.execPath, ['server/main.ts'], {
    env: { ...process.env, DATA_DIR: dataDir, DATABASE_URL: '', PORT: '0' },
  })
  let said = ''
  child.stderr.on('data', (text) => {
    said += text
  })
  const [code] = await once(child, 'close')
  assert.equal(code, 78, said)
  assert.match(said, /^DATA_DIR: [^\n]*restore a backup with[^\n]*\n$/)
})

test('only the owner may read the files of the database, whoever made the folder', { skip }, async () => {
  const dataDir = join(root, 'open to all')
  mkdirSync(dataDir, { mode: 0o755 })
  const umask = process.umask(0)
  try {
    const first = await openEmbedded(dataDir)
    await first.close()
    // As an earlier version left it.
    for (const entry of readdirSync(dataDir, { recursive: true, withFileTypes: true }))
      chmodSync(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o755 : 0o666)
    const { db, close } = await openEmbedded(dataDir)
    await sql`create table more as select generate_series(1, 1000) as n`.execute(db)
    await sql`checkpoint`.execute(db)
    await sql`select pg_switch_wal()`.execute(db)
    await sql`insert into more select generate_series(1, 1000)`.execute(db)
    const database = join(dataDir, 'database')
    const open = readdirSync(database, { recursive: true, withFileTypes: true })
      .map((entry) => join(entry.parentPath, entry.name))
      .concat(database)
      .filter((path) => (statSync(path).mode & 0o077) !== 0)
    await close()
    assert.deepEqual(open, [])
  } finally {
    process.umask(umask)
  }
})
