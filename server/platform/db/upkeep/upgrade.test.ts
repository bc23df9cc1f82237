import assert from 'node:assert/strict'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { onPostgres } from '../../../../test/database.ts'
import { newHome } from '../../../../test/spawn-service.ts'
import { openEmbedded } from '../database.ts'
import { MigrationRefused, readApplied, readMigrations } from './migrate.ts'
import { upgrade } from './upgrade.ts'

const skip = onPostgres() && 'it is about the embedded database'

const withNewer = (text: string) => [
  ...readMigrations(),
  { name: '9999_newer.sql', text: `-- compatible_from: 0076\n${text}`, checksum: text },
]

test('a backup holds the database, the key and the files, and replaces that of another try', {
  skip,
}, async () => {
  const home = await newHome({ embedded: true })
  const { folder } = home
  const backups = join(folder, 'backups')
  writeFileSync(join(folder, 'secret.key'), 'the key', { mode: 0o600 })
  mkdirSync(join(folder, 'files', 'account', 'agent'), { recursive: true })
  writeFileSync(join(folder, 'files', 'account', 'agent', 'file'), 'uploaded')
  mkdirSync(join(backups, '0070-before-0075.unfinished'), { recursive: true })
  for (const [at, name] of ['0072-before-0073', '0073-before-0074', '0074-before-0075'].entries()) {
    mkdirSync(join(backups, name))
    utimesSync(join(backups, name), at, at)
  }
  const database = await openEmbedded(folder)
  const said: string[] = []
  const start = (text: string) => upgrade(database, folder, (line) => said.push(line), withNewer(text))
  await assert.rejects(start('select nonsense'), /nonsense/)
  await start('create table t_newer (id integer)')
  await start('create table t_newer (id integer)')
  await database.close()
  const [made = '', ...older] = readdirSync(backups).sort().reverse()
  assert.deepEqual(older, ['0074-before-0075', '0073-before-0074'], 'three are kept')
  assert.equal(said.length, 2)
  assert.match(said[1]!, new RegExp(`backed up in ${join(backups, made)} before the upgrade`))
  assert.equal(statSync(backups).mode & 0o777, 0o700)
  const copy = join(backups, made)
  assert.equal(readFileSync(join(copy, 'secret.key'), 'utf8'), 'the key')
  assert.equal(statSync(join(copy, 'secret.key')).mode & 0o777, 0o600)
  rmSync(join(folder, 'files'), { recursive: true })
  assert.equal(readFileSync(join(copy, 'files', 'account', 'agent', 'file'), 'utf8'), 'uploaded')
  const opened = await openEmbedded(copy)
  assert.equal((await readApplied(opened.db)).length, readMigrations().length, 'as it was before')
  await opened.close()
  await home.remove()
})

test('without room for a backup, or when it cannot be written, nothing is changed', { skip }, async () => {
  const home = await newHome({ embedded: true })
  const { folder } = home
  const elsewhere = mkdtempSync(join(tmpdir(), 'parley-test-'))
  const database = await openEmbedded(folder)
  const refusal = async (): Promise<string> => {
    let message = ''
    await assert.rejects(
      upgrade(database, folder, assert.fail, withNewer('create table t_newer (id integer)')),
      (error) => {
        assert.ok(error instanceof MigrationRefused)
        message = error.message
        return true
      },
    )
    assert.ok(!(await readApplied(database.db)).some(({ name }) => name === '9999_newer.sql'))
    return message
  }
  // A file without content that claims more room than any disk has.
  const huge = join(folder, 'database', 'huge')
  writeFileSync(huge, '')
  truncateSync(huge, 2 ** 43)
  assert.match(await refusal(), /^The upgrade needs \d+ MB for a backup.* has \d+ MB\. Nothing was changed/)
  rmSync(huge)
  rmSync(join(folder, 'backups'), { recursive: true })
  writeFileSync(join(elsewhere, 'file'), '')
  symlinkSync(join(elsewhere, 'file'), join(folder, 'backups'))
  assert.match(await refusal(), /^The backup before the upgrade cannot be written to .*backups \(/)
  assert.equal(existsSync(join(elsewhere, 'file')), true)
  await database.close()
  rmSync(elsewhere, { recursive: true })
  await home.remove()
})
