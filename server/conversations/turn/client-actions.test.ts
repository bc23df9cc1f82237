import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import { type ModelServer, startModelServer } from '../../../test/fakes/model-server.ts'
import { readStream } from '../../../test/read-stream.ts'
import { type Answer, type Client, type Service, startService } from '../../../test/start.ts'
import { trained } from '../../../test/until.ts'
import { withoutBlocks } from '../../../test/without-blocks.ts'
import { newId } from '../../platform/db/ids.ts'
import { expireCalls } from '../records/expire-calls.ts'
import { reconcile } from '../records/reconcile-credits.ts'

let models: ModelServer
let service: Service
let client: Client
let agentId: string

before(async () => {
  models = await startModelServer()
  service = await startService({ ...models.settings, ALLOWED_PRIVATE_HOSTS: '127.0.0.1' })
})
after(async () => {
  await service.close()
  await models.close()
})
beforeEach(async () => {
  client = await service.account()
  agentId = (await client.request('POST', '/agents', { name: 'Agent' })).body.id
  const inputs = { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] }
  for (const name of ['show_order', 'open_page']) {
    const action = { name, type: 'client', description: 'For orders', inputs }
    assert.equal((await client.request('POST', `/agents/${agentId}/actions`, action)).status, 201)
  }
  models.queue.length = 0
})

const say = (body: object): Promise<Answer> =>
  client.request('POST', `/agents/${agentId}/chat`, { stream: false, ...body })
const stream = (body: object) =>
  client.raw('POST', `/agents/${agentId}/chat`, {
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  })
const answerCall = (conversationId: string, toolCallId: string, output?: unknown): Promise<Answer> =>
  client.request('POST', `/agents/${agentId}/conversations/${conversationId}/tool-result`, {
    toolCallId,
    output,
  })
const messagesOf = async (conversationId: string) =>
  (await client.request('GET', `/agents/${agentId}/conversations/${conversationId}/messages`)).body.data
const call = (id: string, name = 'show_order', input: unknown = { order: 'A1' }) => ({ id, name, input })
/** Returns the last request that did not ask for a title, as the model saw it. */
const seen = () =>
  models.requests.findLast(({ body }) => !JSON.stringify(body).includes('Write a title'))!.body.messages

async function callOnce(...calls: ReturnType<typeof call>[]) {
  models.queue.push({ tokens: ['One moment. '], toolCalls: calls })
  const { body, status } = await say({ message: 'Where is order A1?' })
  assert.equal(status, 200, JSON.stringify(body))
  const { conversationId, finishReason } = body.data.metadata
  assert.equal(finishReason, 'tool-calls')
  return { conversationId, id: body.data.id, parts: body.data.parts, ids: idsIn(body.data.parts) }
}
const idsIn = (parts: { type: string; toolCallId: string }[]): string[] =>
  parts.filter(({ type }) => type === 'tool-call').map(({ toolCallId }) => toolCallId)

test('the result of a client action is not sent back on the stream of the continuation', async () => {
  for (const includeServerActions of [false, true]) {
    const { conversationId, ids } = await callOnce(call('call_1'))
    await answerCall(conversationId, ids[0] ?? '', { state: 'sent' })
    models.queue.push({ tokens: ['It is on its way.'] })
    const { events } = await readStream(await stream({ conversationId, includeServerActions }), 100_000)
    const types = new Set(events.map(({ data }) => data.type))
    assert.ok(types.has('text-delta') && types.has('finish'))
    assert.ok(!types.has('tool-output-available') && !types.has('tool-input-available'))
  }
})

test('a call waits for its result, and the answer continues from it in the same message', async () => {
  const { conversationId, id, parts } = await callOnce(call('call_1'))
  const [text, made] = parts
  assert.deepEqual(text, { type: 'text', text: 'One moment. ' })
  assert.deepEqual([made.type, made.toolName, made.input], ['tool-call', 'show_order', { order: 'A1' }])

  const early = await say({ conversationId })
  assert.deepEqual([early.status, early.body.error.code], [409, 'CHAT_NOTHING_TO_CONTINUE'])
  assert.match(early.body.error.message, new RegExp(made.toolCallId), 'says which call waits')

  assert.deepEqual((await answerCall(conversationId, made.toolCallId, { state: 'sent' })).body, {
    data: { success: true },
  })
  models.queue.push({ tokens: ['It is on its way.'] })
  const onward = await say({ conversationId })
  assert.equal(onward.body.data.id, id, 'the same message goes on')
  assert.deepEqual(onward.body.data.parts, [{ type: 'text', text: 'It is on its way.' }])
  assert.equal(onward.body.data.metadata.finishReason, 'stop')

  const [question, answer] = await messagesOf(conversationId)
  assert.equal(onward.body.data.metadata.userMessageId, question.id)
  assert.deepEqual(
    answer.parts.map(({ type }: { type: string }) => type),
    ['text', 'tool-call', 'tool-result', 'text'],
  )
  assert.deepEqual(answer.parts[2].output, { state: 'sent' })
  const [, , spoken, result] = seen()
  assert.equal(spoken.tool_calls[0].id, result.tool_call_id)
  assert.equal(result.content, '{"state":"sent"}')
  const again = await say({ conversationId })
  assert.equal(again.body.error.code, 'CHAT_NOTHING_TO_CONTINUE')
  assert.equal((await reconcile(service.ctx.db)).balanced, true)
})

