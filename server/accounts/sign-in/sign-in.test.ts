import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { codeOf } from '../../../test/authenticator.ts'
import { type Client, type Service, startService } from '../../../test/start.ts'
import { browserOf, memberOf, PASSWORD, signIn } from '../../../test/workspace.ts'
import { createLink } from '../links/links.ts'
import { openLoginSecret } from './passwords/login-secret.ts'

let service: Service
let client: Client

before(async () => {
  service = await startService({ TRUSTED_PROXIES: '127.0.0.1' })
  client = await service.account()
})
after(() => service.close())

const SESSION = 'parley.session_token'

/** Returns the account's entries in the audit log, newest last. */
const logged = async (accountId: string | null) =>
  (
    await service.ctx.db
      .selectFrom('audit_log')
      .select(['action', 'actor', 'target'])
      .where('account_id', accountId === null ? 'is' : '=', accountId as never)
      .orderBy('created_at')
      .orderBy('id')
      .execute()
  ).map(({ action }) => action)

test('a set-up link creates the first owner, once', async () => {
  const { db } = service.ctx
  const { accountId } = await service.account()
  const { token } = await createLink(db, { accountId, kind: 'set-up', createdBy: 'operator' })
  const browser = browserOf(service)
  const wanted = { token, name: 'Olga', email: 'Olga@Example.com', password: PASSWORD, accountName: 'Shop' }
  for (const other of [`${token}x`, token.slice(1), 'x']) {
    const { status } = await browser.request('POST', '/set-up', { ...wanted, token: other })
    assert.equal(status, 404)
  }
  assert.equal((await browser.request('POST', '/set-up', { ...wanted, role: 'viewer' })).status, 400)
  const both = await Promise.all([1, 2].map(() => browser.request('POST', '/set-up', wanted)))
  assert.deepEqual(both.map(({ status }) => status).sort(), [201, 404])
  assert.equal((await browser.request('GET', '/sign-in')).body.needsSetUp, false)
  const entered = await signIn(browser, 'olga@example.com')
  assert.deepEqual([entered.status, entered.body], [200, { secondFactor: false }])
  const me = await browser.request('GET', '/me')
  assert.equal(me.body.key, null)
  assert.deepEqual(
    [me.body.account.name, me.body.member.role, me.body.member.agentIds],
    ['Shop', 'owner', null],
  )
  assert.deepEqual(await logged(accountId), ['account.set-up', 'session.create'])
})

