import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  ACCOUNT,
  type MessagingHome,
  now,
  SECRET,
  startMessagingHome,
  VERIFY,
} from '../../../../test/messaging-home.ts'
import { until } from '../../../../test/until.ts'

let home: MessagingHome
const path = (rest = '') => `/agents/${home.agentId}/messaging/connection${rest}`

before(async () => {
  home = await startMessagingHome()
})
after(() => home.close())

const numbers = [{ phone: '+15550001111', verifiedName: 'Shop' }]
const put = (account: object, baseUrl = home.fake.url) =>
  home.client.request('PUT', path(), {
    accounts: [{ businessAccountId: ACCOUNT, ...account }],
    baseUrl,
  })

test('reading a connection does not return its secrets', async () => {
  assert.equal((await home.client.request('POST', path('/test'))).status, 200)
  const { status, body } = await home.client.request('GET', path())
  assert.equal(status, 200)
  const { numbersReadAt, lastCheckedAt, ...account } = body.accounts[0]
  assert.ok(numbersReadAt && lastCheckedAt)
  assert.deepEqual(account, { businessAccountId: ACCOUNT, numbers, lastError: null })
  assert.deepEqual([body.baseUrl, body.webhookPath], [home.fake.url, `/webhooks/messaging/${home.agentId}`])
  assert.doesNotMatch(JSON.stringify(body), /token-1|app-secret|verify-me/)
})

test('a test reports what is wrong with an account, and an omitted secret is kept', async () => {
  assert.equal((await put({ accessToken: 'wrong' })).status, 200)
  const [wrong] = (await home.client.request('POST', path('/test'))).body.accounts
  assert.deepEqual([wrong.ok, wrong.numbers], [false, []])
  assert.match(wrong.error, /token|access/i)
  assert.equal((await put({ accessToken: 'token-1' })).status, 200)
  const [right] = (await home.client.request('POST', path('/test'))).body.accounts
  assert.deepEqual(right, { businessAccountId: ACCOUNT, ok: true, error: null, numbers })
  // The webhook is still signed with the secret of the first connection.
  assert.equal((await home.webhook({ object: 'x', entry: [] })).status, 200)
})

test('secrets are required for a new account and are never sent to another server', async () => {
  const fields = ['accounts.0.accessToken', 'accounts.0.appSecret', 'accounts.0.verifyToken']
  for (const answer of [await put({ businessAccountId: '999' }), await put({}, 'https://example.com')]) {
    assert.equal(answer.status, 400)
    assert.deepEqual(Object.keys(answer.body.error.details).sort(), fields)
  }
  const whole = { accessToken: 'token-1', appSecret: SECRET, verifyToken: VERIFY }
  assert.equal((await put(whole)).status, 200)
})

test('an agent without a connection has no accounts, and nothing can be tested', async () => {
  const { id } = (await home.client.request('POST', '/agents', { name: 'Other' })).body
  const other = `/agents/${id}/messaging/connection`
  const { body } = await home.client.request('GET', other)
  assert.deepEqual([body.accounts, body.baseUrl], [[], null])
  assert.equal(
    (await home.client.request('POST', `${other}/test`)).body.error.code,
    'MESSAGING_NOT_CONNECTED',
  )
})

test('an account is connected after a test that passed, and no longer when the channel refuses its token or a message', async () => {
  const state = async () => {
    const { messaging } = (await home.client.request('GET', `/agents/${home.agentId}/channels`)).body
    assert.equal((await home.client.request('GET', path())).body.status, messaging.status)
    return [messaging.status, messaging.problem]
  }
  const check = () => home.client.request('POST', path('/test'))
  await check()
  assert.deepEqual(await state(), ['connected', null])
  await put({ accessToken: 'wrong' })
  await check()
  const [failing, problem] = await state()
  assert.equal(failing, 'failing')
  assert.match(problem, /^111: .*access token/)
  await put({ accessToken: 'token-1' })
  await check()
  assert.deepEqual(await state(), ['connected', null])

  await home.say('m-1', now(), 'Hello')
  const { db } = home.service.ctx
  await until('the answer', () => db.selectFrom('deliveries').select('id').executeTakeFirst())
  home.fake.faults.push({ path: /messages$/, status: 401, code: 190 })
  await home.deliver()
  assert.deepEqual(await state(), [
    'failing',
    '111: The access token has expired. Connect the account again.',
  ])
  await db
    .updateTable('deliveries')
    .set({ next_at: new Date(0) })
    .execute()
  await home.deliver()
  assert.equal(home.fake.sent.length, 1)
  assert.deepEqual(await state(), ['connected', null])
})