test('while an action of the service runs, the answer is busy and waits for no application', async (t) => {
  const [asked, may] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const shop = createServer(async (_request, response) => {
    asked.resolve()
    await may.promise
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  await new Promise<void>((resolve) => shop.listen(0, '127.0.0.1', resolve))
  t.after(() => shop.close())
  const http = { method: 'GET', url: `http://127.0.0.1:${(shop.address() as AddressInfo).port}/` }
  const action = { name: 'look', type: 'http', description: 'Looks', inputs: { type: 'object' }, http }
  assert.equal((await client.request('POST', `/agents/${agentId}/actions`, action)).status, 201)
  const { conversationId, ids } = await callOnce(call('call_1'))
  await answerCall(conversationId, ids[0] ?? '', {})
  models.queue.push({ toolCalls: [call('call_2', 'look', {})] }, { tokens: ['It was sent.'] })
  const onward = say({ conversationId })
  await asked.promise
  const early = await say({ conversationId })
  assert.deepEqual([early.status, early.body.error.code], [409, 'CHAT_CONVERSATION_BUSY'])
  may.resolve()
  assert.equal((await onward).body.data.parts.at(-1).text, 'It was sent.')
})

test('after an action, the model has the passages of the question again, and cites them', async () => {
  const source = { type: 'text', name: 'Orders', content: 'Orders leave the warehouse within two days.' }
  const { id } = (await client.request('POST', `/agents/${agentId}/sources`, source)).body
  await trained(service, id)
  models.queue.push({ toolCalls: [call('call_1')] })
  const asked = await say({ message: 'When does order A1 leave the warehouse?' })
  const { conversationId } = asked.body.data.metadata
  await answerCall(conversationId, idsIn(asked.body.data.parts)[0]!, { state: 'packed' })
  models.queue.push({ tokens: ['Within two days [1].'] })
  const { body } = await say({ conversationId })
  const [, question] = seen()
  assert.match(question.content, /leave the warehouse within two days[\s\S]*When does order A1 leave/)
  assert.equal(body.data.parts.at(-1).text, 'Within two days [1].')
  assert.equal(body.data.metadata.sources.length, 1)
})

test('both streams are read by both parsers, and the second repeats the id of the message', async () => {
  models.queue.push({ tokens: ['Look. '], toolCalls: [call('call_1')] })
  const first = await readStream(await stream({ message: 'Order?' }))
  const names = first.events.map(({ event }) => event)
  assert.deepEqual(names.slice(0, 3), ['start', 'message-metadata', 'start-step'])
  assert.deepEqual(names.slice(-4), ['tool-input-delta', 'tool-input-available', 'finish-step', 'finish'])
  const available = first.events.find(({ event }) => event === 'tool-input-available')!.data as never as {
    toolCallId: string
    toolName: string
    input: unknown
    providerExecuted?: boolean
  }
  assert.deepEqual([available.toolName, available.input], ['show_order', { order: 'A1' }])
  assert.equal(available.providerExecuted, undefined)
  const deltas = first.events.map(({ data }) => (data.type === 'tool-input-delta' ? data.inputTextDelta : ''))
  assert.deepEqual(JSON.parse(deltas.join('')), { order: 'A1' })
  const finish = first.events.at(-1)!.data as never as {
    finishReason: string
    messageMetadata: { conversationId: string; messageId: string }
  }
  assert.equal(finish.finishReason, 'tool-calls')
  const { conversationId, messageId } = finish.messageMetadata
  assert.deepEqual(
    (first.events[1]!.data as never as { messageMetadata: object }).messageMetadata,
    finish.messageMetadata,
    'known from the beginning',
  )
  await answerCall(conversationId, available.toolCallId, 'sent')
  models.queue.push({ tokens: ['Sent.'] })
  const second = await readStream(await stream({ conversationId }), 100_000)
  assert.deepEqual(
    second.events.map(({ event }) => event),
    [
      'start',
      'message-metadata',
      'start-step',
      'text-start',
      'text-delta',
      'text-end',
      'finish-step',
      'finish',
    ],
    'a new reader does not know the call: its output is not repeated',
  )
  assert.equal((second.events[0]!.data as never as { messageId: string }).messageId, messageId)
})

test('parallel calls accept their results by id, in any order, each once', async () => {
  const { conversationId, ids } = await callOnce(call('a'), call('b', 'open_page', { order: 'B2' }))
  const [first, second] = ids as [string, string]
  await answerCall(conversationId, second, 'second')
  assert.equal((await say({ conversationId })).body.error.code, 'CHAT_NOTHING_TO_CONTINUE')
  const answers = await Promise.all([1, 2, 3, 4].map(() => answerCall(conversationId, first, 'first')))
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 404, 404, 404])
  assert.equal(answers.find(({ status }) => status === 404)?.body.error.code, 'RESOURCE_TOOL_CALL_NOT_FOUND')
  models.queue.push({ tokens: ['Done.'] })
  assert.equal((await say({ conversationId })).status, 200)
  const results = seen().filter(({ role }: { role: string }) => role === 'tool')
  assert.deepEqual(
    results.map(({ tool_call_id, content }: Record<string, string>) => [tool_call_id, content]),
    [
      [first, '"first"'],
      [second, '"second"'],
    ],
  )
})

