import assert from 'node:assert/strict'
import { mkdtemp, rm, stat, unlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { freshDatabase } from '../../test/database.ts'
import { migrate } from '../db/migrate.ts'
import { openSecrets, SecretRefused } from './secret-key.ts'
import { createSecrets } from './secrets.ts'

test('what was encrypted comes back, and nothing else does', () => {
  const secrets = createSecrets('a secret of the installation')
  const text = secrets.encrypt('Bearer ü 秘密')
  assert.equal(secrets.decrypt(text), 'Bearer ü 秘密')
  assert.notEqual(secrets.encrypt('Bearer ü 秘密'), text)
  assert.doesNotMatch(text, /Bearer/)
  // Not the last character: some of its bits are no data.
  const at = text.lastIndexOf(':') + 3
  const flipped = text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1)
  for (const changed of [flipped, text.replace('v1', 'v2'), 'x', '']) {
    assert.throws(() => secrets.decrypt(changed), changed)
  }
  assert.throws(() => createSecrets('another').decrypt(text))
})

test('a lost or changed key refuses the start instead of losing every secret later', async () => {
  const { database, drop } = await freshDatabase()
  const folder = await mkdtemp(join(tmpdir(), 'parley-secrets-'))
  await migrate(database.db)
  const first = await openSecrets(database.db, null, folder)
  assert.equal((await stat(join(folder, 'secret.key'))).mode & 0o777, 0o600)
  assert.equal((await openSecrets(database.db, null, folder)).keyId, first.keyId)
  await assert.rejects(openSecrets(database.db, 'x'.repeat(32), folder), SecretRefused)
  await writeFile(join(folder, 'secret.key'), '')
  await assert.rejects(openSecrets(database.db, null, folder), /damaged/)
  await unlink(join(folder, 'secret.key'))
  await assert.rejects(openSecrets(database.db, null, folder), SecretRefused)
  await database.close()
  await drop()
  await rm(folder, { recursive: true })
})

test('of two installations that start at once with different keys, one goes on', async () => {
  const { database, drop } = await freshDatabase()
  await migrate(database.db)
  const starts = ['a', 'b'].map((letter) => openSecrets(database.db, letter.repeat(32), 'unused'))
  const results = await Promise.allSettled(starts)
  assert.deepEqual(results.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  await database.close()
  await drop()
})
