import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { SMTPServer } from 'smtp-server'
import { type OauthProvider, startOauthProvider } from '../../../../test/oauth-provider.ts'
import { type Client, type Service, startService } from '../../../../test/start.ts'
import { until } from '../../../../test/until.ts'
import { memberOf, type Worker } from '../../../../test/workspace.ts'

const ADDRESS = 'support@shop.example'
let provider: OauthProvider
let service: Service
let client: Client
let owner: Worker
const smtp = new SMTPServer({
  authMethods: ['XOAUTH2'],
  allowInsecureAuth: true,
  disabledCommands: ['STARTTLS'],
  disableReverseLookup: true,
  closeTimeout: 100,
  onAuth({ username = '', accessToken = '' }, _session, done) {
    if (provider.accepts(accessToken, username)) done(null, { user: username })
    else done(null, { data: { status: '401', schemes: 'bearer' } })
  },
})

before(async () => {
  provider = await startOauthProvider()
  await new Promise<void>((resolve) => smtp.listen(0, '127.0.0.1', resolve))
  service = await startService({
    ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
    PUBLIC_URL: 'https://parley.example/desk',
    MAIL_MICROSOFT_CLIENT_ID: 'operators-client',
    MAIL_MICROSOFT_CLIENT_SECRET: 'operators-secret',
  })
  client = await service.account()
  owner = await memberOf(service, client.accountId, 'owner', { email: 'owner@shop.example' })
})
after(async () => {
  await service.close()
  provider.close()
  await new Promise<void>((resolve) => smtp.close(resolve))
})

const newAgent = async (): Promise<string> =>
  (await client.request('POST', '/agents', { name: 'Shop' })).body.id

const oauth = () => ({
  authorizationUrl: `${provider.url}/authorize`,
  tokenUrl: `${provider.url}/token`,
  revocationUrl: `${provider.url}/revoke`,
  clientId: provider.clientId,
  clientSecret: provider.clientSecret,
})

async function begin(path: string, who: Pick<Worker, 'request'> = owner, more: object = {}) {
  const { port } = smtp.server.address() as AddressInfo
  const server = { host: '127.0.0.1', port, security: 'none', username: ADDRESS }
  const connection = {
    address: ADDRESS,
    mode: 'agent',
    plusAddressing: false,
    keepsSent: false,
    smtp: server,
    ...more,
  }
  const body = { provider: 'other', connection: { ...connection, oauth: oauth() } }
  const begun = await who.request('POST', path, body)
  assert.equal(begun.status, 200, JSON.stringify(begun.body))
  return begun.body as { url: string; attempt: string }
}

/** What the page of the workspace does when the browser is back. */
const backFrom = (address: string, attempt: string) => {
  const { searchParams, origin, pathname } = new URL(address)
  assert.equal(origin + pathname, 'https://parley.example/desk/mailbox-sign-in')
  return { attempt, state: searchParams.get('state'), code: searchParams.get('code') }
}

