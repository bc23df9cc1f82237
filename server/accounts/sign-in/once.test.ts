import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { codeOf } from '../../../test/authenticator.ts'
import { type Client, type Service, startService } from '../../../test/start.ts'
import { type Browser, browserOf, memberOf, PASSWORD, signIn } from '../../../test/workspace.ts'
import { contracts } from '../../features.ts'
import { createLink } from '../links/links.ts'

/**
 * Sends each POST that test/every-post.test.ts cannot send with an API key twice at the same time, with one
 * Idempotency-Key, and expects one effect.
 */

let service: Service
let client: Client

before(async () => {
  service = await startService(
    {
      TRUSTED_PROXIES: '127.0.0.1',
      PUBLIC_URL: 'https://parley.example',
      SMTP_URL: 'smtp://127.0.0.1:9',
      MAIL_FROM: 'parley@parley.example',
    },
    undefined,
    { idle: true },
  )
  client = await service.account()
})
after(() => service.close())

const twice = async (browser: Browser, path: string, body?: object) => {
  const headers = { 'idempotency-key': `once ${path}`.replaceAll(/[ /]/g, '-') }
  const answers = await Promise.all([1, 2].map(() => browser.request('POST', path, body, headers)))
  return answers.sort((a, b) => a.status - b.status)
}
const statusesOf = (answers: { status: number }[]) => answers.map(({ status }) => status)
const count = async (table: 'members' | 'login_sessions' | 'login_links', accountId?: string) => {
  let query = service.ctx.db.selectFrom(table).select((eb) => eb.fn.countAll<number>().as('n'))
  if (accountId) query = query.where('account_id' as never, '=', accountId as never)
  return Number((await query.executeTakeFirstOrThrow()).n)
}
const linkOf = async (
  kind: 'set-up' | 'invitation' | 'reset',
  more: object = {},
  accountId = client.accountId,
) => (await createLink(service.ctx.db, { accountId, kind, createdBy: 'operator', ...more })).token

const CASES: Record<string, () => Promise<void>> = {
  async setUp() {
    const { accountId } = await service.account()
    const body = { token: await linkOf('set-up', {}, accountId), name: 'Olga', email: 'olga@example.com' }
    const answers = await twice(browserOf(service), '/set-up', { ...body, password: PASSWORD })
    // The link works once, so the repetition finds none.
    assert.deepEqual(statusesOf(answers), [201, 404])
    assert.equal(await count('members', accountId), 1)
  },
  async acceptInvitation() {
    const { accountId } = await service.account()
    const invited = { email: 'ina@example.com', name: null, role: 'viewer', agentIds: null }
    const token = await linkOf('invitation', { invited }, accountId)
    const answers = await twice(browserOf(service), '/invitations/accept', {
      token,
      name: 'Ina',
      password: PASSWORD,
    })
    assert.deepEqual(statusesOf(answers), [201, 404])
    assert.equal(await count('members', accountId), 1)
  },
  async acceptPasswordReset() {
    const worker = await memberOf(service, client.accountId, 'viewer')
    const token = await linkOf('reset', { memberId: worker.memberId })
    const password = 'another good password'
    const answers = await twice(browserOf(service), '/password-resets/accept', { token, password })
    assert.deepEqual(statusesOf(answers), [200, 404])
    assert.equal((await signIn(browserOf(service), worker.email, password)).status, 200)
  },
  async requestPasswordReset() {
    const worker = await memberOf(service, client.accountId, 'viewer')
    const before = await count('login_links')
    const answers = await twice(browserOf(service), '/password-resets', { email: worker.email })
    assert.deepEqual(statusesOf(answers), [202, 202])
    // Links are created only when the mails are sent.
    assert.equal(await count('login_links'), before)
  },
  async lookAtInvitation() {
    const invited = { email: 'lia@example.com', name: null, role: 'viewer', agentIds: null }
    const token = await linkOf('invitation', { invited })
    const before = await count('login_links')
    const answers = await twice(browserOf(service), '/invitations/look', { token })
    assert.deepEqual(answers[0]?.body, answers[1]?.body)
    assert.equal(await count('login_links'), before)
  },
  async signIn() {
    const worker = await memberOf(service, client.accountId, 'viewer')
    const before = await count('login_sessions')
    const answers = await twice(browserOf(service), '/sign-in', { email: worker.email, password: PASSWORD })
    assert.deepEqual(statusesOf(answers), [200, 200])
    // The secret of a session is stored nowhere, so a repetition cannot get it and has a session of its own.
    assert.equal(await count('login_sessions'), before + 2)
  },
  async signInSecondFactor() {
    const worker = await memberOf(service, client.accountId, 'admin')
    const { body } = await worker.request('POST', '/second-factor', { password: PASSWORD })
    await worker.request('POST', '/second-factor/confirm', { code: codeOf(body.uri) })
    const browser = browserOf(service)
    await signIn(browser, worker.email)
    const before = await count('login_sessions')
    const answers = await twice(browser, '/sign-in/second-factor', { code: codeOf(body.uri, 1) })
    assert.deepEqual(statusesOf(answers), [200, 401])
    assert.equal(await count('login_sessions'), before + 1)
  },
  async signInProvider() {
    const before = await count('login_sessions')
    // No provider is configured; it would create nothing before the browser comes back from it.
    assert.deepEqual(statusesOf(await twice(browserOf(service), '/sign-in/provider')), [404, 404])
    assert.equal(await count('login_sessions'), before)
  },
  async signOut() {
    const worker = await memberOf(service, client.accountId, 'viewer')
    const before = await count('login_sessions')
    const answers = await twice(worker, '/sign-out')
    assert.equal(answers[0]?.status, 200)
    assert.equal(await count('login_sessions'), before - 1)
  },
  async beginSecondFactor() {
    const worker = await memberOf(service, client.accountId, 'admin')
    const answers = await twice(worker, '/second-factor', { password: PASSWORD })
    // The other is answered without what is shown once.
    assert.deepEqual(statusesOf(answers), [200, 200])
    const shown = answers.flatMap(({ body }) => (body.uri ? [body.uri as string] : []))
    // What somebody is shown works: the secret of the other request, if any, has not taken its place.
    assert.equal(shown.length, 1, JSON.stringify(answers.map(({ body }) => body)))
    const confirmed = await worker.request('POST', '/second-factor/confirm', { code: codeOf(shown[0] ?? '') })
    assert.equal(confirmed.status, 200, JSON.stringify(confirmed.body))
  },
  async confirmSecondFactor() {
    const worker = await memberOf(service, client.accountId, 'admin')
    const { body } = await worker.request('POST', '/second-factor', { password: PASSWORD })
    const answers = await twice(worker, '/second-factor/confirm', { code: codeOf(body.uri) })
    assert.equal(answers[0]?.status, 200, JSON.stringify(answers.map((one) => one.body)))
    assert.equal((await worker.request('GET', '/me')).body.member.hasSecondFactor, true)
  },
}

const names = contracts
  .filter(({ method, scope, onlySessions }) => method === 'POST' && (scope === null || onlySessions))
  // Other pages than those of the workspace send these.
  .filter(({ tag }) => tag === 'Sign-in')
  .map(({ name }) => name)

test('every POST without an API key is tested here', () => {
  assert.deepEqual(Object.keys(CASES).sort(), names.sort())
})

for (const [name, run] of Object.entries(CASES)) test(`two ${name} at once have one effect`, run)
