import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, test } from 'node:test'
import { Chat } from '@ai-sdk/react'
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithToolCalls, type UIMessage } from 'ai'
import { sql } from 'kysely'
import { type ModelServer, startModelServer } from '../../../test/fakes/model-server.ts'
import { readStream } from '../../../test/read-stream.ts'
import { type Answer, type Client, type Service, startService } from '../../../test/start.ts'
import { trained, until } from '../../../test/until.ts'
import { json } from '../../platform/db/statements/json.ts'
import { V2 } from '../../platform/http/contract.ts'

/** Clients that know only what service-api documents: they consider every tool-call part theirs to answer. */

let models: ModelServer
let shop: Server
let folder: string
let service: Service
let client: Client
let agentId: string

before(async () => {
  models = await startModelServer()
  shop = createServer((_request, response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"state":"sent"}'),
  )
  await new Promise<void>((resolve) => shop.listen(0, '127.0.0.1', resolve))
  folder = await mkdtemp(join(tmpdir(), 'parley-plans-'))
  const plansFile = join(folder, 'plans.json')
  await writeFile(plansFile, JSON.stringify({ pro: { rateLimit: '250/5' } }))
  service = await startService({
    RATE_LIMIT: '150/10',
    PLANS_FILE: plansFile,
    ...models.settings,
    ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
  })
})
after(async () => {
  await service.close()
  await models.close()
  shop.close()
  await rm(folder, { recursive: true })
})
beforeEach(async () => {
  models.queue.length = 0
  client = await service.account()
  agentId = (await client.request('POST', '/agents', { name: 'Agent' })).body.id
  const url = `http://127.0.0.1:${(shop.address() as AddressInfo).port}/orders/{{order}}`
  const inputs = { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] }
  const actions = [
    { name: 'find_order', type: 'http', inputs, http: { method: 'GET', url } },
    { name: 'show_map', type: 'client', inputs },
  ]
  for (const action of actions) {
    const { status } = await client.request('POST', `/agents/${agentId}/actions`, {
      description: 'd',
      ...action,
    })
    assert.equal(status, 201)
  }
})

type Part = { type: string; toolCallId: string; toolName: string }

const chat = (body: object): Promise<Answer> => client.request('POST', `/agents/${agentId}/chat`, body)
const open = (body: object) =>
  client.raw('POST', `/agents/${agentId}/chat`, {
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  })
const pathOf = (conversationId: string): string => `/agents/${agentId}/conversations/${conversationId}`
const typesOf = (parts: { type: string }[]) => parts.map(({ type }) => type)
const call = (name: string, id: string, input: unknown = { order: 'A1' }) => ({ id, name, input })

async function answerCalls(conversationId: string, parts: Part[]): Promise<number> {
  const calls = parts.filter(({ type }) => type === 'tool-call' || type === 'tool-input-available')
  for (const { toolCallId, toolName } of calls) {
    assert.equal(toolName, 'show_map', 'only actions of the application are shown')
    const result = { toolCallId, output: 'done' }
    const { status } = await client.request('POST', `${pathOf(conversationId)}/tool-result`, result)
    assert.equal(status, 200)
  }
  return calls.length
}

/** A step with one of the service's actions, a step with both kinds and a broken call, and text. */
function pushJourney(): void {
  models.queue.push(
    { tokens: ['Let me see. '], toolCalls: [call('find_order', 'call_1')] },
    {
      toolCalls: [
        call('find_order', 'call_2'),
        call('show_map', 'call_3', { order: 7 }),
        call('show_map', 'call_4'),
      ],
    },
    { tokens: ['There.'] },
  )
}

test('a plain client that answers every tool-call part never gets a 404', async () => {
  pushJourney()
  const { body } = await chat({ message: 'Where is it?', stream: false })
  const { conversationId, finishReason } = body.data.metadata
  assert.deepEqual([typesOf(body.data.parts), finishReason], [['text', 'tool-call'], 'tool-calls'])
  assert.equal(await answerCalls(conversationId, body.data.parts), 1)
  const last = await chat({ conversationId, stream: false })
  assert.deepEqual(last.body.data.parts, [{ type: 'text', text: 'There.' }])

  const { data } = (await client.request('GET', pathOf(conversationId))).body
  assert.deepEqual(typesOf(data.messages[1].parts), ['text', 'tool-call', 'tool-result', 'text'])
  const list = await client.request('GET', `${pathOf(conversationId)}/messages?includeServerActions=true`)
  const all: (Part & { providerExecuted?: true })[] = list.body.data[1].parts
  assert.equal(all.length, 10)
  assert.equal(all.filter(({ providerExecuted }) => providerExecuted).length, 6)
  const exported = await client.request(
    'GET',
    `/agents/${agentId}/conversations/export?conversationId=${conversationId}`,
  )
  assert.equal(exported.body.data[0].messages[1].parts.length, 10, 'exports show all that happened')
})

