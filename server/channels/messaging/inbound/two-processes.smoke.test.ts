import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { onPostgres } from '../../../../test/database.ts'
import { textWebhook } from '../../../../test/fakes/messaging-wire.ts'
import { type ModelServer, startModelServer } from '../../../../test/fakes/model-server.ts'
import { tokens } from '../../../../test/fakes/reply.ts'
import { envFor, type MessagingHome, now, startMessagingHome } from '../../../../test/messaging-home.ts'
import { type Service, startService } from '../../../../test/start.ts'
import { until } from '../../../../test/until.ts'
import { createMember } from '../../../accounts/records/members.ts'
import { createSender } from '../../outbound/send-deliveries.ts'
import { channels } from '../../registry/channels.ts'

const MESSAGES = 50

let models: ModelServer
let home: MessagingHome
let other: Service | null = null

before(async () => {
  models = await startModelServer()
  const env = { OPENAI_BASE_URL: `${models.url}/v1`, OPENAI_API_KEY: 'k', OPENAI_MODEL: 'fake' }
  home = await startMessagingHome(env, { idle: true })
  if (onPostgres()) other = await startService({ ...env, ...envFor(home.fake) }, home.service, { idle: true })
  await createMember(
    home.service.ctx.db,
    { id: home.client.accountId, plan: 'unlimited' },
    { email: 'ann@example.com', name: 'Ann' },
  )
})
after(async () => {
  await other?.close()
  await home.close()
  await models.close()
})

const messagesOf = (from: string) =>
  home.service.ctx.db
    .selectFrom('messages')
    .innerJoin('conversations', 'conversations.id', 'messages.conversation_id')
    .innerJoin('channel_threads', 'channel_threads.id', 'conversations.thread_id')
    .select(['conversations.id as conversationId', 'role', 'seq', 'messages.parts'])
    .where('peer', '=', `+${from}`)
    .orderBy('seq')
    .execute()
const runningOf = (conversationId: string) =>
  home.service.ctx.db
    .selectFrom('generations')
    .select('id')
    .where('conversation_id', '=', conversationId)
    .where('status', '=', 'running')
    .executeTakeFirst()

/** The random numbers are the same each time, so that a failure can be reproduced. */
function shuffled<T>(items: T[]): T[] {
  let seed = 7
  return items
    .map((item) => {
      seed = (seed * 16_807) % 2_147_483_647
      return { item, place: seed }
    })
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item)
}

describe('one contact in two processes', () => {
  test(`${MESSAGES} concurrent, duplicated and shuffled messages to both processes make one conversation, each once, in order`, async () => {
    const from = '15550106001'
    const start = now() - 200
    const bodies = Array.from({ length: MESSAGES }, (_, i) =>
      textWebhook({ account: '111', number: 'n-1', from }, `many-${i}`, start + i, `Message ${i}`),
    )
    const hosts = [home.service.url, other?.url ?? home.service.url]
    // A busy process may refuse a webhook with 503, and a provider sends it again.
    await Promise.all(
      shuffled([...bodies, ...bodies]).map((body, i) =>
        until('its acceptance', async () => {
          const { status } = await home.webhook(body, { to: hosts[i % 2] ?? '' })
          assert.ok(status === 200 || status === 503, `${status}`)
          return status === 200
        }),
      ),
    )
    // Start processing only now. On a slow machine, the first messages would be processed before the last arrive.
    await Promise.all([home.service.work(), other?.work()])
    const said = await until('all messages', async () => {
      const rows = await messagesOf(from)
      return rows.filter(({ role }) => role === 'user').length >= MESSAGES ? rows : null
    })
    assert.equal(new Set(said.map(({ conversationId }) => conversationId)).size, 1)
    const texts = said
      .filter(({ role }) => role === 'user')
      .map(({ parts }) => (parts[0] as { text: string }).text)
    assert.deepEqual(
      texts,
      Array.from({ length: MESSAGES }, (_, i) => `Message ${i}`),
    )
    const threads = await home.service.ctx.db
      .selectFrom('channel_threads')
      .select('id')
      .where('peer', '=', `+${from}`)
      .execute()
    assert.equal(threads.length, 1)
    await until('the answer', async () => (await messagesOf(from)).some(({ role }) => role === 'assistant'))
    await home.deliver()
    if (other) await createSender(other.ctx, channels).tick()
    assert.equal(home.fake.sent.filter(({ to }) => to === from).length, 1)
  })
})

