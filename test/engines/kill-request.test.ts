import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { onPostgres } from '../database.ts'
import { type MessagingServer, startMessagingServer } from '../fakes/messaging-server.ts'
import { fakeTemplate, signatureOf, statusWebhook } from '../fakes/messaging-wire.ts'
import { ACCOUNT, envFor, NUMBER, SECRET } from '../messaging-home.ts'
import { newKey } from '../new-key.ts'
import { newHome, type Running, spawnService } from '../spawn-service.ts'
import { type Answer, type Client, clientOf } from '../start.ts'
import { until } from '../until.ts'

/**
 * Kills a process while requests are held at one point of their transactions. They are then sent again to another
 * process.
 */

const LOCK = 4242
const UPLOAD = 'multipart/form-data; boundary=b'
const FILE = `--b\r\nContent-Disposition: form-data; name="name"\r\n\r\nNotes\r\n--b\r\nContent-Disposition: form-data; name="file"; filename="x.txt"\r\n\r\nOpen from nine to five.\r\n--b--\r\n`

type Kind = {
  path(agent: string): string
  body: object | string
  /** Returns the path of the list that shows what has been created. */
  list(agent: string): string
}

const author = { authorEmail: 'ann@example.com' }
const inputs = { type: 'object', properties: {} }
const ticket = { subject: 'Late', description: 'Where is it?', customer: { email: 'eve@example.org' } }
const sources = (agent: string) => `${agent}/sources`
const kinds: Record<string, Kind> = {
  agent: { path: () => '/agents', body: { name: 'New' }, list: () => '/agents?limit=100' },
  text: { path: sources, body: { type: 'text', name: 'T', content: 'Open from nine.' }, list: sources },
  upload: { path: sources, body: FILE, list: sources },
  action: {
    path: (agent) => `${agent}/actions`,
    body: { type: 'client', name: 'look', description: 'Looks', inputs },
    list: (agent) => `${agent}/actions`,
  },
  ticket: {
    path: (agent) => `${agent}/helpdesk/tickets`,
    body: ticket,
    list: (agent) => `${agent}/helpdesk/tickets`,
  },
  reply: {
    path: (agent) => `${agent}/helpdesk/tickets/1/messages`,
    body: { type: 'reply', content: 'Here.', ...author },
    list: (agent) => `${agent}/helpdesk/tickets/1/messages?types=reply`,
  },
}

const WITH_THE_KEY = `create trigger hold after insert on requests for each row execute function hold()`
const AT_THE_COMMIT = `create constraint trigger hold after insert on requests
  deferrable initially deferred for each row execute function hold()`
const AFTER_THE_SENDING = `create trigger hold before update on deliveries for each row
  when (new.provider_message_id is not null) execute function hold()`