test('the stream shows the same calls, only once they wait, also to readers that attach or repeat the request', async () => {
  pushJourney()
  const key = { 'idempotency-key': 'streamed' }
  const send = () =>
    client.raw('POST', `/agents/${agentId}/chat`, {
      body: JSON.stringify({ message: 'Where is it?' }),
      headers: { 'content-type': 'application/json', ...key },
    })
  const { events } = await readStream(await send())
  const shown = events.map(({ data }) => data as never as Part)
  assert.equal(shown.filter(({ type }) => type.startsWith('tool-input-start')).length, 1)
  assert.ok(!typesOf(shown).includes('tool-output-available'))
  assert.ok(!JSON.stringify(shown).includes('find_order'))
  const again = await readStream(await send())
  assert.deepEqual(
    again.events.map(({ id }) => id),
    events.map(({ id }) => id),
  )
  const { conversationId } = (events[1]!.data as never as { messageMetadata: { conversationId: string } })
    .messageMetadata
  assert.equal(await answerCalls(conversationId, shown), 1)
})

test('a call that comes to nothing, because its answer is stopped or fails, is never shown', async () => {
  models.queue.push({ tokens: ['So. '], toolCalls: [call('show_map', 'call_1')], withoutFinish: true })
  const { events } = await readStream(await open({ message: 'Where?' }))
  const shown = events.map(({ data }) => data as never as Part)
  assert.ok(!typesOf(shown).some((type) => type.startsWith('tool-')), typesOf(shown).join())
  const { conversationId } = (events[1]!.data as never as { messageMetadata: { conversationId: string } })
    .messageMetadata
  const { data } = (await client.request('GET', pathOf(conversationId))).body
  assert.deepEqual(typesOf(data.messages[1].parts), ['text'])
})

test("the AI SDK's chat, which runs every call that it is shown, completes the answer", async () => {
  pushJourney()
  const statuses: number[] = []
  let conversationId: string | undefined
  const authorization = `Bearer ${client.key}`
  const talk: Chat<UIMessage> = new Chat<UIMessage>({
    transport: new DefaultChatTransport({
      api: `${service.url}${V2}/agents/${agentId}/chat`,
      headers: { authorization },
      prepareSendMessagesRequest: ({ messages }) => {
        const last = messages.at(-1)
        const text = last?.parts.find((part) => part.type === 'text')?.text
        const said = last?.role === 'user' ? { message: text } : {}
        return { body: { ...said, ...(conversationId ? { conversationId } : {}) } }
      },
    }),
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
    onToolCall({ toolCall }) {
      const { toolCallId, toolName } = toolCall
      const { metadata } = talk.messages.at(-1) as { metadata?: { conversationId: string } }
      conversationId = metadata?.conversationId
      void client
        .request('POST', `${pathOf(conversationId ?? '')}/tool-result`, { toolCallId, output: 'done' })
        .then(({ status }) => {
          statuses.push(status)
          return talk.addToolOutput({ tool: toolName, toolCallId, output: 'done' })
        })
    },
    onError: (error) => assert.fail(error),
  })
  await talk.sendMessage({ text: 'Where is it?' })
  await until(
    'the last answer',
    () => talk.status === 'ready' && JSON.stringify(talk.messages).includes('There.'),
  )
  assert.deepEqual(statuses, [200])
})

test('a provider that reports calls without sending one has simply stopped', async () => {
  models.queue.push({ tokens: ['Hello.'], finishReason: 'tool_calls' })
  const { body } = await chat({ message: 'Hi', stream: false })
  assert.equal(body.data.metadata.finishReason, 'stop')
})

test('an answer of the built-in responder is marked as such, and every answer has a list of sources', async () => {
  await client.request('PUT', `/agents/${agentId}`, { model: 'builtin' })
  const content = 'Every lamp has a warranty of five years.'
  const source = { type: 'text', name: 'Warranty', content }
  await trained(service, (await client.request('POST', `/agents/${agentId}/sources`, source)).body.id)
  const ask = async (message: string, conversationId?: string) =>
    (await chat({ message, conversationId, stream: false })).body.data.metadata
  const answered = await ask('How long is the warranty of a lamp?')
  assert.deepEqual([answered.outcome, answered.sources.length], ['answered', 1])
  const { conversationId } = answered
  const declined = await ask('Who painted the Mona Lisa?', conversationId)
  assert.deepEqual([declined.outcome, declined.sources], ['not_found', []])
  assert.equal((await ask('Hello', conversationId)).outcome, null)
  await client.request('PUT', `/agents/${agentId}`, { model: 'auto' })
  models.queue.push({ tokens: ['Five years.'] })
  const other = await ask('How long is the warranty of a lamp?', conversationId)
  assert.deepEqual([other.outcome, other.sources], [null, []])
  const { data } = (await client.request('GET', pathOf(conversationId))).body
  assert.deepEqual(
    data.messages.map(({ metadata }: { metadata?: { outcome: string } }) => metadata?.outcome),
    [undefined, 'answered', undefined, 'not_found', undefined, null, undefined, null],
  )
})

