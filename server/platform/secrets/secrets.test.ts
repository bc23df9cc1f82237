import assert from 'node:assert/strict'
import { createCipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { mkdtemp, rm, stat, unlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { sql } from 'kysely'
import { freshDatabase } from '../../../test/database.ts'
import { createAccount } from '../../accounts/records/accounts.ts'
import { createAgent } from '../../agents/records/create-agent.ts'
import { newId } from '../db/ids.ts'
import { json } from '../db/statements/json.ts'
import { transact } from '../db/statements/transact.ts'
import { migrate } from '../db/upkeep/migrate.ts'
import { finishRotation, RotationRefused, rotateKey } from './rotate-key.ts'
import { createSealKey, keyIdOf, type SecretLocation } from './seal.ts'
import { placeOfHeader, placeOfRow } from './sealed-columns.ts'
import { openSecrets, SecretRefused } from './secret-key.ts'
import type { Secrets } from './secrets.ts'

const PLACE = { table: 'a', row: '1', purpose: 'b' }

test('an encrypted text can only be decrypted for its place', () => {
  const key = createSealKey('a secret of the installation')
  const text = key.seal('Bearer ü 秘密', PLACE)
  assert.equal(key.open(text, PLACE), 'Bearer ü 秘密')
  assert.notEqual(key.seal('Bearer ü 秘密', PLACE), text)
  assert.doesNotMatch(text, /Bearer/)
  // The last character is not used, because some of its bits are not data.
  const at = text.lastIndexOf(':') + 3
  const flipped = text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1)
  for (const changed of [flipped, text.replace('v2', 'v1'), text.replace('v2', 'v3'), 'x', '']) {
    assert.throws(() => key.open(changed, PLACE), changed)
  }
  for (const elsewhere of [
    { ...PLACE, table: 'c' },
    { ...PLACE, row: '2' },
    { ...PLACE, purpose: 'c' },
    { table: 'a', row: '', purpose: '1b' },
  ]) {
    assert.throws(() => key.open(text, elsewhere), JSON.stringify(elsewhere))
  }
  assert.throws(() => createSealKey('another').open(text, PLACE))
})

test('a lost or changed key prevents the start instead of losing every secret later', async () => {
  const { database, drop } = await freshDatabase()
  const folder = await mkdtemp(join(tmpdir(), 'parley-secrets-'))
  await migrate(database.db)
  const first = await openSecrets(database.db, null, folder)
  assert.equal((await stat(join(folder, 'secret.key'))).mode & 0o777, 0o600)
  assert.equal((await openSecrets(database.db, null, folder)).key.id, first.key.id)
  await assert.rejects(openSecrets(database.db, 'x'.repeat(32), folder), SecretRefused)
  await writeFile(join(folder, 'secret.key'), '')
  await assert.rejects(openSecrets(database.db, null, folder), /damaged/)
  await unlink(join(folder, 'secret.key'))
  await assert.rejects(openSecrets(database.db, null, folder), SecretRefused)
  await database.close()
  await drop()
  await rm(folder, { recursive: true })
})

test('of two installations that start concurrently with different keys, one continues', async () => {
  const { database, drop } = await freshDatabase()
  await migrate(database.db)
  const starts = ['a', 'b'].map((letter) => openSecrets(database.db, letter.repeat(32), 'unused'))
  const results = await Promise.allSettled(starts)
  assert.deepEqual(results.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  await database.close()
  await drop()
})

/** This is the format of versions without associated data. */
function sealedOnce(secret: string, text: string): string {
  const { id } = createSealKey(secret)
  const iv = randomBytes(12)
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'parley secrets', 32))
  const cipher = createCipheriv('aes-256-gcm', key, iv)
  const data = Buffer.concat([cipher.update(text), cipher.final()])
  return ['v1', id, ...[iv, cipher.getAuthTag(), data].map((part) => part.toString('base64url'))].join(':')
}

const OLD = 'o'.repeat(32)
const NEW = 'n'.repeat(32)

