import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { messageWebhook } from '../../../../test/fakes/messaging-wire.ts'
import { type ModelServer, startModelServer } from '../../../../test/fakes/model-server.ts'
import { NEVER } from '../../../../test/fakes/reply.ts'
import {
  ACCOUNT,
  type MessagingHome,
  NUMBER,
  now,
  startMessagingHome,
} from '../../../../test/messaging-home.ts'
import { until } from '../../../../test/until.ts'

let models: ModelServer
let home: MessagingHome
before(async () => {
  models = await startModelServer()
  home = await startMessagingHome({ ...models.settings, ALLOWED_PRIVATE_HOSTS: '127.0.0.1' })
})
after(async () => {
  await home.close()
  await models.close()
})
beforeEach(() => {
  models.queue.length = 0
  models.otherwise(() => ({ tokens: ['An answer.'] }))
})

const start = now() - 600
const receive = (from: string, id: string, second: number, part: { type: string; [part: string]: unknown }) =>
  home.webhook(messageWebhook({ account: ACCOUNT, number: NUMBER, from }, id, start + second, part))
const write = (from: string, id: string, second: number, body: string) =>
  receive(from, id, second, { type: 'text', text: { body } })
const edit = (from: string, original: string, second: number, body: string) =>
  receive(from, `edit-${original}-${second}`, second, {
    type: 'edit',
    edit: { original_message_id: original, message: { type: 'text', text: { body } } },
  })
const revoke = (from: string, original: string, second: number) =>
  receive(from, `revoke-${original}`, second, {
    type: 'revoke',
    revoke: { original_message_id: original },
  })

const agentPath = () => `/agents/${home.agentId}`
type Read = { id: string; role: string; parts: { text: string }[]; editedAt?: number; deletedAt?: number }

/** Reads the conversation of a person as an application does. */
async function messagesOf(from: string): Promise<Read[]> {
  const row = await home.service.ctx.db
    .selectFrom('conversations')
    .innerJoin('channel_threads', 'channel_threads.id', 'conversations.thread_id')
    .select('conversations.id')
    .where('peer', '=', `+${from}`)
    .executeTakeFirst()
  if (!row) return []
  const path = `${agentPath()}/conversations/export?conversationId=${row.id}`
  const { body } = await home.client.request('GET', path)
  return body.data[0].messages
}
const answersOf = async (from: string) => (await messagesOf(from)).filter(({ role }) => role === 'assistant')
const askedOf = async (from: string) => (await messagesOf(from)).filter(({ role }) => role === 'user')
const answered = (from: string, count = 1) =>
  until('the answer', async () => ((await answersOf(from)).length >= count ? true : undefined))
/** The questions that reached the model, as text. */
const prompts = () => models.requests.map(({ body }) => JSON.stringify(body))
const searched = async (query: string): Promise<number> => {
  const { body } = await home.client.request(
    'GET',
    `${agentPath()}/conversations/search?query=${encodeURIComponent(query)}`,
  )
  return body.data?.length ?? 0
}

test('an edit of an answered message changes its text and is not answered', async () => {
  const from = '15550103001'
  await write(from, 'a-1', 0, 'Do you ship to Astria?')
  await answered(from)
  const asked = models.requests.length
  assert.equal((await edit(from, 'a-1', 20, 'Do you ship to Austria?')).status, 200)
  const [message] = await askedOf(from)
  assert.equal(message?.parts[0]?.text, 'Do you ship to Austria?')
  assert.equal(message?.editedAt, start + 20)
  await edit(from, 'a-1', 10, 'An older edit that comes late')
  assert.equal((await askedOf(from))[0]?.parts[0]?.text, 'Do you ship to Austria?')
  await write(from, 'a-2', 30, 'Thanks')
  await answered(from, 2)
  assert.equal((await answersOf(from)).length, 2)
  assert.ok(models.requests.length > asked)
  assert.ok(
    !prompts()
      .slice(asked)
      // The title of the first answer may be asked for after it.
      .some((prompt) => prompt.includes('Astria') && !prompt.includes('Write a title')),
  )
})

