import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type MailServer, startMailServer } from '../../../../test/fakes/mail-server.ts'
import { type OidcProvider, startOidcProvider } from '../../../../test/fakes/oidc-provider.ts'
import { type Client, type Service, startService } from '../../../../test/start.ts'
import { until } from '../../../../test/until.ts'
import { browserOf, memberOf, PASSWORD, signIn } from '../../../../test/workspace.ts'
import { removeIdentity } from '../passwords/logins.ts'

/** Starts a service with a public address, mail and a provider. */
const PUBLIC = 'https://parley.example'

let service: Service
let client: Client
let provider: OidcProvider
let mail: MailServer

before(async () => {
  provider = await startOidcProvider('parley')
  mail = await startMailServer()
  service = await startService({
    TRUSTED_PROXIES: '127.0.0.1',
    PUBLIC_URL: PUBLIC,
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: 'parley',
    OIDC_CLIENT_SECRET: 'secret of parley',
    OIDC_NAME: 'Example ID',
    SMTP_URL: `smtp://127.0.0.1:${mail.port}?security=none`,
    MAIL_FROM: 'parley@parley.example',
  })
  client = await service.account()
})
after(async () => {
  await service.close()
  await provider.close()
  await mail.close()
})

const SESSION = '__Secure-parley.session_token'

