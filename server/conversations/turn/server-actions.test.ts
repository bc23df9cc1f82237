import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import { type ModelServer, startModelServer } from '../../../test/fakes/model-server.ts'
import { readStream } from '../../../test/read-stream.ts'
import { type Answer, type Client, type Service, startService } from '../../../test/start.ts'
import { until } from '../../../test/until.ts'
import { reconcile } from '../records/reconcile-credits.ts'
import { MAX_STEPS } from './run-steps.ts'

let models: ModelServer
let shop: Server
let asked: string[]
/** The shop answers once this has resolved. */
let held: Promise<void> | undefined
let service: Service
let client: Client
let agentId: string

before(async () => {
  models = await startModelServer()
  shop = createServer(async (request, response) => {
    asked.push(request.url ?? '')
    await held
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"state":"sent"}')
  })
  await new Promise<void>((resolve) => shop.listen(0, '127.0.0.1', resolve))
  service = await startService({
    ...models.settings,
    ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
  })
})
after(async () => {
  assert.deepEqual(await reconcile(service.ctx.db), { balanced: true, difference: 0 })
  await service.close()
  await models.close()
  shop.close()
})
beforeEach(async () => {
  asked = []
  held = undefined
  models.queue.length = 0
  client = await service.account()
  agentId = (await client.request('POST', '/agents', { name: 'Agent' })).body.id
  const url = `http://127.0.0.1:${(shop.address() as AddressInfo).port}/orders/{{order}}`
  const inputs = { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] }
  await create('actions', {
    name: 'find_order',
    type: 'http',
    description: 'd',
    inputs,
    http: { method: 'GET', url },
  })
  await create('actions', { name: 'ask_a_person', type: 'escalate', description: 'd' })
  await create('actions', { name: 'show_map', type: 'client', description: 'd', inputs })
})

async function create(what: 'actions' | 'procedures', body: object): Promise<Answer> {
  const answer = await client.request('POST', `/agents/${agentId}/${what}`, body)
  assert.equal(answer.status, 201, JSON.stringify(answer.body))
  return answer
}
const say = (body: object): Promise<Answer> =>
  client.request('POST', `/agents/${agentId}/chat`, { stream: false, includeServerActions: true, ...body })
const stream = (body: object) =>
  client.raw('POST', `/agents/${agentId}/chat`, {
    body: JSON.stringify({ includeServerActions: true, ...body }),
    headers: { 'content-type': 'application/json' },
  })
const call = (name: string, input: unknown = { order: 'A 1' }) => ({ id: 'call_1', name, input })
const typesOf = (parts: { type: string }[]) => parts.map(({ type }) => type)

test('when an answer is stopped, calls of the same step that have not started do not run', async () => {
  const released = Promise.withResolvers<void>()
  held = released.promise
  const orders = [1, 2, 3, 4].map((order) => ({
    id: `call_${order}`,
    name: 'find_order',
    input: { order: `${order}` },
  }))
  models.queue.push({ toolCalls: [...orders, { id: 'call_5', name: 'ask_a_person', input: {} }] })
  const response = await stream({ message: 'Where are they?' })
  await until('the first four calls', () => asked.length === 4)
  const [{ id }] = (await client.request('GET', `/agents/${agentId}/conversations`)).body.data
  await client.request('POST', `/agents/${agentId}/conversations/${id}/stop`)
  released.resolve()
  await response.text()
  await service.ctx.generations.idle()
  const tickets = await client.request('GET', `/agents/${agentId}/helpdesk/tickets`)
  assert.deepEqual(tickets.body.data, [])
})

test('the output of an action that could not be recorded at once is recorded with the answer', async () => {
  const { db } = service.ctx
  // A sequence counts failed attempts, too.
  await sql`create sequence attempts`.execute(db)
  await sql`create function refuse_first() returns trigger language plpgsql as
    $$ begin if nextval('attempts') = 1 then raise 'refused'; end if; return new; end $$`.execute(db)
  await sql`create trigger refusing before update on tool_calls for each row execute function refuse_first()`.execute(
    db,
  )
  models.queue.push({ toolCalls: [call('find_order')] }, { tokens: ['It was sent.'] })
  const { status } = await say({ message: 'Where is it?' })
  await sql`drop trigger refusing on tool_calls`.execute(db)
  assert.equal(status, 200)
  const rows = await db
    .selectFrom('tool_calls')
    .select(['status', 'output'])
    .where('agent_id', '=', agentId)
    .execute()
  assert.deepEqual(rows, [{ status: 'success', output: { status: 'success', data: { state: 'sent' } } }])
})

