import assert from 'node:assert/strict'
import { createHook } from 'node:async_hooks'
import { after, before, test } from 'node:test'
import { codeOf } from '../../../test/authenticator.ts'
import { type Client, type Service, startService } from '../../../test/start.ts'
import { browserOf, memberOf, PASSWORD, signIn, type Worker } from '../../../test/workspace.ts'
import { dropStrangersEntries } from '../audit/audit.ts'
import { createLink } from '../links/links.ts'

let service: Service
let client: Client

before(async () => {
  service = await startService({ TRUSTED_PROXIES: '127.0.0.1' })
  client = await service.account()
})
after(() => service.close())

const SESSION = 'parley.session_token'

/** Enables the second factor of a member. Returns the code that confirmed it, too, since codes change meanwhile. */
async function addFactor(worker: Worker): Promise<{ uri: string; used: string }> {
  const { body } = await worker.request('POST', '/second-factor', { password: PASSWORD })
  const used = codeOf(body.uri)
  const { status } = await worker.request('POST', '/second-factor/confirm', { code: used })
  assert.equal(status, 200)
  return { uri: body.uri, used }
}

/** Returns the number of passwords that are hashed during `work`. */
async function hashesDuring(work: () => Promise<unknown>): Promise<number> {
  let count = 0
  const hook = createHook({
    init(_id, type) {
      if (type === 'SCRYPTREQUEST') count++
    },
  }).enable()
  await work().finally(() => hook.disable())
  return count
}

test('an unknown address, a wrong password and a login without a password cost one hash each', async () => {
  const { email } = await memberOf(service, client.accountId, 'viewer')
  const { email: bare, memberId } = await memberOf(service, client.accountId, 'viewer')
  const login = service.ctx.db.selectFrom('logins').select('id').where('member_id', '=', memberId)
  await service.ctx.db.deleteFrom('login_credentials').where('login_id', 'in', login).execute()
  for (const name of [email, bare, 'nobody@example.com']) {
    const { request } = browserOf(service)
    const hashes = await hashesDuring(async () => {
      const { status } = await request('POST', '/sign-in', { email: name, password: 'a wrong password' })
      assert.equal(status, 401)
    })
    assert.equal(hashes, 1, name)
  }
})

test('a reset request hashes nothing, and does the same for every address', async () => {
  const { email } = await memberOf(service, client.accountId, 'viewer')
  for (const name of [email, 'nobody@example.com']) {
    const { request } = browserOf(service)
    assert.equal(await hashesDuring(() => request('POST', '/password-resets', { email: name })), 0)
  }
})

test('a guessed link costs no hash', async () => {
  const token = 'x'.repeat(43)
  const { request } = browserOf(service)
  const named = { token, name: 'Eve', password: PASSWORD }
  for (const [path, body] of [
    ['/invitations/accept', named],
    ['/set-up', { ...named, email: 'eve@example.com', accountName: 'Eve' }],
    ['/password-resets/accept', { token, password: PASSWORD }],
  ] as const) {
    const hashes = await hashesDuring(async () =>
      assert.equal((await request('POST', path, body)).status, 404, path),
    )
    assert.equal(hashes, 0, path)
  }
})

test('the code of a second factor works once, also under concurrency', async () => {
  const worker = await memberOf(service, client.accountId, 'admin')
  const { uri, used } = await addFactor(worker)
  const begin = async () => {
    const browser = browserOf(service)
    assert.deepEqual((await signIn(browser, worker.email)).body, { secondFactor: true })
    return browser
  }
  // The code that confirmed the second factor counts as used, too.
  const replayed = await begin()
  const refused = await replayed.request('POST', '/sign-in/second-factor', { code: used })
  assert.deepEqual([refused.status, refused.body.error.code], [401, 'AUTH_SIGN_IN_FAILED'])
  assert.equal(replayed.cookies.has(SESSION), false)
  assert.equal((await replayed.request('GET', '/me')).status, 401)

  const before = (await worker.request('GET', '/sessions')).body.length
  const both = [await begin(), await begin()]
  const code = codeOf(uri, 1)
  const answers = await Promise.all(
    both.map(({ request }) => request('POST', '/sign-in/second-factor', { code })),
  )
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 401])
  // The refused sign-in has no session in the database either.
  assert.equal((await worker.request('GET', '/sessions')).body.length, before + 1)
})

