import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, beforeEach, test } from 'node:test'
import { readStream } from '../../../test/read-stream.ts'
import { type Answer, type Client, type Service, startService } from '../../../test/start.ts'

/** The deltas of one answer, each of which may be any shape that a server sends, and its end. */
type Told = { deltas: object[]; finish?: string | null }
type Seen = { messages: Record<string, unknown>[]; tool_choice?: string }

let server: Server
let service: Service
let client: Client
let agentId: string
const queue: Told[] = []
const requests: Seen[] = []

before(async () => {
  server = createServer(async (request, response) => {
    let text = ''
    for await (const piece of request) text += piece
    const isTitle = text.includes('Write a title')
    if (!isTitle) requests.push(JSON.parse(text))
    const { deltas, finish = 'stop' } = (isTitle ? undefined : queue.shift()) ?? {
      deltas: [{ content: 'Nothing is left.' }],
    }
    const chunk = (delta: object, finish_reason: string | null = null) =>
      `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const delta of deltas) response.write(chunk(delta))
    response.end(`${finish === null ? '' : chunk({}, finish)}data: [DONE]\n\n`)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  service = await startService({
    OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`,
    OPENAI_API_KEY: 'none',
    OPENAI_MODEL: 'a-model',
  })
})
after(async () => {
  await service.close()
  server.close()
})
beforeEach(async () => {
  queue.length = 0
  requests.length = 0
  client = await service.account()
  agentId = (await client.request('POST', '/agents', { name: 'Agent' })).body.id
})

const written = (...pieces: string[]): Told => ({ deltas: pieces.map((content) => ({ content })) })
const say = (body: object): Promise<Answer> =>
  client.request('POST', `/agents/${agentId}/chat`, { stream: false, ...body })
const stream = async (message: string) =>
  readStream(
    await client.raw('POST', `/agents/${agentId}/chat`, {
      body: JSON.stringify({ message }),
      headers: { 'content-type': 'application/json' },
    }),
  )
async function storedText(conversationId: string): Promise<string> {
  const { body } = await client.request('GET', `/agents/${agentId}/conversations/${conversationId}/messages`)
  return JSON.stringify(body.data.at(-1).parts)
}

test('reasoning that a model writes before its answer is not shown', async () => {
  const cases: [string[], string][] = [
    [['<think>secret plan</think>\n\nHello there.'], 'Hello there.'],
    [['<th', 'ink>sec', 'ret plan</', 'think', '>Hello', ' there.'], 'Hello there.'],
    [['\n<thought>secret plan', '</thought> Hello there.'], 'Hello there.'],
    [['<', 'b>Hello</b> there.'], '<b>Hello</b> there.'],
    [['Write `<think>secret plan</think>`.'], 'Write `<think>secret plan</think>`.'],
    [['```\n<think>\n</think>\n```\nThat is it.'], '```\n<think>\n</think>\n```\nThat is it.'],
  ]
  for (const [pieces, expected] of cases) {
    queue.push(written(...pieces))
    const { text } = await stream('Hello')
    assert.equal(text, expected)
  }
})

test('reasoning that ends with a tag but does not begin with one is not kept, and later not shown', async () => {
  queue.push(written('secret plan', '</think>', '\nHello there.'))
  const { body } = await say({ message: 'Hello' })
  assert.deepEqual(body.data.parts, [{ type: 'text', text: 'Hello there.' }])
  assert.doesNotMatch(await storedText(body.data.metadata.conversationId), /secret/)
  queue.push(written('another ', 'secret plan</th', 'ink>Hello again.'))
  assert.equal((await stream('Hello')).text, 'Hello again.')
  queue.push(written('An answer ', 'without reasoning.'))
  assert.equal((await stream('Hello')).text, 'An answer without reasoning.')
})

test('an answer without words is asked for again once, and costs nothing', async () => {
  const silences: Told[] = [
    { deltas: [] },
    written('<think>I was cut off'),
    written('[1]', ' [2]'),
    { deltas: [{ reasoning_content: 'a plan' }] },
    { deltas: [], finish: 'content_filter' },
    { deltas: [], finish: 'length' },
  ]
  for (const silence of silences) {
    requests.length = 0
    queue.push(silence, written('Here it is.'))
    const { body } = await say({ message: 'Hello' })
    assert.deepEqual([body.data.parts, requests.length], [[{ type: 'text', text: 'Here it is.' }], 2])
    assert.equal(body.data.metadata.usage.credits, 1)

    requests.length = 0
    queue.push(silence, silence)
    const { body: empty } = await say({ message: 'Hello' })
    assert.deepEqual([empty.data.parts, requests.length], [[], 2])
    assert.equal(empty.data.metadata.usage.credits, 0)
    const { conversationId, finishReason } = empty.data.metadata
    assert.equal(await storedText(conversationId), '[]')
    const reasons: Record<string, string> = { content_filter: 'content-filter', length: 'length' }
    assert.equal(finishReason, reasons[silence.finish ?? ''] ?? 'stop')
  }
})