test('after a kill, every request has one effect and a correct response', {
  skip: !onPostgres() && 'needs PostgreSQL',
}, async (t) => {
  const fake = await startMessagingServer()
  fake.accounts.set(ACCOUNT, {
    token: 'token-1',
    numbers: [{ id: NUMBER, phone: '+1 555-000-1111', name: 'Shop' }],
    templates: [fakeTemplate('plain', 'Hello')],
  })
  const home = await newHome()
  const env = { ...home.env, ...envFor(fake) }
  const apiKey = await newKey(home)
  const control = new pg.Client({ connectionString: env.DATABASE_URL })
  await control.connect()
  const running: Running[] = []
  const start = async () => {
    const one = await spawnService(env)
    running.push(one)
    return one
  }
  t.after(async () => {
    for (const one of running) await one.kill('SIGKILL')
    await control.end()
    await home.remove()
    await fake.close()
  })
  await control.query(`create function hold() returns trigger language plpgsql as
    'begin perform pg_advisory_xact_lock_shared(${LOCK}); return new; end'`)
  await control.query(
    `insert into members (id, account_id, email, name)
       select gen_random_uuid(), id, 'ann@example.com', 'Ann' from accounts`,
  )
  let doomed = await start()
  const other = await start()
  const client = clientOf(other.url, apiKey)

  /** Sends requests to a process, kills it once all of them are held at the trigger, and lets the database continue. */
  async function killAt(trigger: string, requests: ((to: Client) => Promise<unknown>)[]): Promise<void> {
    await control.query(trigger)
    await control.query(`select pg_advisory_lock(${LOCK})`)
    const lost = Promise.allSettled(requests.map((send) => send(clientOf(doomed.url, apiKey))))
    await until('requests that stand', async () => {
      const { rows } = await control.query(
        `select from pg_locks where locktype = 'advisory' and objid = ${LOCK} and not granted`,
      )
      return rows.length === requests.length
    })
    await doomed.kill('SIGKILL')
    assert.ok((await lost).every(({ status }) => status === 'rejected'))
    await control.query(`select pg_advisory_unlock(${LOCK})`)
    const table = trigger.includes('on deliveries') ? 'deliveries' : 'requests'
    await control.query(`drop trigger hold on ${table}`)
    doomed = await start()
  }
  for (const [where, isCommitted] of [
    [WITH_THE_KEY, false],
    [AT_THE_COMMIT, true],
  ] as const) {
    await t.test(isCommitted ? 'at the commit' : 'when the key is taken', async () => {
      const agents = await Promise.all(
        Object.keys(kinds).map(
          async (name) => `/agents/${(await client.request('POST', '/agents', { name })).body.id}`,
        ),
      )
      const asked = Object.entries(kinds).map(([name, kind], index) => ({
        name,
        kind,
        agent: agents[index] ?? '',
      }))
      for (const { name, agent } of asked)
        if (name === 'reply')
          assert.equal((await client.request('POST', `${agent}/helpdesk/tickets`, ticket)).status, 201)
      const count = async ({ kind, agent }: (typeof asked)[number]): Promise<number> => {
        const { body } = await client.request('GET', kind.list(agent))
        return body.data.length
      }
      const before = await Promise.all(asked.map(count))
      const send = (to: Client, { name, kind, agent }: (typeof asked)[number]) =>
        to.request('POST', kind.path(agent), kind.body, {
          'idempotency-key': `${name}-${isCommitted}`,
          ...(kind.body === FILE ? { 'content-type': UPLOAD } : {}),
        })
      await killAt(
        where,
        asked.map((one) => (to: Client) => send(to, one)),
      )
      for (const [index, one] of asked.entries()) {
        const first = await send(client, one)
        const second = await send(clientOf(doomed.url, apiKey), one)
        assert.equal(first.status, 201, `${one.name}: ${JSON.stringify(first.body)}`)
        assert.deepEqual([second.status, second.body], [first.status, first.body], one.name)
        assert.deepEqual([isReplay(first), isReplay(second)], [isCommitted, true], one.name)
        assert.equal(await count(one), (before[index] ?? 0) + 1, one.name)
      }
    })
  }

  await t.test('after a template was sent', () => killAfterSending(client, fake, killAt, other))
})

const isReplay = ({ headers }: Answer): boolean => headers.get('idempotency-replayed') === 'true'

async function killAfterSending(
  client: Client,
  fake: MessagingServer,
  killAt: (trigger: string, requests: ((to: Client) => Promise<unknown>)[]) => Promise<void>,
  other: Running,
): Promise<void> {
  const { id } = (await client.request('POST', '/agents', { name: 'Sender' })).body
  const connected = await client.request('PUT', `/agents/${id}/messaging/connection`, {
    accounts: [{ businessAccountId: ACCOUNT, accessToken: 'token-1', appSecret: SECRET, verifyToken: 'v' }],
    baseUrl: fake.url,
  })
  assert.equal(connected.status, 200)
  const send = (to: Client) =>
    to.request(
      'POST',
      `/agents/${id}/messaging/messages/template`,
      { to: '15550107070', template: { name: 'plain' } },
      { 'idempotency-key': 'template' },
    )
  await killAt(AFTER_THE_SENDING, [send])
  // The channel's response to the dead process is not known.
  const unknown = await send(client)
  assert.deepEqual([unknown.status, unknown.body.error.code], [502, 'MESSAGING_SEND_FAILED'])
  assert.match(unknown.body.error.message, /may have been sent/)
  assert.equal(fake.sent.length, 1)
  const { id: messageId = '', callback = '' } = fake.sent[0] ?? {}
  const told = JSON.stringify(
    statusWebhook(ACCOUNT, NUMBER, [
      { id: messageId, callback, status: 'delivered', recipient: '15550107070' },
    ]),
  )
  const webhook = await fetch(`${other.url}/webhooks/messaging/${id}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-hub-signature-256': signatureOf(told, SECRET) },
    body: told,
  })
  assert.equal(webhook.status, 200)
  const known = await send(client)
  assert.deepEqual([known.status, known.body.messageId, known.body.to], [201, messageId, '15550107070'])
  assert.equal(fake.sent.length, 1)
}
