import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Client, type Service, startService } from '../../../test/start.ts'
import { browserOf, memberOf, PASSWORD, signIn, type Worker } from '../../../test/workspace.ts'

let service: Service
let client: Client
let owner: Worker

before(async () => {
  service = await startService({ TRUSTED_PROXIES: '127.0.0.1' })
  client = await service.account({ name: 'Shop' })
  owner = await memberOf(service, client.accountId, 'owner')
})
after(() => service.close())

const tokenOf = (link: string): string => new URL(link).hash.slice(1)

test('an invited member accepts once and sees only their agent', async () => {
  const [mine, other] = await Promise.all(
    ['Mine', 'Other'].map(
      async (name) => (await client.request('POST', '/agents', { name })).body.id as string,
    ),
  )
  const wanted = { email: 'Sue@example.com', role: 'support', agentIds: [mine] }
  const invited = await owner.request('POST', '/invitations', wanted)
  assert.equal(invited.status, 201, JSON.stringify(invited.body))
  assert.equal(invited.body.mailed, false)
  assert.match(invited.body.link, new RegExp(`^${service.url}/invite#`))
  assert.equal((await owner.request('POST', '/invitations', wanted)).status, 409)
  const token = tokenOf(invited.body.link)
  const browser = browserOf(service)
  const seen = await browser.request('POST', '/invitations/look', { token })
  assert.deepEqual([seen.body.accountName, seen.body.role], ['Shop', 'support'])

  const guessed = { token: `${token.slice(0, -1)}x`, name: 'Sue', password: PASSWORD }
  assert.equal((await browser.request('POST', '/invitations/accept', guessed)).status, 404)
  // A body that tries to raise the role is rejected as a whole.
  const accepted = { token, name: 'Sue', password: PASSWORD }
  for (const more of [{ role: 'owner' }, { agentIds: null }, { email: 'eve@example.com' }])
    assert.equal((await browser.request('POST', '/invitations/accept', { ...accepted, ...more })).status, 400)
  assert.equal((await browser.request('POST', '/invitations/accept', accepted)).status, 201)
  assert.equal((await browser.request('POST', '/invitations/accept', accepted)).status, 404)
  await signIn(browser, 'sue@example.com')

  const { member } = (await browser.request('GET', '/me')).body
  assert.deepEqual([member.role, member.agentIds], ['support', [mine]])
  const { data, pagination } = (await browser.request('GET', '/agents')).body
  assert.deepEqual([data.map(({ id }: { id: string }) => id), pagination.total], [[mine], 1])
  assert.equal((await browser.request('GET', `/agents/${mine}`)).status, 200)
  assert.equal((await browser.request('GET', `/agents/${other}`)).status, 404)
  assert.equal((await browser.request('PUT', `/agents/${mine}`, { name: 'Hers' })).status, 403)
  assert.equal((await browser.request('GET', '/members')).status, 403)
  assert.equal((await browser.request('PATCH', `/members/${member.id}`, { role: 'owner' })).status, 403)
  const other2 = `/agents/${mine}/helpdesk/tickets`
  const opened = await browser.request('POST', other2, {
    subject: 'Late',
    description: 'Where is it?',
    customer: { email: 'eve@example.org' },
  })
  assert.equal(opened.status, 201, JSON.stringify(opened.body))
  const reply = (authorEmail: string) =>
    browser.request('POST', `${other2}/${opened.body.ticketNumber}/messages`, {
      type: 'reply',
      content: 'Soon.',
      authorEmail,
    })
  assert.equal((await reply(owner.email)).status, 403)
  assert.equal((await reply('sue@example.com')).status, 201)

  // The owner's changes take effect at once.
  const changed = await owner.request('PATCH', `/members/${member.id}`, { role: 'admin' })
  assert.deepEqual([changed.body.role, changed.body.agentIds], ['admin', null])
  assert.equal((await browser.request('GET', `/agents/${other}`)).status, 200)
  assert.equal((await owner.request('DELETE', `/members/${member.id}`)).status, 200)
  assert.equal((await browser.request('GET', '/me')).status, 401)
  assert.equal((await signIn(browser, 'sue@example.com')).status, 401)
})