test('a cookie is limited to the service, and changes with every sign-in', async () => {
  const { email } = await memberOf(service, client.accountId, 'viewer')
  const browser = browserOf(service)
  // Session fixation: a session that the attacker knows must not become the victim's.
  browser.cookies.set(SESSION, 'known.to%3Dthe%20attacker')
  const first = await signIn(browser, email)
  const [cookie = ''] = first.headers.getSetCookie()
  for (const part of [/; HttpOnly/i, /; SameSite=Lax/i, /; Path=\//i]) assert.match(cookie, part)
  assert.doesNotMatch(cookie, /; Secure/i)
  const one = browser.cookies.get(SESSION)
  await signIn(browser, email)
  const two = browser.cookies.get(SESSION)
  assert.ok(one && two && one !== two && !one.startsWith('known'))
  const secure = await browserOf(service).request(
    'POST',
    '/sign-in',
    { email, password: PASSWORD },
    { 'x-forwarded-proto': 'https', origin: service.url.replace('http:', 'https:') },
  )
  assert.match(secure.headers.getSetCookie()[0] ?? '', /^__Secure-parley\.session_token=.*; Secure/)
  const forged = browserOf(service)
  forged.cookies.set(SESSION, `${one.split('.')[0]}.${'A'.repeat(43)}%3D`)
  const { status, body } = await forged.request('GET', '/me')
  assert.deepEqual([status, body.error.code], [401, 'AUTH_SESSION_ENDED'])
})

test('an unknown address and a wrong password get the same response', async () => {
  const { accountId } = await service.account()
  const { email } = await memberOf(service, accountId, 'owner')
  const { request } = browserOf(service)
  const answers = []
  for (const name of [email, 'nobody@example.com'])
    answers.push(await request('POST', '/sign-in', { email: name, password: 'wrong password' }))
  const [known, unknown] = answers
  assert.deepEqual([known?.status, known?.body.error.code], [401, 'AUTH_SIGN_IN_FAILED'])
  assert.deepEqual([unknown?.status, unknown?.body], [known?.status, known?.body])
  const names = (headers = new Headers()) => [...headers.keys()].filter((name) => name !== 'x-request-id')
  assert.deepEqual(names(unknown?.headers), names(known?.headers))
  assert.deepEqual((await logged(accountId)).at(-1), 'session.refuse')
  assert.deepEqual((await logged(null)).at(-1), 'session.refuse')
  for (const name of [email, 'nobody@example.com']) {
    const asked = await request('POST', '/password-resets', { email: name })
    assert.deepEqual([asked.status, asked.body], [202, { success: true }])
  }
})

test('a password of a megabyte is rejected before it is hashed', async () => {
  const { email, request } = await memberOf(service, client.accountId, 'viewer')
  const password = 'x'.repeat(1_000_000)
  for (const [method, path, body] of [
    ['POST', '/sign-in', { email, password }],
    ['POST', '/set-up', { token: 'x', name: 'x', email, password }],
    ['POST', '/password-resets/accept', { token: 'x', password }],
    ['PUT', '/password', { currentPassword: PASSWORD, newPassword: password }],
  ] as const) {
    const { status, body: answer } = await request(method, path, body)
    assert.deepEqual([status, answer.error.code], [413, 'VALIDATION_BODY_TOO_LARGE'], path)
  }
  const { status } = await request('POST', '/sign-in', { email, password: 'x'.repeat(129) })
  assert.equal(status, 400)
})

test('a form on another site cannot sign anybody in', async () => {
  const { email } = await memberOf(service, client.accountId, 'viewer')
  const { request } = browserOf(service)
  const forged: Record<string, string>[] = [{ origin: 'https://evil.example' }, { 'x-parley-session': '' }]
  for (const headers of forged) {
    const { status, body } = await request('POST', '/sign-in', { email, password: PASSWORD }, headers)
    assert.deepEqual([status, body.error.code], [403, 'AUTH_CROSS_SITE_REQUEST'])
  }
})

test('entries are limited by address', async () => {
  const { request } = browserOf(service)
  const token = { token: 'x'.repeat(43) }
  for (let n = 0; n < 60; n++)
    assert.equal((await request('POST', '/invitations/look', token)).status, 404, String(n))
  assert.equal((await request('POST', '/invitations/look', token)).status, 429)
  const { status } = await request('POST', '/sign-in', { email: 'somebody@example.com', password: 'wrong' })
  assert.equal(status, 429)
})

test('sessions are listed, and a stolen one can be ended by its owner', async () => {
  const worker = await memberOf(service, client.accountId, 'support')
  const thief = browserOf(service)
  thief.cookies.set(SESSION, worker.cookies.get(SESSION) ?? '')
  await signIn(worker, worker.email)
  assert.equal((await thief.request('GET', '/me')).body.member.id, worker.memberId)
  const { body: sessions } = await worker.request('GET', '/sessions')
  assert.equal(sessions.length, 2)
  const stolen = sessions.find(({ isCurrent }: { isCurrent: boolean }) => !isCurrent)
  const other = await memberOf(service, client.accountId, 'owner')
  assert.equal((await other.request('DELETE', `/sessions/${stolen.id}`)).status, 404)
  assert.equal((await worker.request('DELETE', `/sessions/${stolen.id}`)).status, 200)
  assert.equal((await thief.request('GET', '/me')).status, 401)
  assert.equal((await worker.request('GET', '/sessions')).body.length, 1)
  const key = await client.request('GET', '/sessions')
  assert.deepEqual([key.status, key.body.error.code], [403, 'AUTH_INSUFFICIENT_PERMISSIONS'])
})

test('changing the password ends the other sessions and needs the old password', async () => {
  const worker = await memberOf(service, client.accountId, 'builder')
  const elsewhere = browserOf(service)
  await signIn(elsewhere, worker.email)
  const newPassword = 'another long password'
  const wrong = await worker.request('PUT', '/password', { currentPassword: 'not it', newPassword })
  assert.deepEqual([wrong.status, wrong.body.error.code], [401, 'AUTH_SIGN_IN_FAILED'])
  const right = await worker.request('PUT', '/password', { currentPassword: PASSWORD, newPassword })
  assert.equal(right.status, 200, JSON.stringify(right.body))
  assert.equal((await worker.request('GET', '/me')).status, 200)
  assert.equal((await elsewhere.request('GET', '/me')).status, 401)
  assert.equal((await signIn(elsewhere, worker.email)).status, 401)
  assert.equal((await signIn(elsewhere, worker.email, newPassword)).status, 200)
})

test('a reset link works for one member, once, and keeps the second factor', async () => {
  const worker = await memberOf(service, client.accountId, 'builder')
  const other = await memberOf(service, client.accountId, 'builder')
  const { token } = await createLink(service.ctx.db, {
    accountId: client.accountId,
    kind: 'reset',
    createdBy: 'operator',
    memberId: worker.memberId,
  })
  const { request } = browserOf(service)
  const password = 'a password after the reset'
  const forOther = { token, password, memberId: other.memberId, email: other.email }
  assert.equal((await request('POST', '/password-resets/accept', forOther)).status, 400)
  // A token of one kind is not accepted as another.
  const asInvitation = { token, name: 'x', password }
  assert.equal((await request('POST', '/invitations/accept', asInvitation)).status, 404)
  assert.equal((await request('POST', '/password-resets/accept', { token, password })).status, 200)
  assert.equal((await request('POST', '/password-resets/accept', { token, password })).status, 404)
  assert.equal((await worker.request('GET', '/me')).status, 401)
  assert.equal((await signIn(browserOf(service), worker.email, password)).status, 200)
  assert.equal((await signIn(browserOf(service), other.email)).status, 200)
})

test('a second factor is required after the password, and not before it is confirmed', async () => {
  const worker = await memberOf(service, client.accountId, 'admin')
  const refused = await worker.request('POST', '/second-factor', { password: 'not it' })
  assert.equal(refused.status, 401)
  const headers = { 'idempotency-key': 'factor-1' }
  const { status, body } = await worker.request('POST', '/second-factor', { password: PASSWORD }, headers)
  assert.equal(status, 200, JSON.stringify(body))
  const again = await worker.request('POST', '/second-factor', { password: PASSWORD }, headers)
  assert.deepEqual(again.body, { uri: null, backupCodes: null })
  // Codes are not required before the second factor is confirmed.
  assert.deepEqual((await signIn(browserOf(service), worker.email)).body, { secondFactor: false })
  assert.equal((await worker.request('POST', '/second-factor/confirm', { code: '000000' })).status, 401)
  const confirmed = await worker.request('POST', '/second-factor/confirm', { code: codeOf(body.uri) })
  assert.equal(confirmed.status, 200, JSON.stringify(confirmed.body))
  assert.equal((await worker.request('GET', '/me')).body.member.hasSecondFactor, true)

  const browser = browserOf(service)
  assert.deepEqual((await signIn(browser, worker.email)).body, { secondFactor: true })
  assert.equal(browser.cookies.has(SESSION), false)
  assert.equal((await browser.request('GET', '/me')).status, 401)
  const wrong = await browser.request('POST', '/sign-in/second-factor', { code: '000000' })
  assert.deepEqual([wrong.status, wrong.body.error.code], [401, 'AUTH_SIGN_IN_FAILED'])
  const right = await browser.request('POST', '/sign-in/second-factor', {
    code: codeOf(body.uri, 1),
  })
  assert.equal(right.status, 200, JSON.stringify(right.body))
  assert.equal((await browser.request('GET', '/me')).body.member.id, worker.memberId)

  const [backup] = body.backupCodes
  for (const expected of [200, 401]) {
    const lost = browserOf(service)
    await signIn(lost, worker.email)
    const { status } = await lost.request('POST', '/sign-in/second-factor', { code: backup })
    assert.equal(status, expected)
  }
  assert.equal((await worker.request('DELETE', '/second-factor', { password: PASSWORD })).status, 200)
  assert.deepEqual((await signIn(browserOf(service), worker.email)).body, { secondFactor: false })
})

test('when a restore has left the key out, second factors that cannot be verified are removed', async () => {
  const { db, secrets } = service.ctx
  const secret = await openLoginSecret(db, secrets)
  assert.equal(await openLoginSecret(db, secrets), secret)
  await db.updateTable('logins').set({ two_factor_enabled: true }).execute()
  assert.equal(await openLoginSecret(db, secrets), secret)
  const enabled = () => db.selectFrom('logins').select('id').where('two_factor_enabled', '=', true).execute()
  assert.ok((await enabled()).length > 0)
  await db.deleteFrom('login_secrets').execute()
  const both = await Promise.all([openLoginSecret(db, secrets), openLoginSecret(db, secrets)])
  assert.ok(both[0] === both[1] && both[0] !== secret)
  assert.deepEqual(await enabled(), [])
})
