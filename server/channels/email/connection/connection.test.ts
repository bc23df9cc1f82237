import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type MailServer, startMailServer } from '../../../../test/fakes/mail-server.ts'
import { type Client, type Service, startService } from '../../../../test/start.ts'
import { recordSmtp } from './connection.ts'

let service: Service
let client: Client
let server: MailServer
let path: string

before(async () => {
  server = await startMailServer({ withTls: true })
  service = await startService({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1' })
  client = await service.account()
  const { body } = await client.request('POST', '/agents', { name: 'Agent' })
  path = `/agents/${body.id}/email/connection`
})
after(async () => {
  await service.close()
  await server.close()
})

const login = (more: Record<string, unknown> = {}) => ({
  host: '127.0.0.1',
  port: server.port,
  security: 'none',
  username: 'user',
  ...more,
})
const put = (smtp: Record<string, unknown>, more: Record<string, unknown> = {}) =>
  client.request('PUT', path, { address: 'Support@Shop.example', smtp, ...more })

test('a mailbox is connected, read without its passwords, and disconnected', async () => {
  assert.equal((await client.request('GET', path)).body.error.code, 'RESOURCE_NOT_FOUND')
  const channels = async () =>
    (await client.request('GET', path.replace('email/connection', 'channels'))).body
  assert.deepEqual(await channels(), { email: null, messaging: null })
  const imap = { ...login({ port: 143 }), password: 'imap password', mailbox: 'Shop' }
  const put1 = await put(login({ password: 'smtp password' }), {
    imap,
    inboundSecret: 'a secret of the webhook',
  })
  assert.deepEqual([put1.status, put1.body], [200, { success: true }])
  const untested = { address: 'support@shop.example', status: 'untested', problem: null }
  assert.deepEqual(await channels(), { email: untested, messaging: null })
  const { body } = await client.request('GET', path)
  const unchecked = { hasPassword: true, lastError: null, lastCheckedAt: null }
  assert.deepEqual(body, {
    address: 'support@shop.example',
    fromName: null,
    mode: 'agent',
    plusAddressing: false,
    smtp: { ...login(), ...unchecked },
    imap: { ...login({ port: 143 }), mailbox: 'Shop', ...unchecked },
    oauth: null,
    hasInboundSecret: true,
    authority: null,
    keepsSent: false,
    sentError: null,
    status: 'untested',
  })
  const row = await service.ctx.db.selectFrom('email_connections').selectAll().executeTakeFirstOrThrow()
  assert.doesNotMatch(JSON.stringify(row), /smtp password|imap password|secret of/)
  assert.equal((await client.request('DELETE', path)).status, 200)
  assert.equal((await client.request('GET', path)).status, 404)
})

test('a stored password is kept for the same login, and is never sent to another server', async () => {
  await put(login({ password: 'secret' }))
  await put(login(), { fromName: 'Shop' })
  assert.equal((await client.request('GET', path)).body.smtp.hasPassword, true)
  await put(login({ host: 'mx.evil.example' }))
  assert.equal((await client.request('GET', path)).body.smtp.hasPassword, false)
})

test('secrets of OAuth are kept for the same servers alone, which are given the tokens', async () => {
  const tokenUrl = 'https://provider.example/token'
  const secrets = { clientSecret: 'hidden', refreshToken: 'refresh' }
  const imap = login({ port: 993 })
  const kept = async (smtp: Record<string, unknown>, more: Record<string, unknown>) => {
    await put(login(), { imap, oauth: { tokenUrl, clientId: 'parley', ...secrets } })
    await put(smtp, { oauth: { tokenUrl, clientId: 'parley' }, ...more })
    const { hasClientSecret, hasRefreshToken } = (await client.request('GET', path)).body.oauth
    return [hasClientSecret, hasRefreshToken]
  }
  assert.deepEqual(await kept(login(), { imap }), [true, true])
  assert.deepEqual(await kept(login(), {}), [true, true])
  assert.deepEqual(await kept(login({ host: 'mx.evil.example' }), { imap }), [false, false])
  assert.deepEqual(await kept(login(), { imap: login({ port: 993, host: 'mx.evil.example' }) }), [
    false,
    false,
  ])
  assert.deepEqual(await kept(login(), { imap: login({ port: 994 }) }), [false, false])
})

test('the address of tokens is encrypted on the way, unless an operator allows its host', async () => {
  const put = (tokenUrl: string) =>
    client.request('PUT', path, {
      address: 'support@shop.example',
      smtp: login(),
      oauth: { tokenUrl, clientId: 'parley' },
    })
  for (const tokenUrl of ['http://provider.example/token', 'http://127.0.0.2/token', 'https://'])
    assert.match((await put(tokenUrl)).body.error.details['oauth.tokenUrl'] ?? '', /^Must b/, tokenUrl)
  assert.equal((await put('http://127.0.0.1:9/token')).status, 200)
})

test('only a key that may change the agent can connect and disconnect a mailbox', async () => {
  const body = { address: 'support@shop.example', smtp: login() }
  const writer = await service.account({ scopes: ['messaging:read', 'messaging:write'] })
  for (const [method, sent] of [
    ['PUT', body],
    ['DELETE', undefined],
  ] as const) {
    const answer = await writer.request(method, path, sent)
    assert.deepEqual([answer.status, answer.body.error.code], [403, 'AUTH_INSUFFICIENT_PERMISSIONS'])
  }
  // The other account may do this, but the agent does not exist for it.
  const owner = await service.account({ scopes: ['agents:write'] })
  assert.equal((await owner.request('PUT', path, body)).body.error.code, 'AGENT_NOT_FOUND')
})

test('all errors are reported', async () => {
  const answer = await client.request('PUT', path, {
    address: 'a@b, c@d',
    fromName: 'Shop\r\nBcc: x',
    smtp: { host: 'a b', port: 0, security: 'ssl' },
    inboundSecret: 'short',
  })
  assert.deepEqual(Object.keys(answer.body.error.details).sort(), [
    'address',
    'fromName',
    'inboundSecret',
    'smtp.host',
    'smtp.port',
    'smtp.security',
  ])
})

const TRIES: [string, Record<string, unknown>, string | RegExp | null][] = [
  ['the right login', { password: 'secret' }, null],
  ['a wrong password', { password: 'wrong' }, /^127\.0\.0\.1 refused the user name or the password/],
  ['nobody listening', { port: 1 }, '127.0.0.1 refused the connection.'],
  [
    'no valid certificate',
    { security: 'starttls' },
    /^127\.0\.0\.1 has a certificate that (?:has expired|it has signed itself)\./,
  ],
  [
    'a private address',
    { host: '10.0.0.1' },
    '10.0.0.1 is not on the public internet. An operator can allow it by listing it in ALLOWED_PRIVATE_HOSTS.',
  ],
  [
    'a private address in disguise',
    { host: '0xa.1', port: 25 },
    '0xa.1 is not on the public internet. An operator can allow it by listing it in ALLOWED_PRIVATE_HOSTS.',
  ],
  [
    'no such host',
    { host: 'nowhere.invalid' },
    'The host name nowhere.invalid could not be found. Check the spelling.',
  ],
]
for (const [what, more, wanted] of TRIES) {
  test(`testing a connection: ${what}`, async () => {
    await put(login(more))
    const { status, body } = await client.request('POST', `${path}/test`)
    assert.equal(status, 200)
    assert.equal(body.imap, null)
    if (wanted instanceof RegExp) assert.match(body.smtp.error, wanted)
    else assert.deepEqual(body.smtp, { ok: wanted === null, error: wanted })
    const { lastError, lastCheckedAt } = (await client.request('GET', path)).body.smtp
    assert.deepEqual([lastError, typeof lastCheckedAt], [body.smtp.error, 'string'])
  })
}

test('a mailbox is connected once its servers have worked, and no longer when one fails or is changed', async () => {
  const state = async () => {
    const { email } = (await client.request('GET', path.replace('email/connection', 'channels'))).body
    assert.equal((await client.request('GET', path)).body.status, email.status)
    return [email.status, email.problem]
  }
  const check = () => client.request('POST', `${path}/test`)
  await put(login({ password: 'secret' }))
  assert.deepEqual(await state(), ['untested', null])
  await check()
  assert.deepEqual(await state(), ['connected', null])
  const imap = { host: '127.0.0.1', port: 1, security: 'none', username: 'user', password: 'secret' }
  await put(login(), { imap })
  assert.deepEqual(await state(), ['untested', null])
  await check()
  assert.deepEqual(await state(), ['failing', 'Receiving: 127.0.0.1 refused the connection.'])
  // The servers of a former connection say nothing about this one.
  const former = await service.ctx.db.selectFrom('email_connections').selectAll().executeTakeFirstOrThrow()
  await put(login())
  await recordSmtp(service.ctx.db, former, 'It was slow.')
  await check()
  assert.deepEqual(await state(), ['connected', null])
})

test('a second agent cannot read the same mailbox, and is told which one does', async () => {
  const imap = { ...login({ port: 143 }), password: 'secret', mailbox: 'Shop' }
  await put(login(), { imap })
  const { body } = await client.request('POST', '/agents', { name: 'Other' })
  const other = (more: Record<string, unknown>) =>
    client.request('PUT', `/agents/${body.id}/email/connection`, {
      address: 'info@shop.example',
      smtp: login(),
      imap: { ...imap, ...more },
    })
  const refused = await other({})
  assert.deepEqual(
    [refused.status, refused.body.error.code, refused.body.error.message],
    [
      409,
      'RESOURCE_DUPLICATE',
      'The agent “Agent” already reads this mailbox, and both would answer each mail. Disconnect it there first, or choose another folder.',
    ],
  )
  assert.equal((await other({ mailbox: 'Other' })).status, 200)
  assert.equal((await other({ username: 'somebody' })).status, 200)
  // The agent itself may be connected again.
  assert.equal((await put(login(), { imap })).status, 200)
})

test('an authority that is no certificate is refused', async () => {
  for (const authority of ['x', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----']) {
    const answer = await put(login(), { authority })
    assert.deepEqual(
      [answer.status, answer.body.error.details],
      [400, { authority: 'Must be certificates in PEM, each from BEGIN CERTIFICATE to END CERTIFICATE.' }],
    )
  }
})