test('a new message is always accepted; open calls are ignored, and the model sees that', async () => {
  const { conversationId, ids } = await callOnce(call('a'), call('b'))
  await answerCall(conversationId, ids[0]!, { ok: true })
  models.queue.push({ tokens: ['Never mind.'] })
  assert.equal((await say({ conversationId, message: 'Forget it.' })).status, 200)
  const results = seen().filter(({ role }: { role: string }) => role === 'tool')
  assert.deepEqual(
    results.map(({ content }: Record<string, string>) => content),
    ['{"ok":true}', '{"status":"ignored"}'],
  )
  assert.equal(withoutBlocks(seen().at(-1).content), 'Forget it.')
  assert.equal((await answerCall(conversationId, ids[1]!, 1)).body.error.code, 'RESOURCE_TOOL_CALL_NOT_FOUND')
  const rows = await service.ctx.db.selectFrom('tool_calls').select(['id', 'status']).orderBy('id').execute()
  assert.deepEqual(
    rows.filter(({ id }) => ids.includes(id)).map(({ status }) => status),
    ['success', 'ignored'],
  )
})

test('a call expires after a day: its result is rejected, and the answer can continue without it', async () => {
  const { conversationId, ids } = await callOnce(call('a'))
  const { rows } = await sql<{ hours: number }>`
    select extract(epoch from expires_at - created_at) / 3600 as hours from tool_calls where id = ${ids[0]}`.execute(
    service.ctx.db,
  )
  assert.equal(Number(rows[0]?.hours), 24)
  await sql`update tool_calls set expires_at = now() - interval '1 second' where id = ${ids[0]}`.execute(
    service.ctx.db,
  )
  assert.equal((await answerCall(conversationId, ids[0]!, 1)).status, 404)
  models.queue.push({ tokens: ['It took too long.'] })
  assert.equal((await say({ conversationId })).status, 200)
  assert.equal(seen().at(-1).content, '{"status":"ignored"}')

  const other = await callOnce(call('a'))
  await sql`update tool_calls set expires_at = now() - interval '1 second' where id = ${other.ids[0]}`.execute(
    service.ctx.db,
  )
  await expireCalls(service.ctx.db)
  const [, answer] = await messagesOf(other.conversationId)
  assert.deepEqual(answer.parts.at(-1).output, { status: 'ignored' })
})

test('a continuation that fails before its first word can be requested again', async () => {
  const { conversationId, ids } = await callOnce(call('a'))
  await answerCall(conversationId, ids[0]!, 1)
  models.queue.push({ status: 400 })
  assert.equal((await say({ conversationId })).body.error.code, 'CHAT_PROVIDER_ERROR')
  models.queue.push({ tokens: ['Now.'] })
  assert.equal((await say({ conversationId })).body.data.parts[0].text, 'Now.')
})

test('a continuation that is interrupted can be requested again', async () => {
  const { conversationId, ids } = await callOnce(call('a'))
  await answerCall(conversationId, ids[0]!, 1)
  models.queue.push({ tokens: ['It', ' is', ' on'], dropAfter: 2, delayMs: 5 })
  assert.equal((await say({ conversationId })).body.data.metadata.finishReason, 'error')
  models.queue.push({ tokens: ['It is on its way.'] })
  assert.equal((await say({ conversationId })).body.data.metadata.finishReason, 'stop')
  const [, answer] = await messagesOf(conversationId)
  assert.deepEqual(
    answer.parts.map(({ type, text }: { type: string; text?: string }) => text ?? type),
    ['One moment. ', 'tool-call', 'tool-result', 'It is on its way.'],
  )
})