/** Creates a database with secrets in every possible place, as an old version has written them. */
async function withSecrets() {
  const { database, drop } = await freshDatabase()
  const { db } = database
  await migrate(db)
  const accountId = await createAccount(db, 'One')
  const agentId = await createAgent(db, { id: accountId, plan: 'unlimited' }, 'test', { name: 'Agent' })
  const own = { account_id: accountId, agent_id: agentId }
  const sealed = (text: string) => sealedOnce(OLD, text)
  await sql`insert into settings (name, value) values ('secret-check', ${json(sealed('parley'))})`.execute(db)
  await db
    .insertInto('pages_connections')
    .values({ ...own, access_token: sealed('pages'), base_url: null })
    .execute()
  await db
    .insertInto('messaging_accounts')
    .values({
      ...own,
      business_account_id: '1/2',
      access_token: sealed('access'),
      app_secret: sealed('app'),
      verify_token: sealed('verify'),
      base_url: null,
      position: 0,
      numbers: null,
    })
    .execute()
  const http = { method: 'GET', url: 'https://a.example', body: null, timeoutMs: 1000 }
  const actions = Array.from({ length: 60 }, (_, n) => ({
    ...own,
    id: newId(),
    name: `a${n}`,
    type: 'http' as const,
    description: 'x',
    enabled: true,
    inputs: json({}),
    http: json({ ...http, headers: { Authorization: sealed(`header ${n}`) } }),
  }))
  await db.insertInto('actions').values(actions).execute()

  /** Returns everything in decrypted form, with the versions and keys that encrypted it. */
  async function read(secrets: Secrets) {
    const texts: string[] = []
    const heads = new Set<string>()
    const open = async (text: string, place: SecretLocation): Promise<void> => {
      heads.add(text.split(':').slice(0, 2).join(':'))
      texts.push(await secrets.decrypt(text, place))
    }
    const page = await db.selectFrom('pages_connections').selectAll().executeTakeFirstOrThrow()
    await open(page.access_token, placeOfRow('pages_connections', agentId, 'access_token'))
    const messaging = await db.selectFrom('messaging_accounts').selectAll().executeTakeFirstOrThrow()
    for (const column of ['access_token', 'app_secret', 'verify_token'] as const)
      await open(messaging[column], placeOfRow('messaging_accounts', `${agentId}/1/2`, column))
    for (const { id, http } of await db.selectFrom('actions').selectAll().execute())
      await open(http?.headers.Authorization ?? '', placeOfHeader(id, 'authorization'))
    return { texts: texts.sort(), heads: [...heads] }
  }
  const said = ['pages', 'access', 'app', 'verify', ...actions.map((_, n) => `header ${n}`)].sort()
  const close = async (): Promise<void> => {
    await database.close()
    await drop()
  }
  return { db, read, said, close }
}

test('values of an earlier version are bound to their place at the next start', async () => {
  const { db, read, said, close } = await withSecrets()
  const secrets = await openSecrets(db, OLD, 'unused')
  assert.deepEqual(await read(secrets), { texts: said, heads: [`v2:${secrets.key.id}`] })
  // The text can be written into another row of the same table, but cannot be decrypted there.
  const rows = await db.selectFrom('actions').select(['id', 'http']).limit(2).execute()
  const [first, second] = rows
  const moved = first?.http?.headers.Authorization ?? ''
  await assert.rejects(secrets.decrypt(moved, placeOfHeader(second?.id ?? '', 'authorization')))
  await close()
})

test('keys are rotated during reads and writes, wherever the rotation is interrupted', async () => {
  const { db, read, said, close } = await withSecrets()
  const busy = await openSecrets(db, OLD, 'unused')
  const wanted = createSealKey(NEW)
  // The process that rotates the keys dies after some rows.
  let left = 7
  const dying: Secrets = {
    ...busy,
    encrypt: async (...parameters) => {
      if (left-- === 0) throw new Error('killed')
      return busy.encrypt(...parameters)
    },
  }
  await assert.rejects(rotateKey(db, dying, wanted, true), /killed/)
  const half = await read(busy)
  assert.deepEqual([half.texts, half.heads.length], [said, 2])
  // Now both keys work, in processes that were started before, during and after the rotation.
  assert.deepEqual((await read(await openSecrets(db, NEW, 'unused'))).texts, said)
  await assert.rejects(openSecrets(db, 'x'.repeat(32), 'unused'), SecretRefused)
  await assert.rejects(rotateKey(db, busy, createSealKey('z'.repeat(32)), true), RotationRefused)
  const written = await transact(db, (trx) => busy.encrypt(trx, 'new', PLACE))
  assert.equal(keyIdOf(written), wanted.id)

  const { to, unreadable } = await rotateKey(db, busy, wanted, true)
  assert.deepEqual([to.id, unreadable], [wanted.id, 0])
  assert.deepEqual(await read(busy), { texts: said, heads: [`v2:${wanted.id}`] })
  await openSecrets(db, OLD, 'unused')
  const restarted = await openSecrets(db, NEW, 'unused')
  await finishRotation(db, restarted)
  await assert.rejects(openSecrets(db, OLD, 'unused'), SecretRefused)
  assert.deepEqual((await read(await openSecrets(db, NEW, 'unused'))).texts, said)
  // A process that has seen the rotation continues to work, and nothing is encrypted with the old key any more.
  assert.equal(keyIdOf(await transact(db, (trx) => busy.encrypt(trx, 'x', PLACE))), wanted.id)
  await assert.rejects(finishRotation(db, restarted), RotationRefused)
  await close()
})
