import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { onPostgres } from '../../../../test/database.ts'
import { type Client, type Service, startService } from '../../../../test/start.ts'
import { type Browser, browserOf, memberOf, PASSWORD, signIn } from '../../../../test/workspace.ts'
import { createLink } from '../../links/links.ts'

let service: Service
let client: Client

before(async () => {
  service = await startService({ TRUSTED_PROXIES: '127.0.0.1' })
  client = await service.account()
})
after(() => service.close())

const guess = async (browser: Browser, email: string): Promise<number> =>
  (await signIn(browser, email, 'a wrong password')).status

/** Returns how many of `count` wrong passwords are checked. */
async function checked(browser: Browser, email: string, count: number): Promise<number> {
  let answered = 0
  for (let n = 0; n < count; n++) {
    const status = await guess(browser, email)
    assert.ok([401, 429].includes(status), String(status))
    if (status === 401) answered++
  }
  return answered
}

/** Uses up the hundred wrong passwords of these logins; to hash all of them would take long. */
async function guessByMany(...emails: string[]): Promise<void> {
  for (const email of emails) assert.equal(await guess(browserOf(service), email), 401)
  await service.ctx.db
    .updateTable('login_attempts')
    .set({ count: 100 })
    .where('ends_at', '>', new Date(Date.now() + 3_600_000))
    .execute()
  for (const email of emails) assert.equal(await guess(browserOf(service), email), 429)
}

test('a stranger who guesses passwords does not lock a member out', async () => {
  const { email, ...own } = await memberOf(service, client.accountId, 'viewer')
  const stranger = browserOf(service)
  assert.equal(await checked(stranger, email, 3), 3)
  // The same address in other letters, and several at a time, are one login.
  const answers = await Promise.all([1, 2, 3, 4].map(() => guess(stranger, email.toUpperCase())))
  assert.deepEqual(answers.sort(), [401, 401, 429, 429])
  const stopped = await signIn(stranger, email)
  assert.deepEqual([stopped.status, stopped.body.error.code], [429, 'RATE_LIMIT_TOO_MANY_REQUESTS'])
  assert.ok(Number(stopped.headers.get('retry-after')) > 60)
  // A member who comes from elsewhere, and somebody else at the stranger's address, are not stopped.
  assert.equal((await signIn(browserOf(service), email)).status, 200)
  const other = await memberOf(service, client.accountId, 'viewer')
  assert.equal((await signIn(stranger, other.email)).status, 200)
  assert.equal((await signIn(own, email)).status, 200)
})

test('on a known device, the right password passes while every other limit is used up', async () => {
  const { email, request } = await memberOf(service, client.accountId, 'viewer')
  await guessByMany(email)
  assert.equal((await signIn(browserOf(service), email)).status, 429)
  const token = { token: 'x'.repeat(43) }
  const crowded = { 'x-forwarded-for': '203.0.113.60' }
  const stranger = browserOf(service)
  for (let n = 0; n <= 60; n++) await stranger.request('POST', '/invitations/look', token, crowded)
  assert.equal((await stranger.request('POST', '/invitations/look', token, crowded)).status, 429)
  assert.equal((await request('POST', '/sign-in', { email, password: PASSWORD }, crowded)).status, 200)
  assert.equal(
    (await request('PUT', '/password', { currentPassword: 'wrong', newPassword: PASSWORD })).status,
    401,
  )
})

test('a known device has ten wrong passwords, and is known for its own login only', async () => {
  const { email, ...own } = await memberOf(service, client.accountId, 'viewer')
  const other = await memberOf(service, client.accountId, 'viewer')
  assert.equal(await checked(own, email, 10), 10)
  assert.equal((await signIn(own, email)).status, 429)
  assert.equal((await signIn(browserOf(service), email)).status, 200)
  assert.equal(await checked(own, other.email, 6), 5)
  // Two people who share a browser are both known in it.
  assert.equal((await signIn(other, other.email)).status, 200)
  const third = await memberOf(service, client.accountId, 'viewer')
  assert.equal((await signIn(other, third.email)).status, 200)
  await guessByMany(other.email, third.email)
  for (const member of [other, third]) assert.equal((await signIn(other, member.email)).status, 200)
})