test('names and inputs that providers would reject are not kept in the history', async () => {
  models.queue.push(
    {
      toolCalls: [
        call('a', `functions.show order ${'x'.repeat(80)}`),
        { id: 'b', name: 'show_order', input: [1] },
      ],
    },
    { tokens: ['Sorry.'] },
  )
  assert.equal((await say({ message: 'Order?' })).status, 200)
  const [first, second] = seen().find(({ tool_calls }: { tool_calls?: unknown }) => tool_calls).tool_calls
  assert.match(first.function.name, /^functions_show_order_x{43}$/)
  assert.deepEqual(JSON.parse(second.function.arguments), { value: [1] })
})

test('more than 16 calls in a step are answered with an error and not run', async () => {
  models.queue.push({ toolCalls: Array.from({ length: 20 }, (_, i) => call(`call_${i}`)) })
  const { body } = await say({ message: 'All of them', includeServerActions: true })
  const refused = body.data.parts.filter(({ type }: { type: string }) => type === 'tool-result')
  assert.equal(refused.length, 4)
  assert.match(refused[0].output.error, /At most 16/)
})

test('a result that arrives during the answer waits for its end', async () => {
  const { conversationId } = (await say({ message: 'Hello' })).body.data.metadata
  // Calls are sent at the end of the stream; a slow end gives the caller time to answer too early.
  models.queue.push({ tokens: ['Look. '], toolCalls: [call('a')], endDelayMs: 400 })
  const response = await stream({ message: 'Order?', conversationId, includeServerActions: true })
  const reader = response.body!.getReader()
  const decoder = new TextDecoder()
  let text = ''
  while (!text.includes('"tool-input-available"')) text += decoder.decode((await reader.read()).value)
  const id = /"tool-input-available","toolCallId":"([^"]+)"/.exec(text)![1]!
  assert.equal((await answerCall(conversationId, id, 'early')).status, 200)
  while (!(await reader.read()).done);
  models.queue.push({ tokens: ['Thanks.'] })
  assert.equal((await say({ conversationId })).body.data.parts[0].text, 'Thanks.')
})

test("a result for a call that does not wait, or in another account's conversation, is 404", async () => {
  const { conversationId, ids } = await callOnce(call('a'))
  for (const wrong of [newId(), 'call_1', 'x']) {
    const { status, body } = await answerCall(conversationId, wrong, 1)
    assert.deepEqual([status, body.error.code], [404, 'RESOURCE_TOOL_CALL_NOT_FOUND'], wrong)
  }
  const other = await callOnce(call('a'))
  assert.equal(
    (await answerCall(other.conversationId, ids[0]!, 1)).body.error.code,
    'RESOURCE_TOOL_CALL_NOT_FOUND',
  )
  const stranger = await service.account()
  const path = `/agents/${agentId}/conversations/${conversationId}/tool-result`
  assert.equal(
    (await stranger.request('POST', path, { toolCallId: ids[0] })).body.error.code,
    'AGENT_NOT_FOUND',
  )
})

test('a call that cannot be run is reported to the model, which may correct it', async () => {
  models.queue.push(
    { toolCalls: [call('a', 'no_such_action')] },
    { toolCalls: [call('b', 'show_order', { order: 7 })] },
    { toolCalls: [call('c', 'show_order', { order: 'A1' })] },
  )
  const { body } = await say({ message: 'Order?', includeServerActions: true })
  assert.equal(body.data.metadata.finishReason, 'tool-calls')
  const outputs = body.data.parts.filter(({ type }: { type: string }) => type === 'tool-result')
  assert.deepEqual(
    outputs.map(({ output }: { output: { status: string } }) => output.status),
    ['error', 'error'],
  )
  assert.match(outputs[0].output.error, /no_such_action/)
  assert.match(outputs[1].output.error, /order/)
  const open = await service.ctx.db
    .selectFrom('tool_calls')
    .select('status')
    .where('agent_id', '=', agentId)
    .where('status', '=', 'pending')
    .execute()
  assert.equal(open.length, 1)
})

test('a history remains valid when its actions are deleted', async () => {
  const { conversationId, ids } = await callOnce(call('a'))
  await answerCall(conversationId, ids[0]!, 1)
  const { body } = await client.request('GET', `/agents/${agentId}/actions`)
  for (const { id } of body.data) await client.request('DELETE', `/agents/${agentId}/actions/${id}`)
  models.queue.push({ tokens: ['Fine.'] })
  assert.equal((await say({ conversationId })).status, 200)
  const request = models.requests.findLast(({ body }) => !JSON.stringify(body).includes('Write a title'))!
  assert.deepEqual([request.body.tools.length, request.body.tool_choice], [1, 'none'])
})
