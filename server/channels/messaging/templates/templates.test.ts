import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { type MessagingServer, startMessagingServer } from '../../../../test/fakes/messaging-server.ts'
import { fakeTemplate } from '../../../../test/fakes/messaging-wire.ts'
import { type Client, type Service, startService } from '../../../../test/start.ts'
import { until } from '../../../../test/until.ts'
import { accountsOf } from '../connection/connection.ts'
import { readNumbersOf, refreshNumbers } from '../connection/numbers.ts'

const ACCOUNTS = ['201', '202', '203']
const EACH = 40

let fake: MessagingServer
let service: Service
let client: Client
let agentId: string

const path = (rest: string) => `/agents/${agentId}/messaging${rest}`
const account = (id: string, accessToken = `token-${id}`) => ({
  businessAccountId: id,
  accessToken,
  appSecret: `secret-${id}`,
  verifyToken: `verify-${id}`,
})
const connect = (accounts: object[]) =>
  client.request('PUT', path('/connection'), { accounts, baseUrl: fake.url })

before(async () => {
  fake = await startMessagingServer()
  for (const [place, id] of ACCOUNTS.entries()) {
    const templates = Array.from({ length: EACH }, (_, i) => fakeTemplate(`t-${id}-${i}`, 'Hello {{1}}'))
    const waiting = fakeTemplate(`waiting-${id}`, 'x', { status: 'PENDING' })
    fake.accounts.set(id, {
      token: `token-${id}`,
      numbers: [{ id: `n-${id}`, phone: `+1 555-000-10${place}0`, name: `Shop ${id}` }],
      templates: [...templates, waiting],
    })
  }
  service = await startService({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1' })
  client = await service.account()
  agentId = (await client.request('POST', '/agents', { name: 'Agent' })).body.id
})
after(async () => {
  await service.close()
  await fake.close()
})

test('nothing is connected at first', async () => {
  const answer = await client.request('GET', path('/templates'))
  assert.deepEqual([answer.status, answer.body.error.code], [403, 'MESSAGING_NOT_CONNECTED'])
})

test('an invalid connection is rejected with a sentence for each field', async () => {
  const bad = await client.request('PUT', path('/connection'), {
    accounts: [
      account('201'),
      account('201'),
      { ...account('204'), businessAccountId: '2 2', verifyToken: 'a b' },
      { ...account('7'), verifyToken: 'a b' },
    ],
  })
  assert.equal(bad.status, 400)
  assert.deepEqual(Object.keys(bad.body.error.details).sort(), [
    'accounts.2.businessAccountId',
    'accounts.2.verifyToken',
    'accounts.3.verifyToken',
  ])
  const twice = await connect([account('201'), account('201')])
  assert.deepEqual(twice.body.error.details, { 'accounts.1.businessAccountId': 'Is in the list already.' })
  const elsewhere = await client.request('PUT', path('/connection'), {
    accounts: [account('201')],
    baseUrl: 'ftp://x',
  })
  assert.ok(elsewhere.body.error.details.baseUrl)
})

test('paging returns all 120 templates of three accounts; secrets are stored encrypted', async () => {
  await connect(ACCOUNTS.map((id) => account(id)))
  const { status, body } = await client.request('GET', path('/templates'))
  assert.equal(status, 200)
  assert.equal(body.templates.length, 3 * EACH)
  assert.equal(
    new Set(body.templates.map((one: Record<string, string>) => `${one.businessAccountId} ${one.id}`)).size,
    3 * EACH,
  )
  assert.deepEqual([body.complete, body.unavailableBusinessAccountIds], [true, []])
  assert.deepEqual(body.templates[0], {
    id: 't-t-201-0-en',
    name: 't-201-0',
    language: 'en',
    category: 'UTILITY',
    status: 'APPROVED',
    parameterFormat: 'POSITIONAL',
    businessAccountId: '201',
    variables: { header: [], body: ['1'] },
    components: [{ type: 'BODY', text: 'Hello {{1}}' }],
  })
  assert.deepEqual(body.senders[1], {
    from: '+15550001010',
    businessAccountId: '202',
    verifiedName: 'Shop 202',
  })
  const rows = await service.ctx.db.selectFrom('messaging_accounts').selectAll().execute()
  assert.doesNotMatch(JSON.stringify(rows), /token-20|secret-20|verify-20/)
})

test('an account that fails briefly is retried; one that keeps failing is named, and the others are complete', async () => {
  fake.faults.push({ path: /202\/message_templates/, status: 500, code: 2 })
  fake.faults.push({ path: /202\/message_templates/, status: 429, code: 80007, retryAfter: 1 })
  const retried = await client.request('GET', path('/templates'))
  assert.deepEqual([retried.body.complete, retried.body.templates.length], [true, 3 * EACH])

  const asked = () => fake.requests.filter((line) => line.includes('203/message_templates')).length
  const before = asked()
  for (let i = 0; i < 3; i++) fake.faults.push({ path: /203\/message_templates/, cut: 'before' })
  const partial = await client.request('GET', path('/templates'))
  assert.equal(partial.status, 200)
  assert.deepEqual([partial.body.complete, partial.body.unavailableBusinessAccountIds], [false, ['203']])
  assert.equal(partial.body.templates.length, 2 * EACH)
  assert.equal(asked() - before, 3)
  assert.equal((await client.request('GET', path('/templates'))).body.complete, true)
})

const pageOf = (data: object[], after: string, more: object = {}): string =>
  JSON.stringify({ data, paging: { next: 'https://x.example', cursors: { after } }, ...more })
const incomplete = async (page: (i: number) => string, pages: number) => {
  const pattern = /203\/message_templates/
  fake.faults.push(...Array.from({ length: pages }, (_, i) => ({ path: pattern, broken: page(i) })))
  const asked = fake.requests.filter((line) => pattern.test(line)).length
  const { body } = await client.request('GET', path('/templates'))
  assert.deepEqual([body.complete, body.unavailableBusinessAccountIds], [false, ['203']])
  assert.equal(body.templates.length, 2 * EACH)
  return fake.requests.filter((line) => pattern.test(line)).length - asked
}

test('an account with an excessively long list is reported as unreadable and not read further', async () => {
  const many = Array.from({ length: 5_000 }, (_, i) => fakeTemplate(`many-${i}`, 'x'))
  // The third page exceeds the limit by one entry, so the fourth is not requested.
  const tooMany = await incomplete((i) => pageOf(i < 2 ? many : many.slice(0, 1), `many-${i}`), 3)
  assert.equal(tooMany, 3)
  const padding = 'x'.repeat(6 * 1_048_576)
  const tooLarge = await incomplete((i) => pageOf([], `large-${i}`, { padding }), 3)
  assert.equal(tooLarge, 3)
  assert.equal((await client.request('GET', path('/templates'))).body.complete, true)
})

test('only as many components of a template are kept as one can have', async () => {
  const parts = Array.from({ length: 500 }, () => ({ type: 'BODY', text: 'x' }))
  const buttons = Array.from({ length: 500 }, () => ({ type: 'QUICK_REPLY', text: 'x' }))
  const components = [{ type: 'BUTTONS', buttons }, ...parts]
  fake.faults.push({
    path: /201\/message_templates/,
    broken: JSON.stringify({ data: [fakeTemplate('odd', 'x', { components })] }),
  })
  const { body } = await client.request('GET', path('/templates'))
  const odd = body.templates.find(({ name }: { name: string }) => name === 'odd')
  assert.deepEqual([odd.components.length, odd.components[0].buttons.length], [20, 20])
})

test('a channel that never responds is given up, including all retries', async () => {
  const silent = createServer()
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  const baseUrl = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
  let asked = 0
  silent.on('request', () => asked++)
  const [account] = await accountsOf(service.ctx, agentId)
  assert.ok(account)
  await assert.rejects(refreshNumbers(service.ctx, { ...account, baseUrl }, { maxMs: 200 }), {
    name: 'ProviderFailure',
  })
  assert.ok(asked <= 1)
  silent.closeAllConnections()
  silent.close()
})

test('an address that may not be asked is tried once', async () => {
  const [account] = await accountsOf(service.ctx, agentId)
  assert.ok(account)
  let tries = 0
  const { fetcher } = service.ctx
  const counting = {
    ...fetcher,
    fetch: (...asked: Parameters<typeof fetcher.fetch>) => {
      tries++
      return fetcher.fetch(...asked)
    },
  }
  const refused = { ...account, baseUrl: 'https://10.0.0.1' }
  await assert.rejects(refreshNumbers({ ...service.ctx, fetcher: counting }, refused), {
    name: 'ProviderFailure',
    code: 'unreachable',
  })
  assert.equal(tries, 1)
})

test('reading the numbers ends with its job, and an unresponsive account delays no other', async () => {
  const silent = createServer()
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  const { port } = silent.address() as AddressInfo
  await service.ctx.db
    .updateTable('messaging_accounts')
    .set({ numbers: null })
    .set({
      base_url: sql<string>`case business_account_id when '201' then ${`http://127.0.0.1:${port}`} else base_url end`,
    })
    .execute()
  const asked: Promise<unknown> = once(silent, 'request')
  const end = new AbortController()
  const reading = readNumbersOf(service.ctx, agentId, end.signal)
  reading.catch(() => {})
  await asked
  const known = () =>
    service.ctx.db
      .selectFrom('messaging_accounts')
      .select('business_account_id')
      .where('numbers', 'is not', null)
      .orderBy('position')
      .execute()
  await until('the second page', async () => (await known()).length === 2)
  let more = 0
  silent.on('request', () => more++)
  end.abort()
  await assert.rejects(reading, { name: 'ProviderFailure' })
  assert.equal(more, 0)
  silent.closeAllConnections()
  silent.close()
})

test('a rejected token names its account; a new connection replaces the old one', async () => {
  await connect([account('201'), account('202', 'wrong')])
  const { body } = await client.request('GET', path('/templates'))
  assert.deepEqual([body.complete, body.unavailableBusinessAccountIds], [false, ['202']])
  assert.equal(body.templates.length, EACH)
  await connect([account('203')])
  const other = await client.request('GET', path('/templates'))
  assert.deepEqual([other.body.complete, other.body.templates.length], [true, EACH])
  await client.request('DELETE', path('/connection'))
  assert.equal((await client.request('GET', path('/templates'))).status, 403)
})
