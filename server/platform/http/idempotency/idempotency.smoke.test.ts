import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createPostgresDatabase, dropPostgresDatabase } from '../../../../test/database.ts'
import { type Answer, type Client, clientOf, type Service, startService } from '../../../../test/start.ts'
import { createKey } from '../../../accounts/keys/keys.ts'
import { createAccount } from '../../../accounts/records/accounts.ts'
import { createApp } from '../../../app.ts'
import { readConfig } from '../../../config.ts'
import { createContext } from '../../../context.ts'
import { openPostgres } from '../../db/database.ts'
import { purgeKeys } from './idempotency.ts'

let service: Service
before(async () => {
  service = await startService()
})
after(() => service.close())

const send = (client: Client, key: string, body: unknown = { name: 'Ada' }, path = '/agents') =>
  client.request('POST', path, body, { 'idempotency-key': key })

async function names(client: Client): Promise<string[]> {
  const { body } = await client.request('GET', '/agents')
  return body.data.map(({ name }: { name: string }) => name)
}

const isReplay = ({ headers }: Answer): boolean => headers.get('idempotency-replayed') === 'true'

function refusedAsReused({ status, body }: Answer): void {
  assert.equal(status, 409)
  assert.equal(body.error.code, 'IDEMPOTENCY_KEY_REUSED')
}

const changeRow = (client: Client, key: string, change: Record<string, unknown>) =>
  service.ctx.db
    .updateTable('requests')
    .set(change)
    .where('account_id', '=', client.accountId)
    .where('key', '=', key)
    .execute()

const ago = (ms: number): Date => new Date(Date.now() - ms)

test('a repeated request gets the first response byte for byte and creates nothing', async () => {
  const client = await service.account()
  const post = () =>
    client.raw('POST', '/agents', {
      body: JSON.stringify({ name: 'Ada' }),
      headers: { 'content-type': 'application/json', 'idempotency-key': 'one' },
    })
  const [first, second] = [await post(), await post()]
  assert.equal(first.status, 201)
  assert.equal(first.headers.get('idempotency-replayed'), null)
  assert.equal(second.status, 201)
  assert.equal(second.headers.get('idempotency-replayed'), 'true')
  assert.equal(second.headers.get('content-type'), first.headers.get('content-type'))
  assert.equal(await second.text(), await first.text())
  assert.deepEqual(await names(client), ['Ada'])
})

test('the order of members does not count; another body or path does', async () => {
  const client = await service.account()
  const first = await send(client, 'one', { name: 'Ada', instructions: 'Be brief.' })
  const turned = await send(client, 'one', { instructions: 'Be brief.', name: 'Ada' })
  assert.ok(isReplay(turned))
  refusedAsReused(await send(client, 'one', { name: 'Bob' }))
  const { body } = first
  refusedAsReused(await send(client, 'one', {}, `/agents/${body.id}/clone`))
  assert.ok(isReplay(await send(client, 'one', { name: 'Ada', instructions: 'Be brief.' })))
  assert.deepEqual(await names(client), ['Ada'])
})

test('of twenty identical concurrent requests, one creates and all get its response', async () => {
  const client = await service.account()
  const answers = await Promise.all(Array.from({ length: 20 }, () => send(client, 'burst')))
  for (const { status, body } of answers) {
    assert.equal(status, 201)
    assert.deepEqual(body, answers[0]?.body)
  }
  assert.equal(answers.filter(isReplay).length, 19)
  assert.deepEqual(await names(client), ['Ada'])
})

test('a rejected request leaves its key unused', async () => {
  const client = await service.account({ plan: 'standard' })
  const ids: string[] = []
  for (let i = 0; i < 5; i++) ids.push((await client.request('POST', '/agents', { name: `${i}` })).body.id)
  assert.equal((await send(client, 'late')).body.error.code, 'AGENT_LIMIT_REACHED')
  await client.request('DELETE', `/agents/${ids[0]}`)
  const created = await send(client, 'late')
  assert.equal(created.status, 201)
  assert.ok(!isReplay(created))
  assert.ok(isReplay(await send(client, 'late')))
})

test('an invalid request does not use up its key', async () => {
  const client = await service.account()
  assert.equal((await send(client, 'one', { nam: 'Ada' })).status, 400)
  assert.ok(!isReplay(await send(client, 'one')))
})

test('uploads are identical when their fields and file are', async () => {
  const client = await service.account()
  const { body: agent } = await client.request('POST', '/agents', { name: 'Ada' })
  const upload = async (text: string, name = 'Notes') => {
    const form = new FormData()
    form.set('name', name)
    form.set('file', new Blob([text]), 'notes.txt')
    const response = await client.raw('POST', `/agents/${agent.id}/sources`, {
      body: form,
      headers: { 'idempotency-key': 'file' },
    })
    return { status: response.status, headers: response.headers, body: JSON.parse(await response.text()) }
  }
  const first = await upload('Open from nine to five.')
  assert.equal(first.status, 201)
  const second = await upload('Open from nine to five.')
  assert.ok(isReplay(second))
  assert.deepEqual(second.body, first.body)
  refusedAsReused(await upload('Open from nine to six.'))
  refusedAsReused(await upload('Open from nine to five.', 'Others'))
  const list = await client.request('GET', `/agents/${agent.id}/sources`)
  assert.equal(list.body.pagination.total, 1)
})

