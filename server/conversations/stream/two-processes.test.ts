import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { onPostgres } from '../../../test/database.ts'
import { type ModelServer, startModelServer } from '../../../test/fakes/model-server.ts'
import { tokens } from '../../../test/fakes/reply.ts'
import { readStream } from '../../../test/read-stream.ts'
import { type Client, clientOf, type Service, startService } from '../../../test/start.ts'
import { until } from '../../../test/until.ts'
import { createMember } from '../../accounts/records/members.ts'
import { newId } from '../../platform/db/ids.ts'

/** Actions of one process must also take effect on generations that another process runs. */
describe('two processes on one database', { skip: !onPostgres() && 'needs PostgreSQL' }, () => {
  let models: ModelServer
  let services: [Service, Service]
  let here: Client
  let there: Client
  let agentId: string
  let conversationId: string

  before(async () => {
    models = await startModelServer()
    const env = { OPENAI_BASE_URL: `${models.url}/v1`, OPENAI_API_KEY: 'k', OPENAI_MODEL: 'fake' }
    const first = await startService(env)
    services = [first, await startService(env, first)]
    here = await first.account()
    there = clientOf(services[1].url, here.key, here.accountId)
    agentId = (await here.request('POST', '/agents', { name: 'Agent' })).body.id
    conversationId = (await say(here, { message: 'Hello' })).body.data.metadata.conversationId
  })
  after(async () => {
    await services[1].close()
    await services[0].close()
    await models.close()
  })

  const path = (rest: string) => `/agents/${agentId}/conversations/${conversationId}${rest}`
  const say = (who: Client, body: object) =>
    who.request('POST', `/agents/${agentId}/chat`, { stream: false, ...body })
  const stream = (who: Client, body: object, headers = {}) =>
    who.raw('POST', `/agents/${agentId}/chat`, {
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', ...headers },
    })
  /** Returns the number after which the event ids of the running answer begin. */
  const base = async (): Promise<number> => {
    const row = await services[0].ctx.db
      .selectFrom('generations')
      .select('first_event')
      .where('status', '=', 'running')
      .executeTakeFirstOrThrow()
    return row.first_event
  }

  test('a reader in another process gets every event, from the start or after the last one it has', async () => {
    models.queue.push({ tokens: tokens(60), delayMs: 15 })
    const own = await stream(here, { message: 'Long', conversationId })
    const from = await base()
    const whole = await there.raw('GET', path('/stream'))
    await wait(200)
    const rest = await there.raw('GET', path('/stream'), { headers: { 'last-event-id': String(from + 10) } })
    const [expected, all, some] = await Promise.all([
      readStream(own, from),
      readStream(whole, from),
      readStream(rest, from + 10),
    ])
    assert.deepEqual(all.events, expected.events)
    assert.deepEqual(some.events, expected.events.slice(10))
    assert.equal((await there.raw('GET', path('/stream'))).status, 204)
  })

  test('a chat of version 1 that another process repeats gets the one answer', async () => {
    const body = { chatbotId: agentId, messages: [{ role: 'user', content: 'Long' }] }
    const ask = (who: Client) => who.request('POST', '/api/v1/chat', body, { 'idempotency-key': 'v1-twice' })
    const calls = models.requests.length
    models.queue.push({ tokens: tokens(40), delayMs: 15 })
    const own = ask(here)
    await until('the model is called', () => models.requests.length > calls)
    const [one, two] = await Promise.all([own, ask(there)])
    assert.deepEqual([one.status, two.status], [200, 200])
    assert.deepEqual(two.body, one.body)
    assert.equal(two.headers.get('idempotency-replayed'), 'true')
    assert.equal(models.requests.length, calls + 1)
  })

  test('a reader that comes to another process in mid-answer gets the words while they come', async () => {
    models.queue.push({ tokens: tokens(100), delayMs: 15 })
    const own = await stream(here, { message: 'Long', conversationId })
    const from = await base()
    await wait(300)
    const late = await there.raw('GET', path('/stream'), { headers: { 'last-event-id': String(from + 1) } })
    const pieces: string[] = []
    for await (const piece of late.body!.pipeThrough(new TextDecoderStream())) pieces.push(piece)
    await own.text()
    assert.ok(pieces.length >= 3, `they came in ${pieces.length} pieces`)
    assert.match(pieces.join(''), /\[DONE\]/)
  })

  test('one reply runs at a time, across processes', async () => {
    models.queue.push({ tokens: tokens(20), delayMs: 15 })
    const own = await stream(here, { message: 'Long', conversationId })
    const busy = await say(there, { message: 'Me too', conversationId })
    assert.deepEqual([busy.status, busy.body.error.code], [409, 'CHAT_CONVERSATION_BUSY'])
    await own.text()
  })

  test('stop from another process ends the reply and keeps its text', async () => {
    models.queue.push({ tokens: tokens(1_000), delayMs: 10 })
    const own = await stream(here, { message: 'Endless', conversationId })
    const from = await base()
    await wait(100)
    assert.deepEqual((await there.request('POST', path('/stop'))).body, { data: { stopped: true } })
    const { body } = await there.request('GET', path('/messages'))
    const { text } = await readStream(own, from)
    assert.equal(body.data.at(-1).parts[0].text, text)
  })

  test('the same Idempotency-Key in another process returns the same reply', async () => {
    const key = { 'idempotency-key': newId() }
    models.queue.push({ tokens: tokens(30), delayMs: 15 })
    const own = await stream(here, { message: 'Once' }, key)
    const other = await stream(there, { message: 'Once' }, key)
    const [first, second] = await Promise.all([readStream(own), readStream(other)])
    assert.deepEqual(second.events, first.events)
    const asked = { 'idempotency-key': newId() }
    models.queue.push({ tokens: tokens(30), delayMs: 15 })
    const ask = (who: Client) =>
      who.request('POST', `/agents/${agentId}/chat`, { message: 'Json', stream: false }, asked)
    const answers = await Promise.all([ask(here), ask(there)])
    assert.deepEqual(answers[0].body, answers[1].body)
    assert.equal(answers[0].status, 200)
  })

  test('a takeover in another process silences the reply', async () => {
    const account = { id: here.accountId, plan: 'unlimited' }
    await createMember(services[0].ctx.db, account, { email: 'ann@example.com', name: 'Ann' })
    models.queue.push({ tokens: tokens(1_000), delayMs: 10 })
    const own = await stream(here, { message: 'Endless', conversationId })
    const from = await base()
    await wait(100)
    const taken = await there.request('POST', path('/takeover'), { memberEmail: 'ann@example.com' })
    assert.equal(taken.status, 200)
    const before = (await there.request('GET', path('/messages'))).body.data.length
    const { events } = await readStream(own, from)
    assert.ok(events.some(({ event }) => event === 'data-handoff'))
    assert.equal((await there.request('GET', path('/messages'))).body.data.length, before)
  })
})