test('between the password and the code, there is no usable session', async () => {
  const worker = await memberOf(service, client.accountId, 'owner')
  await addFactor(worker)
  const browser = browserOf(service)
  await signIn(browser, worker.email)
  const challenge = [...browser.cookies.keys()]
  assert.ok(challenge.length > 0)
  for (const [method, path, body] of [
    ['GET', '/me'],
    ['GET', '/agents'],
    ['POST', '/keys', { name: 'x' }],
    ['DELETE', '/second-factor', { password: PASSWORD }],
    ['PUT', '/password', { currentPassword: PASSWORD, newPassword: 'another password' }],
  ] as const) {
    assert.equal((await browser.request(method, path, body)).status, 401, path)
  }
  // A challenge presented as a session is not accepted.
  const renamed = browserOf(service)
  for (const name of challenge) renamed.cookies.set(SESSION, browser.cookies.get(name) ?? '')
  assert.equal((await renamed.request('GET', '/me')).status, 401)
  const trusted = { code: '000000', trustDevice: true }
  assert.equal((await browser.request('POST', '/sign-in/second-factor', trusted)).status, 400)
  // A new password does not remove the second factor.
  const { token } = await createLink(service.ctx.db, {
    accountId: client.accountId,
    kind: 'reset',
    createdBy: 'operator',
    memberId: worker.memberId,
  })
  const password = 'a password after the reset'
  assert.equal((await browser.request('POST', '/password-resets/accept', { token, password })).status, 200)
  assert.deepEqual((await signIn(browserOf(service), worker.email, password)).body, { secondFactor: true })
})

test('after five wrong codes, the password is required again', async () => {
  const worker = await memberOf(service, client.accountId, 'builder')
  const { uri } = await addFactor(worker)
  const { request } = await (async () => {
    const browser = browserOf(service)
    await signIn(browser, worker.email)
    return browser
  })()
  const used = codeOf(uri)
  const wrong = ['000000', '111111', '222222', '333333', '444444'].filter((code) => code !== used)
  for (const code of [...wrong, '555555', '666666'].slice(0, 5)) {
    assert.equal((await request('POST', '/sign-in/second-factor', { code })).status, 401)
  }
  const { status } = await request('POST', '/sign-in/second-factor', { code: codeOf(uri, 1) })
  assert.equal(status, 401)
})

test('a form on another site cannot reach the sign-in, whatever its content type', async () => {
  const { email } = await memberOf(service, client.accountId, 'viewer')
  const { request, cookies } = browserOf(service)
  const form = `email=${encodeURIComponent(email)}&password=${encodeURIComponent(PASSWORD)}`
  for (const type of ['application/x-www-form-urlencoded', 'text/plain', 'multipart/form-data; boundary=b']) {
    const { status } = await request('POST', '/sign-in', form, {
      'content-type': type,
      origin: 'https://evil.example',
      'x-parley-session': '',
    })
    assert.ok([403, 415].includes(status), `${type}: ${status}`)
  }
  assert.equal(cookies.size, 0)
})

test('requests cannot choose where the provider redirects after the sign-in', async () => {
  const { request } = browserOf(service)
  for (const more of [{ callbackURL: 'https://evil.example' }, { to: '//evil.example' }])
    assert.equal((await request('POST', '/sign-in/provider', more)).status, 400)
  const { status, body } = await request('POST', '/sign-in?callbackURL=https://evil.example', {
    email: 'x@example.com',
    password: PASSWORD,
  })
  assert.deepEqual([status, body.error.code], [400, 'VALIDATION_INVALID_BODY'])
})

test('rejected sign-ins of strangers are kept for 30 days, and only the newest of them', async () => {
  const { db } = service.ctx
  const strangers = db
    .selectFrom('audit_log')
    .where('account_id', 'is', null)
    .where('action', '=', 'session.refuse')
  await db.deleteFrom('audit_log').where('account_id', 'is', null).execute()
  const { email } = await memberOf(service, client.accountId, 'viewer')
  const refuse = async (name: string) => {
    const answer = await browserOf(service).request('POST', '/sign-in', {
      email: name,
      password: 'wrong one',
    })
    assert.equal(answer.status, 401)
  }
  for (let n = 0; n < 4; n++) await refuse(`stranger-${n}@example.com`)
  await refuse(email)
  const before = await strangers.selectAll().orderBy('created_at').orderBy('id').execute()
  assert.equal(before.length, 4)
  const monthAgo = new Date(Date.now() - 31 * 24 * 3_600_000)
  await db
    .updateTable('audit_log')
    .set({ created_at: monthAgo })
    .where('id', '=', before[3]?.id ?? '')
    .execute()
  const own = () =>
    db
      .selectFrom('audit_log')
      .select('id')
      .where('account_id', '=', client.accountId)
      .where('action', '=', 'session.refuse')
      .execute()
  const ofMembers = (await own()).length
  await dropStrangersEntries(db, 2)
  const kept = await strangers.select('id').orderBy('created_at').orderBy('id').execute()
  assert.deepEqual(
    kept.map(({ id }) => id),
    before.slice(1, 3).map(({ id }) => id),
  )
  assert.equal((await own()).length, ofMembers)
  assert.ok(ofMembers > 0)
})
