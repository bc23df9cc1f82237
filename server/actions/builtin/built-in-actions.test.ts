import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, beforeEach, test } from 'node:test'
import { type Client, type Service, startService } from '../../../test/start.ts'
import { newId } from '../../platform/db/ids.ts'
import { addConversation, runTool, toolkitOf } from '../definitions/for-tests.ts'

let service: Service
let client: Client
let agentId: string
let answer: { status: number; body: string }
const asked: string[] = []
const search = createServer((request, response) => {
  asked.push(request.url ?? '')
  response.writeHead(answer.status).end(answer.body)
})

before(async () => {
  await new Promise<void>((done) => search.listen(0, '127.0.0.1', done))
  const { port } = search.address() as AddressInfo
  service = await startService({ SEARCH_URL: `http://127.0.0.1:${port}/search?lang=en` })
})
after(async () => {
  await service.close()
  search.close()
})
beforeEach(async () => {
  client = await service.account()
  agentId = (await client.request('POST', '/agents', { name: 'Agent' })).body.id
  for (const type of ['collect-leads', 'escalate', 'web-search']) {
    const { status } = await client.request('POST', `/agents/${agentId}/actions`, {
      name: type,
      type,
      description: 'x',
    })
    assert.equal(status, 201)
  }
})

const leads = () =>
  service.ctx.db
    .selectFrom('leads')
    .select(['name', 'email', 'phone'])
    .where('agent_id', '=', agentId)
    .orderBy('id')
    .execute()

test('a lead is stored once per call, with normalised e-mail and phone', async () => {
  const toolCallId = newId()
  const input = { name: ' Ada ', email: 'Ada@Example.COM', phone: '+49 (30) 901820' }
  const conversationId = await addConversation(service.ctx, agentId)
  for (let time = 0; time < 2; time++) {
    const output = await runTool(service.ctx, agentId, 'collect-leads', input, { toolCallId, conversationId })
    assert.deepEqual(output, { status: 'success' })
  }
  await runTool(service.ctx, agentId, 'collect-leads', { phone: '030 901820' }, { conversationId })
  assert.deepEqual(await leads(), [
    { name: 'Ada', email: 'ada@example.com', phone: '+4930901820' },
    { name: null, email: null, phone: '030 901820' },
  ])
})

test('a lead without contact details is rejected', async () => {
  const { tools } = await toolkitOf(service.ctx, agentId)
  const tool = tools.find(({ type }) => type === 'collect-leads')
  assert.equal(tool?.refuse({ name: 'Ada' }), 'The input "email" or "phone" is required.')
  assert.equal(tool?.refuse({ phone: 'call me' }), 'The input "phone" must be a phone number.')
  assert.match(tool?.refuse({ email: 'ada' }) ?? '', /^The input "email" must match format/)
  assert.equal(tool?.refuse({ email: 'a@b.example', age: 7 }), 'The input "age" is not known.')
  const output = await runTool(service.ctx, agentId, 'collect-leads', { email: 'ada' })
  assert.equal(output.status, 'error')
  assert.deepEqual(await leads(), [])
})

test('an escalation opens one ticket per conversation, with the known details of the person', async () => {
  const conversationId = await addConversation(service.ctx, agentId)
  const place = { conversationId }
  await runTool(service.ctx, agentId, 'collect-leads', { name: 'Ada', email: 'ada@example.com' }, place)
  const input = { subject: 'Refund', summary: 'Wants the money back.' }
  const outputs = await Promise.all([1, 2].map(() => runTool(service.ctx, agentId, 'escalate', input, place)))
  for (const output of outputs)
    assert.deepEqual(output, {
      status: 'success',
      data: { ticketNumber: 1, teamIsThere: false, opensAt: null, timeZone: null },
    })
  const tickets = await service.ctx.db
    .selectFrom('tickets')
    .select(['number', 'subject', 'description', 'customer', 'conversation_id'])
    .where('agent_id', '=', agentId)
    .execute()
  assert.deepEqual(tickets, [
    {
      number: 1,
      subject: 'Refund',
      description: 'Wants the money back.',
      customer: { id: null, name: 'Ada', email: 'ada@example.com', phoneNumber: null },
      conversation_id: conversationId,
    },
  ])
  const second = await runTool(service.ctx, agentId, 'escalate', { ...input, email: 'B@Example.com' })
  assert.deepEqual(second, {
    status: 'success',
    data: { ticketNumber: 2, teamIsThere: false, opensAt: null, timeZone: null },
  })
})

test('a web search returns five short results with web addresses', async () => {
  const result = (n: number) => ({
    title: `T${n}`,
    url: `https://example.com/${n}`,
    content: 'c'.repeat(900),
  })
  const results = [
    { title: 'x', url: 'javascript:alert(1)' },
    null,
    ...Array.from({ length: 9 }, (_, n) => result(n)),
  ]
  answer = { status: 200, body: JSON.stringify({ results }) }
  const output = await runTool(service.ctx, agentId, 'web-search', { query: 'opening hours & more' })
  assert.deepEqual(asked, ['/search?lang=en&q=opening+hours+%26+more&format=json'])
  assert.deepEqual(output, {
    status: 'success',
    data: { results: Array.from({ length: 5 }, (_, n) => ({ ...result(n), content: 'c'.repeat(500) })) },
  })
})

test('a failing search service results in one sentence', async () => {
  for (const wrong of [
    { status: 500, body: '{"results": []}' },
    { status: 200, body: 'no JSON' },
    { status: 200, body: '{}' },
    { status: 200, body: `"${'x'.repeat(2_200_000)}"` },
  ]) {
    answer = wrong
    assert.deepEqual(await runTool(service.ctx, agentId, 'web-search', { query: 'x' }), {
      status: 'error',
      error: 'The web search did not respond. Try again later.',
    })
  }
})