test('only an owner decides who is an owner, and one always remains', async () => {
  const { accountId } = await service.account()
  const boss = await memberOf(service, accountId, 'owner')
  const admin = await memberOf(service, accountId, 'admin')
  const key = (await service.account()).key
  const refused = async (answer: Promise<{ status: number; body: { error: { code: string } } }>) => {
    const { status, body } = await answer
    return [status, body.error?.code]
  }
  const denied = [403, 'AUTH_INSUFFICIENT_PERMISSIONS']
  const last = [409, 'LAST_OWNER']
  const place = `/members/${boss.memberId}`
  assert.deepEqual(await refused(admin.request('PATCH', place, { role: 'viewer' })), denied)
  assert.deepEqual(await refused(admin.request('DELETE', place)), denied)
  const own = `/members/${admin.memberId}`
  assert.deepEqual(await refused(admin.request('PATCH', own, { role: 'owner' })), denied)
  const asOwner = { email: 'x@example.com', role: 'owner' }
  assert.deepEqual(await refused(admin.request('POST', '/invitations', asOwner)), denied)
  assert.deepEqual(await refused(boss.request('PATCH', place, { role: 'admin' })), last)
  assert.deepEqual(await refused(boss.request('DELETE', place)), last)
  assert.equal((await boss.request('PATCH', own, { agentIds: ['x'] })).status, 400)
  assert.equal((await boss.request('PATCH', own, { role: 'viewer', agentIds: ['x'] })).status, 404)
  const foreign = { authorization: `Bearer ${key}` }
  assert.equal((await service.anonymous('PATCH', place, { role: 'viewer' }, foreign)).status, 404)
  // When two owners lower each other's role at the same time, one owner remains.
  assert.equal((await boss.request('PATCH', own, { role: 'owner' })).status, 200)
  const both = await Promise.all([
    boss.request('PATCH', own, { role: 'viewer' }),
    admin.request('PATCH', place, { role: 'viewer' }),
  ])
  const owners = await service.ctx.db
    .selectFrom('members')
    .select('id')
    .where('account_id', '=', accountId)
    .where('role', '=', 'owner')
    .execute()
  assert.equal(owners.length, 1, JSON.stringify(both.map(({ status, body }) => [status, body])))
})

test('an invitation is revoked, and repeating the request shows no link', async () => {
  const headers = { 'idempotency-key': 'invite-1' }
  const wanted = { email: 'tom@example.com', role: 'viewer' }
  const first = await owner.request('POST', '/invitations', wanted, headers)
  const again = await owner.request('POST', '/invitations', wanted, headers)
  assert.deepEqual(again.body, { ...first.body, link: null })
  const listed = (await owner.request('GET', '/invitations')).body
  assert.deepEqual(
    listed.map(({ id, email }: { id: string; email: string }) => [id, email]),
    [[first.body.id, 'tom@example.com']],
  )
  assert.equal(JSON.stringify(listed).includes(tokenOf(first.body.link)), false)
  assert.equal((await owner.request('DELETE', `/invitations/${first.body.id}`)).status, 200)
  const token = tokenOf(first.body.link)
  const { status } = await browserOf(service).request('POST', '/invitations/look', { token })
  assert.equal(status, 404)
})

test('a key is created with scopes and an expiry, works, and is revoked; the audit log records it', async () => {
  const { accountId } = await service.account()
  const admin = await memberOf(service, accountId, 'admin')
  const body = { name: 'Reader', scopes: ['agents:read', 'keys:write'], expiresAt: '2999-01-01T00:00:00Z' }
  const made = await admin.request('POST', '/keys', body, { 'idempotency-key': 'key-1' })
  assert.equal(made.status, 201, JSON.stringify(made.body))
  const again = await admin.request('POST', '/keys', body, { 'idempotency-key': 'key-1' })
  assert.deepEqual(again.body, { ...made.body, key: null })
  const headers = { authorization: `Bearer ${made.body.key}` }
  const ask = (method: string, path: string, sent?: object) => service.anonymous(method, path, sent, headers)
  assert.equal((await ask('GET', '/agents')).status, 200)
  assert.equal((await ask('GET', '/members')).status, 403)
  const { expiresAt } = body
  for (const more of [
    { name: 'x' },
    { name: 'x', scopes: ['chat'], expiresAt },
    { name: 'x', scopes: ['agents:read'] },
    { name: 'x', scopes: ['agents:read'], expiresAt: '2999-01-01T00:00:01Z' },
  ])
    assert.equal((await ask('POST', '/keys', more)).status, 403, JSON.stringify(more))
  assert.equal((await ask('POST', '/keys', { name: 'x', scopes: ['agents:read'], expiresAt })).status, 201)
  assert.equal(
    (await admin.request('POST', '/keys', { name: 'x', expiresAt: '2020-01-01T00:00:00Z' })).status,
    400,
  )
  assert.equal((await owner.request('DELETE', `/keys/${made.body.id}`)).status, 404)
  assert.equal((await admin.request('DELETE', `/keys/${made.body.id}`)).status, 200)
  const { body: keys } = await admin.request('GET', '/keys')
  assert.deepEqual(
    keys.map(({ name, state }: { name: string; state: string }) => [name, state]),
    [
      ['test', 'active'],
      ['Reader', 'revoked'],
      ['x', 'active'],
    ],
  )
  const log = (await admin.request('GET', '/audit-log?action=key&limit=2')).body
  assert.equal(log.pagination.total, 3)
  assert.deepEqual(
    log.data.map(({ actor, actorName, action, target }: Record<string, string>) => [
      actor,
      actorName,
      action,
      target === made.body.id,
    ]),
    [
      [`member:${admin.memberId}`, 'admin', 'key.revoke', true],
      [`key:${made.body.id}`, 'Reader', 'key.create', false],
    ],
  )
  const rest = (await admin.request('GET', `/audit-log?action=key&cursor=${log.pagination.cursor}`)).body
  assert.deepEqual(
    rest.data.map(({ action }: { action: string }) => action),
    ['key.create'],
  )
})

