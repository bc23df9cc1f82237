import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { SMTPServer } from 'smtp-server'
import { connectTestMailbox, mail } from '../../../../test/mailbox.ts'
import { type Client, type Service, startService } from '../../../../test/start.ts'
import { until } from '../../../../test/until.ts'
import { accessTokenOf } from './access-token.ts'
import { rowOf } from './connection.ts'

/** A provider that gives a new token each time, as long as the permission holds, and a mail server that takes it. */
const asked: URLSearchParams[] = []
let isPermitted = true
let accepted = ''
const provider = createServer(async (request, response) => {
  let body = ''
  for await (const piece of request) body += piece
  asked.push(new URLSearchParams(body))
  accepted = `token-${asked.length}`
  const said = isPermitted
    ? { access_token: accepted, expires_in: 3600, refresh_token: `refresh-${asked.length}` }
    : { error: 'invalid_grant', error_description: 'Token has been revoked.' }
  response
    .writeHead(isPermitted ? 200 : 400, { 'content-type': 'application/json' })
    .end(JSON.stringify(said))
})
const received: string[] = []
const smtp = new SMTPServer({
  authMethods: ['XOAUTH2'],
  allowInsecureAuth: true,
  disabledCommands: ['STARTTLS'],
  disableReverseLookup: true,
  closeTimeout: 100,
  onAuth({ method, username, accessToken }, _session, done) {
    if (method === 'XOAUTH2' && username === 'support@shop.example' && accessToken === accepted)
      done(null, { user: username })
    else done(null, { data: { status: '401', schemes: 'bearer' } })
  },
  onData(stream, session, done) {
    stream.resume()
    stream.on('end', () => {
      received.push(...session.envelope.rcptTo.map(({ address }) => address))
      done()
    })
  },
})

let service: Service
let client: Client
before(async () => {
  provider.listen(0, '127.0.0.1')
  await once(provider, 'listening')
  await new Promise<void>((resolve) => smtp.listen(0, '127.0.0.1', resolve))
  service = await startService({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1' })
  client = await service.account()
})
after(async () => {
  await service.close()
  provider.close()
  await new Promise<void>((resolve) => smtp.close(resolve))
})

async function connected(more: object = {}) {
  const tokenUrl = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/token`
  const { port } = smtp.server.address() as AddressInfo
  const oauth = { tokenUrl, clientId: 'parley', clientSecret: 'hidden', refreshToken: 'refresh-0' }
  const server = { host: '127.0.0.1', port, security: 'none', username: 'support@shop.example' }
  const box = await connectTestMailbox(service, client, { smtpPort: port, smtp: server, oauth, ...more })
  const path = `/agents/${box.agentId}/email/connection`
  const row = await rowOf(service.ctx.db, { accountId: client.accountId, agentId: box.agentId })
  assert.ok(row)
  return { box, path, tokenUrl, row }
}

test('a mailbox signs in with tokens, which are renewed and never shown', async () => {
  const { box, path, tokenUrl } = await connected()
  assert.deepEqual((await client.request('POST', `${path}/test`)).body.smtp, { ok: true, error: null })
  assert.deepEqual(Object.fromEntries(asked[0] ?? []), {
    grant_type: 'refresh_token',
    client_id: 'parley',
    client_secret: 'hidden',
    refresh_token: 'refresh-0',
  })

  await box.receive(mail('Do you ship?'))
  await until('the answer', async () => (await box.deliveries()).length === 1)
  await box.send()
  assert.deepEqual([received, asked.length], [['ann@example.com'], 1])

  const expire = () =>
    service.ctx.db
      .updateTable('email_connections')
      .set({ oauth_expires_at: new Date() })
      .where('agent_id', '=', box.agentId)
      .execute()
  await expire()
  assert.equal((await client.request('POST', `${path}/test`)).body.smtp.ok, true)
  // The provider has replaced the refresh token.
  assert.equal(asked[1]?.get('refresh_token'), 'refresh-1')

  const shown = await client.request('GET', path)
  assert.deepEqual(shown.body.oauth, {
    tokenUrl,
    clientId: 'parley',
    scope: null,
    authorizationUrl: null,
    isOperators: false,
    hasClientSecret: true,
    hasRefreshToken: true,
  })
  assert.doesNotMatch(JSON.stringify(shown.body), /hidden|refresh-|token-/)

  isPermitted = false
  await expire()
  const { error } = (await client.request('POST', `${path}/test`)).body.smtp
  assert.match(error, /invalid_grant: Token has been revoked\..*Connect the mailbox with the provider again/)
})

test('two connections at once renew a token once, also with what was read before', async () => {
  isPermitted = true
  const { path, row } = await connected()
  asked.length = 0
  const tokens = await Promise.all(Array.from({ length: 4 }, () => accessTokenOf(service.ctx, row)))
  assert.deepEqual([new Set(tokens).size, asked.length], [1, 1])
  // The provider takes each refresh token once, and this row still has the one before.
  assert.equal(await accessTokenOf(service.ctx, row), tokens[0])
  assert.equal((await client.request('POST', `${path}/test`)).body.smtp.ok, true)
  assert.equal(asked.length, 1)
})

test('a token that the server refuses before its end is renewed, or the sentence says to connect again', async () => {
  isPermitted = true
  const { path } = await connected()
  const tried = async () => (await client.request('POST', `${path}/test`)).body.smtp
  assert.equal((await tried()).ok, true)
  accepted = 'none so far'
  assert.match((await tried()).error, /refused the token of the provider, which was renewed/)
  assert.deepEqual(await tried(), { ok: true, error: null })
  accepted = 'none so far'
  isPermitted = false
  assert.match((await tried()).error, /has been revoked\..*Connect the mailbox with the provider again/)
  const { status, smtp: sending } = (await client.request('GET', path)).body
  assert.equal(status, 'failing')
  assert.match(sending.lastError, /Connect the mailbox with the provider again/)
})

test('a refused token is an error of both servers, and the next try asks again', async () => {
  isPermitted = false
  const { path } = await connected({ imap: { host: '127.0.0.1', port: 9, security: 'none' } })
  asked.length = 0
  const { status, body } = await client.request('POST', `${path}/test`)
  assert.equal(status, 200, JSON.stringify(body))
  assert.match(body.smtp.error, /invalid_grant/)
  assert.match(body.imap.error, /invalid_grant/)
  assert.equal(asked.length, 2)
})