test('a mailbox is connected with the permission of a provider, and disconnecting withdraws it', async () => {
  const agent = `/agents/${await newAgent()}/email`
  const { url, attempt } = await begin(`${agent}/oauth`)
  assert.equal(new URL(url).searchParams.get('code_challenge_method'), 'S256')
  assert.doesNotMatch(`${url}${attempt}`, /hidden/)
  const body = backFrom(await provider.permit(url, ADDRESS), attempt)
  assert.deepEqual((await owner.request('PUT', `${agent}/oauth/permission`, body)).body, {
    ok: true,
    error: null,
  })
  const read = async () => (await client.request('GET', `${agent}/connection`)).body
  const tried = async () => (await client.request('POST', `${agent}/connection/test`)).body.smtp
  assert.deepEqual(await tried(), { ok: true, error: null })
  const { hasRefreshToken, isOperators, authorizationUrl } = (await read()).oauth
  assert.deepEqual([hasRefreshToken, isOperators, authorizationUrl], [true, false, oauth().authorizationUrl])
  assert.doesNotMatch(JSON.stringify(await read()), /hidden/)

  // A code and an attempt are of no use a second time.
  const again = await owner.request('PUT', `${agent}/oauth/permission`, body)
  assert.match(again.body.error, /invalid_grant: The code does not fit/)

  // Saving the settings keeps the permission.
  const { address, mode, plusAddressing, keepsSent, smtp: server } = await read()
  const { host, port, security, username } = server
  const settings = { address, mode, plusAddressing, keepsSent, fromName: 'The shop' }
  const { tokenUrl, clientId } = oauth()
  const saved = await client.request('PUT', `${agent}/connection`, {
    ...settings,
    smtp: { host, port, security, username },
    oauth: { tokenUrl, clientId },
  })
  assert.equal(saved.status, 200, JSON.stringify(saved.body))
  assert.deepEqual(await tried(), { ok: true, error: null })

  const [latest] = provider.asked.slice(-1)
  assert.equal(latest?.get('grant_type'), 'refresh_token')
  assert.equal((await client.request('DELETE', `${agent}/connection`)).status, 200)
  assert.equal(provider.isWithdrawn(), true)
})

test('the permission of a mailbox is withdrawn when its agent is deleted', async () => {
  const id = await newAgent()
  const { url, attempt } = await begin(`/agents/${id}/email/oauth`)
  const body = backFrom(await provider.permit(url, ADDRESS), attempt)
  await owner.request('PUT', `/agents/${id}/email/oauth/permission`, body)
  assert.equal(provider.isWithdrawn(), false)
  assert.equal((await client.request('DELETE', `/agents/${id}`)).status, 200)
  await until('the withdrawal', () => provider.isWithdrawn())
})

test('a sign-in that is refused at the end leaves no entry in the audit log', async () => {
  const imap = { host: '127.0.0.1', port: 9, security: 'none', username: ADDRESS }
  const [first, second] = [await newAgent(), await newAgent()]
  const finish = async (agentId: string) => {
    const path = `/agents/${agentId}/email/oauth`
    const { url, attempt } = await begin(path, owner, { imap })
    const body = backFrom(await provider.permit(url, ADDRESS), attempt)
    return (await owner.request('PUT', `${path}/permission`, body)).status
  }
  assert.deepEqual([await finish(first), await finish(second)], [200, 409])
  const entries = await service.ctx.db
    .selectFrom('audit_log')
    .select('target')
    .where('action', '=', 'connection.put')
    .where('target', 'in', [first, second])
    .execute()
  assert.deepEqual(entries, [{ target: first }])
  assert.equal((await client.request('DELETE', `/agents/${first}/email/connection`)).status, 200)
})

test('a permission that a mailbox no longer uses is withdrawn when its settings change', async () => {
  const agent = `/agents/${await newAgent()}/email`
  const { url, attempt } = await begin(`${agent}/oauth`)
  const body = backFrom(await provider.permit(url, ADDRESS), attempt)
  await owner.request('PUT', `${agent}/oauth/permission`, body)
  assert.equal(provider.isWithdrawn(), false)
  const { port } = smtp.server.address() as AddressInfo
  const login = { host: '127.0.0.1', port, security: 'none', username: ADDRESS, password: 'secret' }
  const saved = await client.request('PUT', `${agent}/connection`, { address: ADDRESS, smtp: login })
  assert.equal(saved.status, 200, JSON.stringify(saved.body))
  await until('the withdrawal', () => provider.isWithdrawn())
})