test('usage is shown by day and agent, and to a limited member only for their agents', async () => {
  const wide = await service.account()
  const agents = await Promise.all(
    ['One', 'Two'].map(async (name) => (await wide.request('POST', '/agents', { name })).body.id as string),
  )
  for (const id of [agents[0], agents[0], agents[1]])
    await wide.request('POST', `/agents/${id}/chat`, { message: 'Hello', stream: false })
  await service.ctx.generations.idle()
  const used = (await wide.request('GET', '/usage')).body
  const today = new Date().toISOString().slice(0, 10)
  assert.deepEqual(
    Object.fromEntries(
      used.days.map(({ agentName, replies }: { agentName: string; replies: number }) => [agentName, replies]),
    ),
    { One: 2, Two: 1 },
  )
  assert.ok(used.days.every(({ day }: { day: string }) => day <= today))
  assert.equal(used.total.replies, 3)
  const limited = await memberOf(service, wide.accountId, 'viewer', { agentIds: agents.slice(1) })
  assert.equal((await limited.request('GET', '/usage')).body.total.replies, 1)
  assert.equal((await wide.request('GET', '/usage?startDate=2020-01-01&endDate=2026-01-01')).status, 400)
})

test('a removed or demoted member cannot return through an earlier invitation', async () => {
  const { accountId } = await service.account()
  const boss = await memberOf(service, accountId, 'owner')
  const tokens = []
  for (const [n, end] of [
    (admin: Worker) => boss.request('DELETE', `/members/${admin.memberId}`),
    (admin: Worker) => boss.request('PATCH', `/members/${admin.memberId}`, { role: 'viewer' }),
  ].entries()) {
    const admin = await memberOf(service, accountId, 'admin')
    const wanted = { email: `back-${n}@example.com`, role: 'admin' }
    const { body } = await admin.request('POST', '/invitations', wanted)
    tokens.push(tokenOf(body.link))
    assert.equal((await end(admin)).status, 200)
  }
  const { request } = browserOf(service)
  for (const token of tokens) {
    const { status } = await request('POST', '/invitations/accept', { token, name: 'x', password: PASSWORD })
    assert.equal(status, 404)
  }
})

test('the links of sign-in lead to the workspace', async () => {
  for (const path of ['/setup', '/invite', '/reset']) {
    const response = await fetch(`${service.url}${path}`)
    assert.equal(response.status, 200)
    assert.match(await response.text(), /<div id="workspace">/)
  }
})