test('a malformed upload is rejected with a key as without one', async () => {
  const client = await service.account()
  const { body: agent } = await client.request('POST', '/agents', { name: 'Ada' })
  const part = (name: string) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\nx\r\n`
  for (const body of [
    part('name'),
    `${part('constructor')}--b--\r\n`,
    `${part('name').repeat(26)}--b--\r\n`,
  ]) {
    const send = (headers: Record<string, string>) =>
      client.request('POST', `/agents/${agent.id}/sources`, body, {
        'content-type': 'multipart/form-data; boundary=b',
        ...headers,
      })
    for (const key of [{}, { 'idempotency-key': 'broken' }] as Record<string, string>[]) {
      const answer = await send(key)
      assert.deepEqual([answer.status, answer.body.error.code], [400, 'VALIDATION_INVALID_BODY'], body)
    }
  }
})

test('the same key of another account is another key', async () => {
  const [one, other] = [await service.account(), await service.account()]
  await send(one, 'shared')
  const theirs = await send(other, 'shared', { name: 'Bob' })
  assert.equal(theirs.status, 201)
  assert.ok(!isReplay(theirs))
  assert.deepEqual(await names(other), ['Bob'])
})

test('a key is forgotten after 24 hours', async () => {
  const client = await service.account()
  await send(client, 'old')
  await changeRow(client, 'old', { created_at: ago(86_340_000) })
  await purgeKeys(service.ctx.db)
  assert.ok(isReplay(await send(client, 'old')))
  await changeRow(client, 'old', { created_at: ago(86_460_000) })
  const other = await send(client, 'old', { name: 'Bob' })
  assert.equal(other.status, 201)
  assert.ok(isReplay(await send(client, 'old', { name: 'Bob' })))
  await changeRow(client, 'old', { created_at: ago(86_460_000) })
  await purgeKeys(service.ctx.db)
  const rows = await service.ctx.db
    .selectFrom('requests')
    .select('key')
    .where('account_id', '=', client.accountId)
    .execute()
  assert.deepEqual(rows, [])
})

test('of many identical requests, one replaces an expired one', async () => {
  const client = await service.account()
  await send(client, 'old')
  await changeRow(client, 'old', { created_at: ago(86_460_000) })
  const answers = await Promise.all(Array.from({ length: 5 }, () => send(client, 'old')))
  assert.ok(answers.every(({ status, body }) => status === 201 && body.id === answers[0]?.body.id))
  assert.equal(answers.filter(isReplay).length, 4)
  assert.deepEqual(await names(client), ['Ada', 'Ada'])
})

test('an invalid header is rejected together with all other errors', async () => {
  const client = await service.account()
  for (const key of ['', 'a b', 'é', 'x'.repeat(256)]) {
    const { status, body } = await send(client, key, {})
    assert.equal(status, 400, key)
    assert.equal(body.error.code, 'VALIDATION_INVALID_BODY')
    assert.deepEqual(Object.keys(body.error.details).sort(), ['Idempotency-Key', 'name'])
  }
  assert.equal((await send(client, 'x'.repeat(255))).status, 201)
})

test('the header is ignored with other methods', async () => {
  const client = await service.account()
  const { body: agent } = await send(client, 'one')
  const headers = { 'idempotency-key': 'one' }
  for (const key of ['one', 'not a key']) {
    const list = await client.request('GET', '/agents', undefined, { 'idempotency-key': key })
    assert.equal(list.status, 200)
    assert.ok(!isReplay(list))
  }
  const path = `/agents/${agent.id}`
  assert.equal((await client.request('PUT', path, { name: 'Bob' }, headers)).status, 200)
  assert.equal((await client.request('DELETE', path, undefined, headers)).status, 200)
})

const server = process.env.TEST_DATABASE_URL
test('two processes on one database answer as one', { skip: !server && 'needs PostgreSQL' }, async () => {
  const url = await createPostgresDatabase(server as string)
  const folder = await mkdtemp(join(tmpdir(), 'parley-test-'))
  const config = readConfig({ DATA_DIR: folder, LOG_LEVEL: 'error', SEED_DEMO: '0' })
  const start = async () => {
    const ctx = await createContext(config, { database: openPostgres(url, 10) })
    const app = await createApp(ctx, { strict: true })
    await app.listen({ host: '127.0.0.1', port: 0 })
    return { ctx, app, url: `http://127.0.0.1:${(app.server.address() as AddressInfo).port}` }
  }
  const processes = [await start(), await start()]
  const { db } = processes[0]!.ctx
  const accountId = await createAccount(db, 'Two')
  const { key } = await createKey(db, accountId, { name: 'test' })
  const clients = processes.map(({ url }) => clientOf(url, key, accountId))
  for (const round of ['first', 'second', 'third']) {
    const body = { name: round }
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => send(clients[i % 2]!, round, body)),
    )
    assert.ok(answers.every(({ status, body }) => status === 201 && body.id === answers[0]?.body.id))
  }
  assert.equal((await names(clients[1]!)).length, 3)
  for (const { app, ctx } of processes) {
    await app.close()
    await ctx.close()
  }
  await dropPostgresDatabase(server as string, url)
  await rm(folder, { recursive: true, force: true })
})