test('an edit before its message is the message, and is answered once', async () => {
  const from = '15550103002'
  await edit(from, 'b-1', 20, 'The right words')
  await write(from, 'b-1', 0, 'The wrong words')
  await answered(from)
  const asked = await askedOf(from)
  assert.deepEqual(
    asked.map(({ parts, editedAt }) => [parts[0]?.text, editedAt]),
    [['The right words', start + 20]],
  )
  assert.ok(!prompts().some((prompt) => prompt.includes('The wrong words')))
})

test('an edit while the answer is being made is what is answered', async () => {
  const from = '15550103003'
  models.otherwise(({ body }) =>
    JSON.stringify(body).includes('blue one') ? { tokens: ['Blue.'] } : { after: NEVER, tokens: ['Red.'] },
  )
  await write(from, 'c-1', 0, 'How much is the red one?')
  await until('the first call', async () =>
    prompts().some((prompt) => prompt.includes('red one')) ? true : undefined,
  )
  await edit(from, 'c-1', 20, 'How much is the blue one?')
  await answered(from)
  assert.deepEqual(
    (await answersOf(from)).map(({ parts }) => parts[0]?.text),
    ['Blue.'],
  )
})

test('a deleted message leaves reads, search and prompts at once', async () => {
  const from = '15550103004'
  await write(from, 'd-1', 0, 'My pin is zanzibar')
  await answered(from)
  await home.service.ctx.indexer.run(home.service.ctx.db)
  assert.equal(await searched('zanzibar'), 1)
  const asked = models.requests.length
  await revoke(from, 'd-1', 20)
  assert.equal(await searched('zanzibar'), 0)
  const [message] = await askedOf(from)
  assert.deepEqual(message?.parts, [])
  assert.equal(message?.deletedAt, start + 20)
  await edit(from, 'd-1', 30, 'My pin is zanzibar after all')
  await write(from, 'd-1', 0, 'My pin is zanzibar')
  await write(from, 'd-2', 40, 'Another question')
  await answered(from, 2)
  assert.ok(
    !prompts()
      .slice(asked)
      .some((prompt) => prompt.includes('zanzibar')),
  )
  const { db } = home.service.ctx
  const stored = JSON.stringify([
    await db.selectFrom('messages').select('parts').execute(),
    await db.selectFrom('inbound_messages').select('content').execute(),
    await db.selectFrom('conversations').select('title').execute(),
    await db.selectFrom('tickets').select(['subject', 'description']).execute(),
    await db.selectFrom('ticket_messages').select(['content', 'content_text']).execute(),
  ])
  assert.ok(!stored.includes('zanzibar'))
})

test('a message that is deleted before it arrives or while it is answered is not answered', async () => {
  const from = '15550103005'
  await revoke(from, 'e-1', 20)
  await write(from, 'e-1', 0, 'Never mind')
  models.otherwise(({ body }) =>
    JSON.stringify(body).includes('withdrawn') ? { after: NEVER, tokens: ['x'] } : { tokens: ['Fine.'] },
  )
  await write(from, 'e-2', 30, 'This will be withdrawn')
  await until('the call', async () =>
    prompts().some((prompt) => prompt.includes('withdrawn')) ? true : undefined,
  )
  await revoke(from, 'e-2', 40)
  await write(from, 'e-3', 50, 'A real question')
  await answered(from)
  assert.deepEqual(
    (await messagesOf(from)).map(({ role, parts }) => [role, parts[0]?.text]),
    [
      ['user', undefined],
      ['user', 'A real question'],
      ['assistant', 'Fine.'],
    ],
  )
  assert.ok(!prompts().some((prompt) => prompt.includes('Never mind')))
})