test('a key gives nobody more than it has, nor for longer', async () => {
  const { accountId } = await service.account()
  const admin = await memberOf(service, accountId, 'admin')
  const viewer = await memberOf(service, accountId, 'viewer')
  const builder = await memberOf(service, accountId, 'builder', { agentIds: ['some-agent'] })
  const reads = (await admin.request('GET', '/me')).body.member.scopes.filter((scope: string) =>
    /^(account|agents|sources|actions|conversations|helpdesk|messaging):read$/.test(scope),
  )
  const keyWith = async (more: object) => {
    const { body } = await admin.request('POST', '/keys', { name: 'key', ...more })
    const headers = { authorization: `Bearer ${body.key}` }
    return (method: string, path: string, sent: object) => service.anonymous(method, path, sent, headers)
  }
  const narrow = await keyWith({ scopes: ['members:write'] })
  const reading = await keyWith({ scopes: ['members:write', ...reads] })
  const expiring = await keyWith({ expiresAt: '2999-01-01T00:00:00Z' })
  const full = await keyWith({})
  const denied = [403, 'AUTH_INSUFFICIENT_PERMISSIONS']
  let invited = 0
  const invite = async (ask: typeof full, role: string) => {
    const { status, body } = await ask('POST', '/invitations', { email: `p${++invited}@example.org`, role })
    return [status, body.error?.code]
  }
  const change = async (ask: typeof full, { memberId }: Worker, sent: object) => {
    const { status, body } = await ask('PATCH', `/members/${memberId}`, sent)
    return [status, body.error?.code]
  }
  for (const ask of [narrow, reading, expiring]) {
    assert.deepEqual(await invite(ask, 'admin'), denied)
    assert.deepEqual(await change(ask, viewer, { role: 'admin' }), denied)
    assert.deepEqual(await change(ask, builder, { agentIds: null }), denied)
    assert.deepEqual(await change(ask, viewer, { name: 'Renamed' }), [200, undefined])
  }
  const { body } = await expiring('POST', '/invitations', { email: 'x@example.org', role: 'viewer' })
  assert.match(body.error.message, /expires.*Sign in/)
  assert.deepEqual(await invite(narrow, 'viewer'), denied)
  assert.deepEqual(await invite(reading, 'viewer'), [201, undefined])
  assert.deepEqual(await invite(reading, 'support'), denied)
  assert.deepEqual(await invite(full, 'admin'), [201, undefined])
  assert.deepEqual(await change(full, viewer, { role: 'admin' }), [200, undefined])
  // Less than before may be given by every key.
  assert.deepEqual(await change(expiring, viewer, { role: 'viewer' }), [200, undefined])
  assert.deepEqual(await change(narrow, builder, { role: 'viewer' }), [200, undefined])
})

test('keys that a removed member has made are counted, seen and revoked together', async () => {
  const { accountId, key: first } = await service.account()
  const boss = await memberOf(service, accountId, 'owner')
  const admin = await memberOf(service, accountId, 'admin')
  const by = (key: string) => ({ authorization: `Bearer ${key}` })
  const made = (await admin.request('POST', '/keys', { name: 'made' })).body
  const child = (await service.anonymous('POST', '/keys', { name: 'child' }, by(made.key))).body
  const grandchild = (await service.anonymous('POST', '/keys', { name: 'grandchild' }, by(child.key))).body
  const revoked = (await admin.request('POST', '/keys', { name: 'revoked' })).body
  await admin.request('DELETE', `/keys/${revoked.id}`)
  const own = (await boss.request('POST', '/keys', { name: 'own' })).body
  const maker = `member:${admin.memberId}`
  assert.deepEqual(
    [made.createdBy, child.createdBy, grandchild.createdBy, own.createdBy],
    [maker, `key:${made.id}`, `key:${child.id}`, `member:${boss.memberId}`],
  )
  const removal = await boss.request('DELETE', `/members/${admin.memberId}`)
  assert.deepEqual([removal.status, removal.body], [200, { success: true, activeKeys: 3 }])
  assert.equal((await service.anonymous('GET', '/me', undefined, by(made.key))).status, 200)
  // Another account revokes nothing.
  assert.equal((await owner.request('DELETE', `/keys?createdBy=${maker}`)).body.revoked, 0)
  const { status, body } = await boss.request('DELETE', `/keys?createdBy=${maker}`)
  assert.deepEqual([status, body], [200, { success: true, revoked: 3 }])
  const { body: keys } = await boss.request('GET', '/keys')
  assert.deepEqual(
    keys.map(({ name, state }: { name: string; state: string }) => [name, state]),
    [
      ['test', 'active'],
      ['made', 'revoked'],
      ['child', 'revoked'],
      ['grandchild', 'revoked'],
      ['revoked', 'revoked'],
      ['own', 'active'],
    ],
  )
  assert.equal((await service.anonymous('GET', '/me', undefined, by(first))).status, 200)
  assert.equal((await boss.request('DELETE', `/keys?createdBy=${maker}`)).body.revoked, 0)
})