test('a message of the assistant always has a score, null if nothing was scored', async () => {
  models.queue.push({ status: 400 }, { tokens: ['Hello.'] })
  const failed = await chat({ message: 'Hi', stream: false })
  assert.equal(failed.status, 502)
  const { body } = await chat({ message: 'Hi', stream: false })
  const { conversationId, score } = body.data.metadata
  assert.equal(score, null, 'the agent has nothing to search')
  await service.ctx.db
    .updateTable('messages')
    .set({ metadata: json({ author: { type: 'human_agent', name: 'Ann', memberId: 'm' } }) })
    .where('conversation_id', '=', conversationId)
    .where('role', '=', 'assistant')
    .execute()
  const { data } = (await client.request('GET', pathOf(conversationId))).body
  assert.deepEqual(data.messages[1].metadata, {
    score: null,
    outcome: null,
    author: { type: 'human_agent', name: 'Ann' },
  })
  assert.equal(data.messages[0].metadata, undefined)
})

for (const source of ['Widget or Iframe', 'Messaging', 'Email', 'Playground']) {
  test(`a conversation from "${source}" can be chatted with, continued, retried and followed`, async () => {
    models.queue.push({ toolCalls: [call('show_map', 'call_1')] })
    const { body } = await chat({ message: 'Where?', stream: false })
    const { conversationId } = body.data.metadata
    const conversations = service.ctx.db.updateTable('conversations').where('id', '=', conversationId)
    await conversations.set({ source }).execute()
    assert.equal(await answerCalls(conversationId, body.data.parts), 1)
    models.queue.push({ tokens: ['There.'] }, { tokens: ['Second.'] }, { tokens: ['Again.'] })
    assert.equal((await chat({ conversationId, stream: false })).status, 200)
    const second = await chat({ conversationId, message: 'And?', stream: false })
    assert.equal(second.body.data.parts[0].text, 'Second.')
    const retried = await client.request('POST', `${pathOf(conversationId)}/retry`, {
      messageId: second.body.data.id,
      stream: false,
    })
    assert.equal(retried.body.data.parts[0].text, 'Again.')
    assert.equal((await client.raw('GET', `${pathOf(conversationId)}/stream`)).status, 204)
    const read = await client.request('GET', pathOf(conversationId))
    assert.deepEqual([read.status, read.body.error.message.includes(source)], [404, true])
    await conversations.set({ status: 'paused' }).execute()
    const paused = await chat({ conversationId, message: 'Hello?', stream: false })
    assert.deepEqual([paused.status, paused.body.error.details], [409, { status: 'paused' }])
  })
}

test('the migration marks stored parts that do not say who ran a call', async () => {
  pushJourney()
  const { body } = await chat({ message: 'Where is it?', stream: false })
  const { conversationId } = body.data.metadata
  const unmarked = sql`update messages set parts = (select jsonb_agg(part - 'providerExecuted' order by place)
    from jsonb_array_elements(parts) with ordinality as element (part, place))
    where conversation_id = ${conversationId} and role = 'assistant'`
  await unmarked.execute(service.ctx.db)
  const messages = async () =>
    (await client.request('GET', pathOf(conversationId))).body.data.messages[1].parts
  assert.equal((await messages()).length, 8)
  const migration = new URL('../../platform/db/migrations/0051_calls_run_here.sql', import.meta.url)
  await sql.raw(await readFile(migration, 'utf8')).execute(service.ctx.db)
  assert.deepEqual(typesOf(await messages()), ['text', 'tool-call'])
})

