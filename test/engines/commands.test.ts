import assert from 'node:assert/strict'
import { copyFileSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { onPostgres } from '../database.ts'
import { failedStart, type Home, newHome, parley, type Running, spawnService } from '../spawn-service.ts'
import { clientOf } from '../start.ts'

let home: Home
let service: Running | null = null

before(async () => {
  home = await newHome()
})
after(async () => {
  await service?.kill('SIGKILL')
  await home.remove()
})

async function json(...words: string[]) {
  const { code, stdout, stderr } = await parley([...words, '--json'], home.env)
  assert.equal(code, 0, stderr)
  return JSON.parse(stdout)
}

async function refused(code: number, pattern: RegExp, ...words: string[]) {
  const result = await parley(words, home.env)
  assert.equal(result.code, code, result.stderr)
  assert.match(result.stderr, pattern)
  assert.equal(result.stderr.trim().split('\n').length, 1, result.stderr)
  assert.equal(result.stdout, '')
}

test('accounts, keys and credits are managed with and without a running service', async () => {
  const first = await json('account', 'create', '--name', 'Before', '--plan', 'pro')
  service = await spawnService(home.env)
  const { id } = await json('account', 'create', '--name', 'During')
  const { accounts } = await json('account', 'list')
  assert.deepEqual(
    accounts.map(({ name, plan }: { name: string; plan: string }) => [name, plan]),
    [
      ['Before', 'pro'],
      ['During', 'unlimited'],
    ],
  )
  const { key, id: keyId } = await json(
    'keys',
    'create',
    '--account',
    id,
    '--name',
    'k',
    '--scopes',
    'account:read,chat',
  )
  const client = clientOf(service.url, key)
  const me = await client.request('GET', '/me')
  assert.deepEqual([me.body.account.id, me.body.key.scopes], [id, ['account:read', 'chat']])
  assert.equal((await client.request('GET', '/agents')).body.error.code, 'AUTH_INSUFFICIENT_PERMISSIONS')

  await json('account', 'plan', id, 'free')
  await wait(1_000)
  assert.equal((await client.request('GET', '/me')).body.error.code, 'SUBSCRIPTION_API_RESTRICTED_PLAN')
  await json('account', 'plan', id, 'standard')
  const granted = await json('credits', 'grant', '--account', id, '--amount', '500')
  assert.equal(granted.limit, 10_500)
  assert.deepEqual((await json('credits', 'show', '--account', id)).used, 0)
  assert.match(
    (await json('member', 'create', '--account', id, '--email', 'a@example.com', '--name', 'A')).id,
    /-/,
  )

  await json('keys', 'revoke', keyId)
  await wait(1_000)
  assert.equal((await client.request('GET', '/me')).body.error.code, 'AUTH_INVALID_API_KEY')
  assert.deepEqual(await json('reconcile'), { balanced: true, difference: 0 })
  assert.ok(first.id)
})

test('an error is reported in one sentence and with its exit code', async () => {
  const { accounts } = await json('account', 'list')
  const { id } = accounts[0]
  // Commands with mistakes never reach a database.
  if (!onPostgres()) {
    await refused(64, /no command/, 'acount', 'list')
    await refused(64, /--name is required/, 'account', 'create')
    await refused(64, /free, hobby, standard/, 'account', 'create', '--name', 'x', '--plan', 'gold')
    await refused(64, /nope/, 'account', 'create', '--name', 'x', '--nope', 'y')
    await refused(64, /Usage: account plan ID PLAN/, 'account', 'plan', id)
    await refused(64, /no scope "x"/, 'keys', 'create', '--account', id, '--name', 'k', '--scopes', 'x')
    await refused(64, /ISO 8601/, 'keys', 'create', '--account', id, '--name', 'k', '--expires', 'tomorrow')
    await refused(64, /whole number/, 'credits', 'grant', '--account', id, '--amount', '0.5')
    await refused(64, /no e-mail/, 'member', 'create', '--account', id, '--email', 'x', '--name', 'n')
  }
  await refused(1, /no account/, 'account', 'plan', 'x', 'pro')
  await refused(1, /no key/, 'keys', 'revoke', 'x')
  await refused(1, /no file/, 'restore', join(home.folder, 'nowhere'))
  const unreachable = await parley(['account', 'list'], {
    ...home.env,
    DATABASE_URL: 'postgres://x@127.0.0.1:1/x',
  })
  assert.equal(unreachable.code, 69, unreachable.stderr)
  assert.equal(unreachable.stderr.trim().split('\n').length, 1)
})

test('maintenance is in force when the command returns, and survives a restart', async () => {
  assert.deepEqual(await json('maintenance', 'on'), { maintenance: true })
  assert.equal((await clientOf(service!.url, 'x').request('GET', '/me')).status, 503)
  assert.equal(await service!.kill('SIGTERM'), 0, 'SIGTERM exits with 0')
  service = await spawnService(home.env)
  assert.equal((await clientOf(service.url, 'x').request('GET', '/me')).status, 503)
  await json('maintenance', 'off')
  assert.equal((await clientOf(service.url, 'x').request('GET', '/me')).status, 401)
  assert.deepEqual(await json('maintenance', 'status'), { maintenance: false })
})

test('a backup restores everything elsewhere, on either database', async () => {
  const { id } = (await json('account', 'list')).accounts[0]
  const { key } = await json('keys', 'create', '--account', id, '--name', 'k')
  const client = clientOf(service!.url, key)
  const agent = (await client.request('POST', '/agents', { name: 'Backed up' })).body.id
  const form = new FormData()
  form.set('name', 'Facts')
  form.set('file', new Blob(['The zanzibar lamp has a warranty of eleven years.']), 'facts.txt')
  const uploaded = await client.raw('POST', `/agents/${agent}/sources`, { body: form })
  assert.equal(uploaded.status, 201)
  const source = (await uploaded.json()) as { id: string }
  while ((await client.request('GET', `/agents/${agent}/sources/${source.id}`)).body.status !== 'trained')
    await wait(150)
  const ask = (owner: typeof client) =>
    owner.request('POST', `/agents/${agent}/chat`, {
      message: 'What warranty has the zanzibar lamp?',
      stream: false,
    })
  assert.match((await ask(client)).body.data.parts[0].text, /eleven years/)

  const headers = { authorization: 'Bearer secret' }
  const http = { method: 'GET', url: 'https://example.com/', headers }
  const action = { name: 'look', type: 'http', description: 'Looks.', inputs: { type: 'object' }, http }
  const created = await client.request('POST', `/agents/${agent}/actions`, action)
  assert.equal(created.status, 201, JSON.stringify(created.body))

  const file = join(home.folder, 'backup.gz')
  const made = await json('backup', file)
  assert.ok(made.rows > 10)
  assert.equal(made.files, 1)
  assert.equal(statSync(file).mode & 0o777, 0o600)

  await json('maintenance', 'on')
  const cut = join(home.folder, 'cut.gz')
  writeFileSync(cut, readFileSync(file))
  truncateSync(cut, statSync(file).size - 40)
  await refused(1, /damaged/, 'restore', cut)
  const flipped = readFileSync(file)
  flipped[flipped.length >> 1]! ^= 1
  writeFileSync(cut, flipped)
  await refused(1, /damaged/, 'restore', cut)
  await json('maintenance', 'off')
  assert.equal((await client.request('GET', `/agents/${agent}`)).status, 200, 'nothing was changed')

  for (const embedded of process.env.TEST_DATABASE_URL ? [true, false] : [true]) {
    const other = await newHome({ embedded })
    const result = await parley(['restore', file, '--json'], other.env)
    assert.equal(result.code, 0, result.stderr)
    // The backup contains data that the first installation has encrypted.
    const start = await failedStart(other.env)
    assert.equal(start.code, 78)
    assert.match(start.stderr, /^One row of this database .* restore again with --without-secrets\.\n$/)
    if (embedded) copyFileSync(join(home.folder, 'secret.key'), join(other.folder, 'secret.key'))
    else {
      const bare = await parley(['restore', file, '--without-secrets', '--json'], other.env)
      assert.equal(JSON.parse(bare.stdout).disabledActions, 1, bare.stderr)
    }
    const again = await spawnService(other.env)
    try {
      const restored = clientOf(again.url, key)
      assert.equal((await restored.request('GET', `/agents/${agent}`)).body.name, 'Backed up')
      assert.match((await ask(restored)).body.data.parts[0].text, /eleven years/)
      assert.equal((await restored.request('GET', `/agents/${agent}/conversations`)).body.pagination.total, 2)
      const running = await parley(['restore', file], other.env)
      assert.deepEqual([running.code, running.stdout], [1, ''])
      assert.match(running.stderr, /^A service is running on this data.* Nothing was changed\.\n$/)
      assert.equal((await restored.request('GET', `/agents/${agent}/conversations`)).body.pagination.total, 2)
      assert.equal((await parley(['maintenance', 'on'], other.env)).code, 0)
      const inside = await parley(['restore', file, '--json'], other.env)
      assert.equal(inside.code, 0, inside.stderr)
      assert.equal((await parley(['maintenance', 'off'], other.env)).code, 0)
      assert.equal((await restored.request('GET', `/agents/${agent}/conversations`)).body.pagination.total, 1)
      assert.match((await ask(restored)).body.data.parts[0].text, /eleven years/)
    } finally {
      await again.kill('SIGKILL')
      await other.remove()
    }
  }
})