describe('a person takes over while the agent answers', () => {
  test('afterwards the customer gets nothing from the model, and the person sees new messages', async () => {
    const from = '15550106002'
    models.queue.push({ tokens: tokens(200), delayMs: 25 })
    await home.say('take-1', now(), 'A long question', from)
    const [first] = await until('the generation', async () => {
      const rows = await messagesOf(from)
      return rows[0] && (await runningOf(rows[0].conversationId)) ? rows : null
    })
    const conversationId = first?.conversationId ?? ''
    const path = `/agents/${home.agentId}/conversations/${conversationId}`
    const taken = await home.client.request('POST', `${path}/takeover`, { memberEmail: 'ann@example.com' })
    assert.equal(taken.status, 200)
    await until('its end', async () => !(await runningOf(conversationId)))
    await home.say('take-2', now() + 1, 'Are you there?', from)
    await until(
      'the second message',
      async () => (await messagesOf(from)).filter(({ role }) => role === 'user').length === 2,
    )
    await home.deliver()
    assert.deepEqual(
      home.fake.sent.filter(({ to }) => to === from),
      [],
    )
    assert.ok((await messagesOf(from)).every(({ role }) => role === 'user'))
    const shown = await home.service.ctx.db
      .selectFrom('ticket_messages')
      .innerJoin('tickets', 'tickets.id', 'ticket_messages.ticket_id')
      .select('content_text')
      .where('tickets.conversation_id', '=', conversationId)
      .execute()
    assert.ok(shown.some(({ content_text }) => content_text === 'Are you there?'))
    const queued = await home.service.ctx.db
      .selectFrom('deliveries')
      .select('id')
      .where('conversation_id', '=', conversationId)
      .execute()
    assert.deepEqual(queued, [])
  })

  test('in a paused conversation, messages are stored and not answered', async () => {
    const from = '15550106003'
    await home.say('pause-1', now() - 3, 'Hello', from)
    const [first] = await until('the answer', async () => {
      const rows = await messagesOf(from)
      return rows.some(({ role }) => role === 'assistant') ? rows : null
    })
    const path = `/agents/${home.agentId}/conversations/${first?.conversationId}`
    assert.equal((await home.client.request('PATCH', path, { paused: true })).status, 200)
    const before = models.requests.length
    await home.say('pause-2', now(), 'Anybody?', from)
    await until(
      'the second message',
      async () => (await messagesOf(from)).filter(({ role }) => role === 'user').length === 2,
    )
    await home.deliver()
    assert.equal((await messagesOf(from)).at(-1)?.role, 'user')
    assert.equal(models.requests.length, before)
  })
})

describe('deliveries of many threads', () => {
  test('two processes that send at the same time send each delivery once', async () => {
    const people = Array.from({ length: 12 }, (_, i) => `155501070${10 + i}`)
    await Promise.all(people.map((from) => home.say(`both-${from}`, now(), 'Hello', from)))
    await until('the queue', async () => {
      const { n } = await home.service.ctx.db
        .selectFrom('deliveries')
        .select((eb) => eb.fn.countAll<number>().as('n'))
        .where('status', '=', 'queued')
        .executeTakeFirstOrThrow()
      return Number(n) === people.length
    })
    const senders = [home.service, other ?? home.service].map(({ ctx }) => createSender(ctx, channels))
    await Promise.all(senders.map((sender) => sender.tick()))
    await Promise.all(senders.map((sender) => sender.idle()))
    const sent = home.fake.sent.filter(({ to }) => people.includes(to)).map(({ to }) => to)
    assert.deepEqual(sent.sort(), people.sort())
  })
})