test('the operator sets the rate limit, also for a single plan', async () => {
  const limitOf = async (plan: 'standard' | 'pro') => {
    const { headers } = await (await service.account({ plan })).request('GET', '/agents')
    return Number(headers.get('x-ratelimit-limit')) - Number(headers.get('x-ratelimit-remaining'))
  }
  assert.deepEqual([await limitOf('standard'), await limitOf('pro')], [1, 1])
  const pro = await service.account({ plan: 'pro' })
  const answers = await Promise.all(Array.from({ length: 260 }, () => pro.raw('GET', '/agents')))
  const passed = answers.filter(({ status }) => status === 200)
  assert.ok(passed.length >= 250, String(passed.length))
  for (const answer of answers) {
    assert.equal(answer.headers.get('x-ratelimit-limit'), '250')
    await answer.text()
  }
  assert.equal((await service.anonymous('GET', '/health')).headers.get('x-ratelimit-limit'), '150')
})

test('the smallest plan has version 1, and version 2 rejects it with the reason', async () => {
  const free = await service.account({ plan: 'free' })
  assert.equal((await free.request('GET', '/api/v1/get-chatbots')).status, 200)
  const { status, body } = await free.request('GET', '/agents')
  assert.deepEqual([status, body.error.code], [403, 'SUBSCRIPTION_API_RESTRICTED_PLAN'])
})

test('unknown fields are ignored at any depth, and known ones are still validated', async () => {
  const styles = { chat: { theme: 'dark', sparkle: 1, mobile: { showAutoOpen: true, shake: 2 } }, extra: [] }
  const answer = await client.request('PUT', `/agents/${agentId}/styles?debug=1`, { styles, 'ä,b': 1 })
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  const named = answer.headers.get('x-parley-ignored-fields')?.split(',').sort()
  assert.deepEqual(named, [
    '%C3%A4%2Cb',
    'debug',
    'styles.chat.mobile.shake',
    'styles.chat.sparkle',
    'styles.extra',
  ])
  const { body } = await client.request('GET', `/agents/${agentId}`)
  assert.deepEqual([body.styles.chat.theme, body.styles.chat.sparkle], ['dark', undefined])
  const wrong = await client.request('PUT', `/agents/${agentId}/styles`, {
    styles: { chat: { theme: 7, x: 1 } },
  })
  assert.deepEqual([wrong.status, Object.keys(wrong.body.error.details)], [400, ['styles.chat.theme']])
  const many = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`field${n}`, n]))
  const cut = await chat({ message: 'Hi', ...many })
  assert.equal(cut.headers.get('x-parley-ignored-fields')?.split(',').length, 20, 'on streams, too')
  const v1 = { chatbotId: agentId, styles: { theme: 'light', sparkle: 1 }, whim: true }
  const old = await client.request('POST', '/api/v1/update-chatbot-settings', v1)
  assert.equal(old.headers.get('x-parley-ignored-fields'), 'whim,styles.sparkle')
  assert.equal((await client.request('GET', `/agents/${agentId}`)).body.styles.chat.theme, 'light')
})

test('a message has up to 100,000 characters, and a body up to 1 MiB', async () => {
  models.queue.push({ tokens: ['Long.'] })
  const { status, body } = await chat({ message: 'x'.repeat(100_000), stream: false })
  assert.equal(status, 200, JSON.stringify(body))
  const longer = await chat({ message: 'x'.repeat(100_001) })
  assert.deepEqual([longer.status, Object.keys(longer.body.error.details)], [400, ['message']])
  const bytes = (count: number) => ({
    message: '',
    more: 'x'.repeat(count - '{"message":"","more":""}'.length),
  })
  assert.deepEqual(Object.keys((await chat(bytes(2 ** 20))).body.error.details), ['message'])
  const larger = await chat(bytes(2 ** 20 + 1))
  assert.deepEqual([larger.status, larger.body.error.code], [413, 'VALIDATION_BODY_TOO_LARGE'])
})

test('an empty cursor asks for the first page', async () => {
  const { conversationId } = (await chat({ message: 'Hi', stream: false })).body.data.metadata
  for (const list of ['conversations', 'conversations/export']) {
    const { status, body } = await client.request('GET', `/agents/${agentId}/${list}?cursor=`)
    assert.deepEqual([status, body.data?.map(({ id }: { id: string }) => id)], [200, [conversationId]], list)
  }
  assert.equal((await client.request('GET', `/agents/${agentId}/conversations/search?cursor=`)).status, 200)
  for (const bad of ['limit=', 'limit=0', 'startDate='])
    assert.equal((await client.request('GET', `/agents/${agentId}/conversations?${bad}`)).status, 400, bad)
})

test('only the start of the searched range is bounded', async () => {
  const search = (query: string) => client.request('GET', `/agents/${agentId}/conversations/search?${query}`)
  for (const name of ['endDate', 'updatedAfter', 'updatedBefore'])
    assert.equal((await search(`${name}=2001-01-01`)).status, 200, name)
  assert.deepEqual(Object.keys((await search('startDate=2001-01-01')).body.error.details), ['startDate'])
})