test('the cookie of a known device cannot be forged or given to another login', async () => {
  const { email, cookies } = await memberOf(service, client.accountId, 'viewer')
  const other = await memberOf(service, client.accountId, 'viewer')
  const named = [...cookies].find(([name]) => name.includes('device'))
  assert.ok(named)
  const [name, value] = named
  const otherName = [...other.cookies.keys()].find((key) => key.includes('device')) ?? ''
  await guessByMany(email, other.email)
  const [id, ends, signature] = value.split('.')
  for (const [as, forged, login] of [
    [name, `${id}x.${ends}.${signature}`, email],
    [name, `${id}.${Number(ends) + 1}.${signature}`, email],
    [name, `${id}.${ends}.`, email],
    [name, `${id}`, email],
    [otherName, value, other.email],
  ] as const) {
    const browser = browserOf(service)
    browser.cookies.set(as, forged)
    assert.equal((await signIn(browser, login)).status, 429, forged)
  }
  const true_ = browserOf(service)
  true_.cookies.set(name, value)
  assert.equal((await signIn(true_, email)).status, 200)
})

test('a login has a hundred wrong passwords a day, from all addresses together', async () => {
  const { email } = await memberOf(service, client.accountId, 'viewer')
  const each = await Promise.all(Array.from({ length: 21 }, () => checked(browserOf(service), email, 5)))
  assert.equal(
    each.reduce((sum, count) => sum + count, 0),
    100,
  )
})

test('an address without a login has the same limits and answers', async () => {
  const { email } = await memberOf(service, client.accountId, 'viewer')
  const answers = []
  for (const name of [email, 'nobody-here@example.com']) {
    const stranger = browserOf(service)
    assert.equal(await checked(stranger, name, 5), 5)
    const { body, headers } = await signIn(stranger, name)
    const names = [...headers.keys()].filter((key) => key !== 'x-request-id')
    answers.push([body.error.code, body.error.message, names])
  }
  assert.deepEqual(answers[0], answers[1])
})

test('a reset lets a locked-out member in on a new device, whatever a stranger guesses', async () => {
  const { email, memberId } = await memberOf(service, client.accountId, 'viewer')
  await guessByMany(email)
  const browser = browserOf(service)
  for (let n = 0; n < 5; n++)
    assert.equal((await browser.request('POST', '/password-resets', { email })).status, 202)
  assert.equal((await browser.request('POST', '/password-resets', { email })).status, 429)
  assert.equal((await browserOf(service).request('POST', '/password-resets', { email })).status, 202)
  const { token } = await createLink(service.ctx.db, {
    accountId: client.accountId,
    kind: 'reset',
    createdBy: 'mail',
    memberId,
  })
  const password = 'a password after the reset'
  assert.equal((await browser.request('POST', '/password-resets/accept', { token, password })).status, 200)
  assert.equal((await signIn(browserOf(service), email, password)).status, 429)
  assert.equal((await signIn(browser, email, password)).status, 200)
})

test('two processes on one database count together', { skip: !onPostgres() }, async (t) => {
  const two = await startService({ TRUSTED_PROXIES: '127.0.0.1' }, service)
  t.after(() => two.close())
  const { email } = await memberOf(service, client.accountId, 'viewer')
  const stranger = { 'x-forwarded-for': '203.0.113.9' }
  const statuses = []
  for (let n = 0; n < 4; n++)
    for (const each of [service, two]) {
      const wrong = { email, password: 'a wrong password' }
      statuses.push((await browserOf(each).request('POST', '/sign-in', wrong, stranger)).status)
    }
  assert.deepEqual(statuses, [401, 401, 401, 401, 401, 429, 429, 429])
})