test('a permission that another agent uses is not withdrawn, and one that cannot be read is no obstacle', async () => {
  const [first, second] = [`/agents/${await newAgent()}/email`, `/agents/${await newAgent()}/email`]
  for (const agent of [first, second]) {
    const { url, attempt } = await begin(`${agent}/oauth`)
    const body = backFrom(await provider.permit(url, ADDRESS), attempt)
    assert.equal((await owner.request('PUT', `${agent}/oauth/permission`, body)).body.ok, true)
  }
  assert.equal((await client.request('DELETE', `${first}/connection`)).status, 200)
  const { smtp: tried } = (await client.request('POST', `${second}/connection/test`)).body
  assert.deepEqual(tried, { ok: true, error: null })
  const { db } = service.ctx
  await db
    .updateTable('email_connections')
    .set({ oauth_refresh_token: 'damaged' })
    .where('agent_id', '=', second.split('/')[2] ?? '')
    .execute()
  assert.equal((await client.request('DELETE', `${second}/connection`)).status, 200)
})

test('a withdrawn permission and a refusal are said in words', async () => {
  const agent = `/agents/${await newAgent()}/email`
  const { url, attempt } = await begin(`${agent}/oauth`)
  const body = backFrom(await provider.permit(url, ADDRESS), attempt)
  await owner.request('PUT', `${agent}/oauth/permission`, body)
  provider.withdrawAll()
  const { error } = (await client.request('POST', `${agent}/connection/test`)).body.smtp
  assert.match(error, /invalid_grant.*Connect the mailbox with the provider again/)
})

test('an attempt belongs to the session and the agent with which it was begun', async () => {
  const [id, otherId] = [await newAgent(), await newAgent()]
  const { url, attempt } = await begin(`/agents/${id}/email/oauth`)
  const body = backFrom(await provider.permit(url, ADDRESS), attempt)
  const colleague = await memberOf(service, client.accountId, 'owner', { email: 'second@shop.example' })
  const stranger = await service.account()
  const finish = (who: Pick<Worker, 'request'>, agentId = id, more = {}) =>
    who.request('PUT', `/agents/${agentId}/email/oauth/permission`, { ...body, ...more })
  for (const refused of [
    await finish(colleague),
    await finish(client),
    await finish(owner, otherId),
    await finish(owner, id, { state: 'another' }),
    await finish(owner, id, { attempt: `${attempt.slice(0, -4)}AAAA` }),
  ]) {
    assert.equal(refused.status, 400)
    assert.match(refused.body.error.message, /expired, or was begun elsewhere/)
  }
  assert.equal((await finish(stranger)).status, 404)
  assert.equal((await client.request('GET', `/agents/${id}/email/connection`)).status, 404)
  assert.equal((await finish(owner)).body.ok, true)
})

test('large providers need only the address, and the client of the operator if there is one', async () => {
  const agent = `/agents/${await newAgent()}/email/oauth`
  const read = (await client.request('GET', agent)).body
  assert.equal(read.redirectUrl, 'https://parley.example/desk/mailbox-sign-in')
  assert.deepEqual(
    read.providers.map(({ id, hasClient }: { id: string; hasClient: boolean }) => [id, hasClient]),
    [
      ['google', false],
      ['microsoft', true],
    ],
  )
  const connection = { address: ADDRESS, mode: 'agent', plusAddressing: false, keepsSent: false }
  const start = (provider: string, more: object = {}) =>
    owner.request('POST', agent, { provider, connection: { ...connection, ...more } })
  const microsoft = new URL((await start('microsoft')).body.url)
  assert.equal(microsoft.host, 'login.microsoftonline.com')
  assert.equal(microsoft.searchParams.get('client_id'), 'operators-client')
  assert.match(
    microsoft.searchParams.get('scope') ?? '',
    /offline_access .*IMAP\.AccessAsUser\.All .*SMTP\.Send/,
  )
  assert.equal((await start('google')).status, 400)
  const google = new URL((await start('google', { oauth: { clientId: 'ours' } })).body.url)
  assert.deepEqual(
    ['client_id', 'access_type', 'login_hint'].map((name) => google.searchParams.get(name)),
    ['ours', 'offline', ADDRESS],
  )
  const plain = { ...oauth(), authorizationUrl: 'http://provider.example/authorize' }
  const refused = await start('other', { oauth: plain, smtp: { host: 'x', port: 25, security: 'none' } })
  assert.match(JSON.stringify(refused.body), /authorizationUrl.*https:/)
})