test('an action runs here, its output goes to the model, the stream and the history', async () => {
  models.queue.push(
    { tokens: ['Let me see. '], toolCalls: [call('find_order')] },
    { tokens: ['It was sent.'] },
  )
  const { events, message } = await readStream(await stream({ message: 'Where is it?' }))
  assert.deepEqual(asked, ['/orders/A%201'])
  const output = { status: 'success', data: { state: 'sent' } }
  const names = events.map(({ event }) => event)
  const available = names.indexOf('tool-input-available')
  assert.deepEqual(names.slice(available, available + 4), [
    'tool-input-available',
    'tool-output-available',
    'finish-step',
    'start-step',
  ])
  const made = events[available]!.data as never as { providerExecuted: boolean; toolCallId: string }
  assert.equal(made.providerExecuted, true)
  assert.deepEqual((events[available + 1]!.data as never as { output: unknown }).output, output)
  assert.equal((events.at(-1)!.data as never as { finishReason: string }).finishReason, 'stop')
  assert.ok(
    typesOf(message?.parts ?? []).includes('dynamic-tool') ||
      typesOf(message?.parts ?? []).includes('tool-find_order'),
  )

  const { conversationId } = (events[1]!.data as never as { messageMetadata: { conversationId: string } })
    .messageMetadata
  const path = `/agents/${agentId}/conversations/${conversationId}?includeServerActions=true`
  const { parts } = (await client.request('GET', path)).body.data.messages[1]
  assert.deepEqual(typesOf(parts), ['text', 'tool-call', 'tool-result', 'text'])
  assert.deepEqual(parts[2].output, output)
  const run = await service.ctx.db
    .selectFrom('tool_calls')
    .selectAll()
    .where('id', '=', made.toolCallId)
    .executeTakeFirstOrThrow()
  assert.deepEqual(
    [run.name, run.type, run.status, run.input],
    ['find_order', 'http', 'success', { order: 'A 1' }],
  )
  assert.ok(run.resolved_at)
  const late = await client.request(
    'POST',
    `/agents/${agentId}/conversations/${conversationId}/tool-result`,
    {
      toolCallId: made.toolCallId,
      output: 'forged',
    },
  )
  assert.equal(late.status, 404, 'results of our own actions are not taken from outside')
})

test('escalating opens a ticket, and a team member can take it', async () => {
  models.queue.push(
    { toolCalls: [call('ask_a_person', { subject: 'Broken lamp', summary: 'It does not light.' })] },
    { tokens: ['A person will write to you.'] },
  )
  const { body } = await say({ message: 'I want a person', userId: 'u7' })
  const [, result] = body.data.parts
  assert.deepEqual(result.output, {
    status: 'success',
    data: { ticketNumber: 1, teamIsThere: false, opensAt: null, timeZone: null },
  })
  const ticket = (await client.request('GET', `/agents/${agentId}/helpdesk/tickets/1`)).body
  const { conversationId } = body.data.metadata
  assert.deepEqual(
    [ticket.subject, ticket.description, ticket.statusCategory, ticket.assigneeId, ticket.conversationId],
    ['Broken lamp', 'It does not light.', 'new', null, conversationId],
  )
  const unknown = await client.request('GET', `/agents/${agentId}/helpdesk/tickets/2`)
  assert.equal(unknown.body.error.code, 'TICKET_NOT_FOUND')
})

test('in a step with actions of both kinds, ours run at once and the others wait', async () => {
  models.queue.push({ toolCalls: [call('find_order'), { ...call('show_map'), id: 'call_2' }] })
  const { body } = await say({ message: 'Both' })
  assert.equal(body.data.metadata.finishReason, 'tool-calls')
  assert.deepEqual(typesOf(body.data.parts), ['tool-call', 'tool-call', 'tool-result'])
  const [ours, theirs, result] = body.data.parts
  assert.equal(result.toolCallId, ours.toolCallId)
  const { conversationId } = body.data.metadata
  const path = `/agents/${agentId}/conversations/${conversationId}/tool-result`
  assert.equal((await client.request('POST', path, { toolCallId: theirs.toolCallId })).status, 200)
  models.queue.push({ tokens: ['There.'] })
  assert.equal((await say({ conversationId })).body.data.parts[0].text, 'There.')
  const { messages } = models.requests.findLast(
    ({ body }) => !JSON.stringify(body).includes('Write a title'),
  )!.body
  assert.deepEqual(
    messages.slice(2).map(({ role }: { role: string }) => role),
    ['assistant', 'tool', 'tool'],
  )
})

test(`a model that never stops calling tools gets ${MAX_STEPS} steps, the last without actions`, async () => {
  for (let i = 0; i < MAX_STEPS + 2; i++) models.queue.push({ toolCalls: [call('find_order')] })
  const before = models.requests.length
  const { body } = await say({ message: 'Loop' })
  assert.equal(body.data.metadata.finishReason, 'other')
  const choices = models.requests
    .slice(before)
    .filter(({ body }) => body.tools)
    .map(({ body }) => body.tool_choice)
  assert.deepEqual(choices, [...Array(MAX_STEPS - 1).fill('auto'), 'none'])
  assert.equal(body.data.metadata.usage.credits, 1)
})

