import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { sql } from 'kysely'
import { onPostgres } from '../../../../test/database.ts'
import { openEmbedded } from '../database.ts'

const skip = onPostgres() && 'it is about the embedded database'

test('a statement of the embedded database does not block the rest of the process', {
  skip,
}, async () => {
  const database = await openEmbedded('memory')
  let turns = 0
  const timer = setInterval(() => turns++, 1)
  const { rows } = await sql<{ n: number }>`select count(*) as n from generate_series(1, 1000000)`.execute(
    database.db,
  )
  clearInterval(timer)
  assert.equal(rows[0]?.n, 1_000_000)
  assert.ok(turns > 10, `the event loop went round ${turns} times`)
  await database.close()
})

test('a data folder whose creation was cut off is created again', { skip }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-test-'))
  mkdirSync(join(folder, 'database.unfinished'))
  writeFileSync(join(folder, 'database.unfinished', 'PG_VERSION'), '17\n')
  const database = await openEmbedded(folder)
  const { rows } = await sql<{ one: number }>`select 1 as one`.execute(database.db)
  assert.deepEqual(rows, [{ one: 1 }])
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.startsWith('database')),
    ['database'],
  )
  await database.close()
  rmSync(folder, { recursive: true })
})

test('when the embedded database dies, the process reports it and ends', { skip }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-test-'))
  const program = `
    import { rmSync } from 'node:fs'
    import { sql } from 'kysely'
    import { openEmbedded } from './server/platform/db/database.ts'
    const { db } = await openEmbedded(${JSON.stringify(folder)})
    await sql\`create table notes (id integer)\`.execute(db)
    rmSync(${JSON.stringify(join(folder, 'database', 'pg_wal'))}, { recursive: true })
    await sql\`insert into notes select generate_series(1, 300000)\`.execute(db)
    await sql\`select pg_switch_wal()\`.execute(db)
    await sql\`insert into notes select generate_series(1, 300000)\`.execute(db)
    await sql\`checkpoint\`.execute(db)
    console.log('still alive')`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program])
  let said = ''
  child.stdout.on('data', (text) => {
    said += text
  })
  child.stderr.on('data', (text) => {
    said += text
  })
  const code = await new Promise((resolve) => child.on('close', resolve))
  assert.notEqual(code, 0, said)
  assert.match(said, /The embedded database has stopped/)
  rmSync(folder, { recursive: true })
})
