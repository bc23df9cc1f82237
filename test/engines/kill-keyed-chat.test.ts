import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type ModelServer, startModelServer } from '../fakes/model-server.ts'
import { NEVER, tokens } from '../fakes/reply.ts'
import { newKey } from '../new-key.ts'
import { type Home, newHome, parley, type Running, spawnService } from '../spawn-service.ts'
import { type Client, clientOf } from '../start.ts'
import { until } from '../until.ts'
import { withoutBlocks } from '../without-blocks.ts'

/** Kills the service while it answers a chat with an Idempotency-Key, and repeats the request. */

let models: ModelServer
let home: Home
let running: Running
let client: Client
let agentId: string

const env = () => ({
  ...home.env,
  OPENAI_BASE_URL: `${models.url}/v1`,
  OPENAI_API_KEY: 'k',
  OPENAI_MODEL: 'fake',
})

before(async () => {
  models = await startModelServer()
  home = await newHome()
  const key = await newKey(home)
  running = await spawnService(env())
  client = clientOf(running.url, key)
  agentId = (await client.request('POST', '/agents', { name: 'Agent' })).body.id
})
after(async () => {
  await running.kill('SIGKILL')
  await home.remove()
  await models.close()
})

const ask = (key: string) =>
  client.raw('POST', `/agents/${agentId}/chat`, {
    body: JSON.stringify({ message: `What about ${key}?` }),
    headers: { 'content-type': 'application/json', 'idempotency-key': key },
  })

/** How often the model was asked about the chat with this key. */
const callsAbout = (key: string): number =>
  models.requests.filter(
    ({ body }) => withoutBlocks(body.messages?.at(-1)?.content ?? '') === `What about ${key}?`,
  ).length

/** The messages of all conversations with the question of this key, and what the account has been charged in total. */
async function outcomeOf(key: string) {
  const { body: list } = await client.request('GET', `/agents/${agentId}/conversations`)
  const all = await Promise.all(
    list.data.map(({ id }: { id: string }) =>
      client.request('GET', `/agents/${agentId}/conversations/${id}/messages`),
    ),
  )
  const conversations: Message[][] = all.map(({ body }) => body.data)
  const { body: usage } = await client.request('GET', '/usage')
  return {
    conversations: conversations.filter(([first]) => textOf(first) === `What about ${key}?`),
    charged: usage.total,
    calls: callsAbout(key),
  }
}

type Message = { role: string; parts: { type: string; text?: string }[] }

const textOf = (message: Message | undefined): string =>
  message?.parts.map(({ text = '' }) => text).join('') ?? ''

async function killAndStart(): Promise<void> {
  await running.kill('SIGKILL')
  running = await spawnService(env())
  client = clientOf(running.url, client.key)
}

/** Repeats the request until it is answered: on PostgreSQL, it takes some seconds until the dead process is known. */
async function askAgain(key: string) {
  let response = await ask(key)
  await until('an answer', async () => {
    if (response.status === 200) return true
    await response.text()
    response = await ask(key)
    return false
  })
  const text = await response.text()
  assert.ok(text.endsWith('data: [DONE]\n\n'), text)
  return [...text.matchAll(/"delta":"([^"]*)"/g)].map(([, delta]) => delta).join('')
}

const whole = tokens(50).join('')

test('a chat that was killed before its first word is asked again under its key, and charged once', async () => {
  models.queue.push({ after: NEVER }, { tokens: tokens(50) })
  const lost = ask('soup').then((response) => response.text())
  lost.catch(() => {})
  await until('the call of the model', () => callsAbout('soup') === 1)
  await killAndStart()
  await assert.rejects(lost)
  const answers = [await askAgain('soup'), await askAgain('soup')]
  assert.deepEqual(answers, [whole, whole])
  const { conversations, charged, calls } = await outcomeOf('soup')
  assert.deepEqual(
    conversations.map((messages) => messages.map(({ role }) => role)),
    [['user', 'assistant']],
  )
  assert.deepEqual(charged, { replies: 1, credits: 1 })
  assert.equal(calls, 2)
})

test('a chat that was killed after some words keeps them under its key, and the model is not asked again', async () => {
  models.queue.push({ tokens: tokens(50), beforeToken: (index) => (index < 5 ? Promise.resolve() : NEVER) })
  const response = await ask('salad')
  let shown = ''
  const reading = (async () => {
    for await (const part of response.body ?? []) shown += new TextDecoder().decode(part)
  })()
  reading.catch(() => {})
  await until('words', () => shown.includes('token4'))
  // What is shown is stored within a quarter of a second.
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  await killAndStart()
  await assert.rejects(reading)
  const first = await askAgain('salad')
  const second = await askAgain('salad')
  const { conversations, charged, calls } = await outcomeOf('salad')
  assert.deepEqual(
    conversations.map((messages) => messages.map(({ role }) => role)),
    [['user', 'assistant']],
  )
  const stored = textOf(conversations[0]?.[1])
  assert.ok(stored !== '' && whole.startsWith(stored), stored)
  assert.deepEqual([first, second], [stored, stored])
  assert.deepEqual(charged, { replies: 2, credits: 2 })
  assert.equal(calls, 1)
  const { stdout, stderr } = await parley(['reconcile', '--json'], env())
  assert.deepEqual(JSON.parse(stdout || '{}'), { balanced: true, difference: 0 }, stderr)
})