test('when a provider fails after an action has run, the result is kept', async () => {
  models.queue.push({ tokens: ['See. '], toolCalls: [call('find_order')] }, { status: 400 })
  const { body } = await say({ message: 'Where?' })
  assert.equal(body.data.metadata.finishReason, 'error')
  assert.deepEqual(typesOf(body.data.parts), ['text', 'tool-call', 'tool-result'])
  models.queue.push({ tokens: ['It was sent.'] })
  assert.equal(
    (await say({ conversationId: body.data.metadata.conversationId, message: 'And?' })).status,
    200,
  )
})

test('a procedure is followed over several turns without the caller seeing it, and its run is recorded', async () => {
  const steps = ['Ask for the order number.', { instruction: 'Look it up.', action: 'find_order' }]
  const { body: procedure } = await create('procedures', {
    name: 'Refund',
    trigger: 'Wants money back',
    steps,
  })
  const enabled = await client.request('PUT', `/agents/${agentId}/procedures/${procedure.id}`, {
    enabled: true,
  })
  assert.equal(enabled.status, 200, JSON.stringify(enabled.body))
  models.queue.push(
    { toolCalls: [call('start_procedure', { name: 'Refund' })] },
    { tokens: ['What is your order number?'] },
  )
  const first = await say({ message: 'I want my money back' })
  assert.deepEqual(first.body.data.parts, [{ type: 'text', text: 'What is your order number?' }])
  const { conversationId } = first.body.data.metadata
  const runs = () =>
    service.ctx.db
      .selectFrom('procedure_runs')
      .select('status')
      .where('conversation_id', '=', conversationId)
      .execute()
  assert.deepEqual(await runs(), [{ status: 'running' }])
  models.queue.push(
    { toolCalls: [call('find_order')] },
    { toolCalls: [call('finish_procedure', { outcome: 'completed' })] },
    { tokens: ['Done.'] },
  )
  const before = models.requests.length
  const second = await say({ message: 'A 1', conversationId })
  assert.deepEqual(typesOf(second.body.data.parts), ['tool-call', 'tool-result', 'text'])
  const asked = models.requests.slice(before).find(({ body }) => body.tools)!
  assert.match(asked.body.messages.at(-1).content, /Look it up/)
  assert.deepEqual(await runs(), [{ status: 'completed' }])
})

test('a turn that begins with a procedure has its events in order', async () => {
  const { body } = await create('procedures', {
    name: 'Refund',
    trigger: 'Wants money back',
    steps: ['Ask.'],
  })
  await client.request('PUT', `/agents/${agentId}/procedures/${body.id}`, { enabled: true })
  models.queue.push({ toolCalls: [call('start_procedure', { name: 'Refund' })] }, { tokens: ['Why?'] })
  const { events, message } = await readStream(await stream({ message: 'I want my money back' }))
  assert.deepEqual(
    events.map(({ event }) => event),
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
  )
  assert.ok(message?.id)
})

test('a takeover noticed at the start of an internal call costs nothing', async () => {
  const { body } = await create('procedures', { name: 'Refund', trigger: 'x', steps: ['Ask.'] })
  await client.request('PUT', `/agents/${agentId}/procedures/${body.id}`, { enabled: true })
  const held = Promise.withResolvers<void>()
  models.queue.push({ after: held.promise, toolCalls: [call('start_procedure', { name: 'Refund' })] })
  const answer = say({ message: 'I want my money back' })
  const { db } = service.ctx
  const running = () =>
    db
      .selectFrom('generations')
      .select(['account_id', 'id', 'conversation_id'])
      .where('agent_id', '=', agentId)
      .where('status', '=', 'running')
      .executeTakeFirst()
  await until('the request to the model', () => models.requests.at(-1)?.body.tools?.length > 3)
  const { account_id, id, conversation_id } = (await running())!
  // This is what another process does whose notification has not arrived yet.
  await db
    .updateTable('generations')
    .set({ stop_reason: 'takeover' })
    .where('account_id', '=', account_id)
    .where('id', '=', id)
    .execute()
  await db
    .updateTable('conversations')
    .set({ status: 'taken_over' })
    .where('account_id', '=', account_id)
    .where('id', '=', conversation_id)
    .execute()
  held.resolve()
  assert.equal((await answer).body.error.code, 'CHAT_CONVERSATION_NOT_ONGOING')
  assert.equal((await client.request('GET', `/agents/${agentId}`)).body.creditsUsed, 0)
})