/** Visits the provider and returns, as a browser does. */
async function throughProvider(browser = browserOf(service)) {
  const begun = await browser.request('POST', '/sign-in/provider', {})
  assert.equal(begun.status, 200, JSON.stringify(begun.body))
  const away = await fetch(begun.body.url, { redirect: 'manual' })
  const back = new URL(away.headers.get('location') ?? '')
  assert.equal(back.origin + back.pathname, `${PUBLIC}/api/auth/callback/oidc`)
  const returned = await fetch(`${service.url}${back.pathname}${back.search}`, {
    redirect: 'manual',
    headers: { cookie: [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
  })
  for (const line of returned.headers.getSetCookie()) {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
    if (value === '' || /max-age=0/i.test(line)) browser.cookies.delete(name)
    else browser.cookies.set(name, value)
  }
  return { browser, back, location: returned.headers.get('location') }
}

test('a member signs in with the provider, and nobody else gets a login', async () => {
  const seen = await browserOf(service).request('GET', '/sign-in')
  assert.deepEqual([seen.body.provider, seen.body.mailsResets], [{ name: 'Example ID' }, true])
  const worker = await memberOf(service, client.accountId, 'builder', { email: 'pat@example.com' })

  provider.person.email = 'stranger@example.com'
  const stranger = await throughProvider()
  assert.equal(stranger.browser.cookies.has(SESSION), false)
  assert.match(stranger.location ?? '', /\/sign-in\?error=/)

  provider.person = { ...provider.person, sub: 'person-2', email: worker.email, email_verified: false }
  const unverified = await throughProvider()
  assert.equal(unverified.browser.cookies.has(SESSION), false)

  provider.person.email_verified = true
  provider.forged = { aud: 'somebody else' }
  assert.equal((await throughProvider()).browser.cookies.has(SESSION), false)
  provider.forged = { nonce: 'of another sign-in' }
  assert.equal((await throughProvider()).browser.cookies.has(SESSION), false)
  provider.forged = {}

  const { browser, back, location } = await throughProvider()
  assert.equal(new URL(location ?? '', PUBLIC).href, `${PUBLIC}/`)
  assert.equal((await browser.request('GET', '/me')).body.member.id, worker.memberId)
  const logins = await service.ctx.db.selectFrom('logins').select('email').execute()
  assert.deepEqual(logins, [{ email: 'pat@example.com' }])
  // The callback cannot be used by anybody else, nor a second time.
  const again = await fetch(`${service.url}${back.pathname}${back.search}`, { redirect: 'manual' })
  assert.equal(
    again.headers.getSetCookie().some((line) => line.startsWith(`${SESSION}=`) && !/max-age=0/i.test(line)),
    false,
  )
})

test('a login belongs to the first person of the provider who signs in to it', async () => {
  const worker = await memberOf(service, client.accountId, 'builder', { email: 'ann@example.com' })
  provider.person = { ...provider.person, sub: 'ann-1', email: worker.email, email_verified: true }
  assert.equal((await throughProvider()).browser.cookies.has(SESSION), true)
  const login = service.ctx.db.selectFrom('logins').where('member_id', '=', worker.memberId)
  assert.deepEqual(await login.select(['issuer', 'subject']).executeTakeFirst(), {
    issuer: provider.issuer,
    subject: 'ann-1',
  })
  // The provider has given the address to somebody else.
  provider.person.sub = 'ann-2'
  const other = await throughProvider()
  assert.equal(other.browser.cookies.has(SESSION), false)
  assert.equal(new URL(other.location ?? '', PUBLIC).searchParams.get('error'), 'identity_taken')
  provider.person = { ...provider.person, sub: 'ann-1', email: 'ann.new@example.com' }
  assert.equal((await throughProvider()).browser.cookies.has(SESSION), true)
  const forgotten = service.ctx.db.transaction()
  assert.equal(await forgotten.execute((trx) => removeIdentity(trx, worker.memberId)), true)
  provider.person = { ...provider.person, sub: 'ann-2', email: worker.email }
  assert.equal((await throughProvider()).browser.cookies.has(SESSION), true)
})

test('a login that was used before identities were recorded belongs to a person who was seen then', async () => {
  const { db } = service.ctx
  const worker = await memberOf(service, client.accountId, 'builder', { email: 'old@example.com' })
  provider.person = { ...provider.person, sub: 'old-1', email: worker.email, email_verified: true }
  assert.equal((await throughProvider()).browser.cookies.has(SESSION), true)
  await db
    .updateTable('logins')
    .set({ issuer: null, subject: null })
    .where('member_id', '=', worker.memberId)
    .execute()
  provider.person.sub = 'old-2'
  assert.equal((await throughProvider()).browser.cookies.has(SESSION), false)
  provider.person.sub = 'old-1'
  assert.equal((await throughProvider()).browser.cookies.has(SESSION), true)
  const login = db.selectFrom('logins').select('subject').where('member_id', '=', worker.memberId)
  assert.deepEqual(await login.executeTakeFirst(), { subject: 'old-1' })
})

test('a person without an id token is refused', async () => {
  const worker = await memberOf(service, client.accountId, 'builder', { email: 'bare@example.com' })
  provider.person = { ...provider.person, sub: 'bare-1', email: worker.email, email_verified: true }
  provider.withoutIdToken = true
  const { browser, location } = await throughProvider()
  provider.withoutIdToken = false
  assert.equal(browser.cookies.has(SESSION), false)
  assert.match(location ?? '', /^\/sign-in\?error=/)
})

test('a callback that is loaded again, or too late, leads to the sign-in page', async () => {
  const worker = await memberOf(service, client.accountId, 'builder', { email: 'late@example.com' })
  provider.person = { ...provider.person, sub: 'late-1', email: worker.email, email_verified: true }
  const { browser, back } = await throughProvider()
  assert.equal(browser.cookies.has(SESSION), true)
  for (const query of [back.search, '?code=code-1', '?code=code-1&state=unknown', '?state=a&state=b', '']) {
    const again = await fetch(`${service.url}${back.pathname}${query}`, {
      redirect: 'manual',
      headers: { cookie: [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
    })
    assert.equal(again.status, 302, query)
    const to = new URL(again.headers.get('location') ?? '', PUBLIC)
    assert.deepEqual([to.origin, to.pathname], [PUBLIC, '/sign-in'], query)
    assert.ok(to.searchParams.get('error'), query)
  }
})

test('a forgotten password is reset by a mailed link, which leads to the public address', async () => {
  const worker = await memberOf(service, client.accountId, 'viewer')
  const { request } = browserOf(service)
  const asked = { 'x-forwarded-host': 'evil.example' }
  for (const email of ['nobody@example.com', worker.email.toUpperCase()])
    assert.equal((await request('POST', '/password-resets', { email }, asked)).status, 202)
  const text = await until('the mail', async () => mail.mails.at(-1)?.raw ?? null)
  assert.equal(mail.mails.length, 1)
  const link = /https:\/\/parley\.example\/reset#([\w-]{43})/.exec(text.replaceAll('=\r\n', ''))
  assert.ok(link, text)
  const password = 'a password from the mail'
  assert.equal((await request('POST', '/password-resets/accept', { token: link[1], password })).status, 200)
  assert.equal((await signIn(browserOf(service), worker.email)).status, 401)
  assert.equal((await signIn(browserOf(service), worker.email, password)).status, 200)
})

test('an invitation is mailed', async () => {
  const owner = await memberOf(service, client.accountId, 'owner')
  const before = mail.mails.length
  const wanted = { email: 'new@example.com', role: 'viewer' }
  const { body } = await owner.request('POST', '/invitations', wanted)
  assert.equal(body.mailed, true)
  await until('the mail', async () => (mail.mails.length > before ? true : null))
  const text = mail.mails.at(-1)?.raw.replaceAll('=\r\n', '') ?? ''
  assert.ok(text.includes(body.link), text)
  assert.ok(body.link.startsWith(`${PUBLIC}/invite#`) && PASSWORD)
})