test('a text that ends with [DONE] and without a reason is complete', async () => {
  queue.push({ ...written('All', ' of it.'), finish: null })
  const { body } = await say({ message: 'Hello' })
  assert.deepEqual(body.data.parts, [{ type: 'text', text: 'All of it.' }])
  assert.equal(body.data.metadata.finishReason, 'stop')
})

const called = (args: string, more: object = {}) => ({
  tool_calls: [
    { index: 0, id: 'c1', type: 'function', function: { name: 'show', arguments: args }, ...more },
  ],
})

test('a call goes back to its provider with its signature and its reasoning, within a turn and after an action', async () => {
  const inputs = { type: 'object', properties: { order: { type: 'string' } } }
  for (const [name, type] of [
    ['show', 'client'],
    ['person', 'escalate'],
  ])
    await client.request('POST', `/agents/${agentId}/actions`, {
      name,
      type,
      description: 'd',
      ...(type === 'client' ? { inputs } : {}),
    })
  const extra_content = { google: { thought_signature: 'signed' } }
  queue.push({
    deltas: [{ reasoning_content: 'I look it up.' }, called('"{\\"order\\":\\"A1\\"}"', { extra_content })],
    finish: 'tool_calls',
  })
  const { body } = await say({ message: 'Where is A1?' })
  const { conversationId } = body.data.metadata
  const [call] = body.data.parts
  assert.deepEqual(call.input, { order: 'A1' }, 'arguments that are encoded twice are decoded twice')
  assert.doesNotMatch(JSON.stringify(body), /signed|I look it up/)
  const path = `/agents/${agentId}/conversations/${conversationId}`
  const result = { toolCallId: call.toolCallId, output: { state: 'sent' } }
  assert.equal((await client.request('POST', `${path}/tool-result`, result)).status, 200)
  queue.push(written('It was sent.'))
  await say({ conversationId })
  const calling = requests.at(-1)!.messages.find(({ tool_calls }) => tool_calls)!
  assert.equal(calling.reasoning_content, 'I look it up.')
  assert.deepEqual((calling.tool_calls as { extra_content: unknown }[])[0]!.extra_content, extra_content)
  const { body: shown } = await client.request('GET', `${path}/messages?includeServerActions=true`)
  assert.doesNotMatch(JSON.stringify(shown), /signed|I look it up/)
})

test('after an action without a word, the model is asked once more to tell its result', async () => {
  await client.request('POST', `/agents/${agentId}/actions`, {
    name: 'show',
    type: 'collect-leads',
    description: 'd',
  })
  const act: Told = { deltas: [called('{"email":"eve@example.org"}')], finish: 'tool_calls' }
  for (const silence of [{ deltas: [] }, written('...', ' [1]')]) {
    requests.length = 0
    queue.push(act, silence, written('I have noted ', 'your address.'))
    const { body } = await say({ message: 'eve@example.org' })
    assert.deepEqual(body.data.parts, [{ type: 'text', text: 'I have noted your address.' }])
    assert.equal(requests.length, 3)
    const [result, asked] = requests.at(-1)!.messages.slice(-2)
    assert.equal(result!.role, 'tool')
    assert.match(String(asked!.content), /what was done or found/)
    assert.equal(requests.at(-1)!.tool_choice, 'none')
    assert.equal(body.data.metadata.usage.credits, 1)
  }
  // It is asked once, and not at all if there were words before the action.
  requests.length = 0
  queue.push(act, { deltas: [] }, { deltas: [] })
  assert.deepEqual((await say({ message: 'eve@example.org' })).body.data.parts, [])
  assert.equal(requests.length, 3)
  requests.length = 0
  queue.push({ ...act, deltas: [{ content: 'I note it.' }, ...act.deltas] }, { deltas: [] })
  const { body } = await say({ message: 'eve@example.org' })
  assert.deepEqual(body.data.parts, [{ type: 'text', text: 'I note it.' }])
  assert.equal(requests.length, 2)
  queue.push(act, { deltas: [] }, written('Noted.'))
  const { events } = await stream('eve@example.org')
  const types = events.map(({ data }) => data.type).filter((type) => type.endsWith('-step'))
  assert.deepEqual(types, [
    'start-step',
    'finish-step',
    'start-step',
    'finish-step',
    'start-step',
    'finish-step',
  ])
})
