import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type ModelServer, startModelServer } from '../../../test/fakes/model-server.ts'
import { tokens } from '../../../test/fakes/reply.ts'
import { readStream } from '../../../test/read-stream.ts'
import { type Client, type Service, startService } from '../../../test/start.ts'
import { trained } from '../../../test/until.ts'
import { createKnownFailures } from '../../ai/failures/known-failures.ts'
import { refreshDays } from '../insights/days/refresh-days.ts'

let service: Service
let client: Client
let models: ModelServer
let agentId: string
const QUESTION = 'How long is the warranty of the Halo lamp?'

before(async () => {
  models = await startModelServer()
  service = await startService({ ...models.settings, OPENAI_API_KEY: 'sk-test-key' })
  client = await service.account()
  const instructions = 'Be kind.'
  agentId = (await client.request('POST', '/agents', { name: 'Lumi', instructions })).body.id
  const source = { type: 'text', name: 'Warranty', content: 'The Halo lamp has a warranty of five years.' }
  const { id } = (await client.request('POST', `/agents/${agentId}/sources`, source)).body
  await trained(service, id)
})
after(async () => {
  await service.close()
  await models.close()
})

const ask = (method: string, path: string, body?: object) =>
  client.request(method, `/agents/${agentId}${path}`, body)
const run = (body: object) => ask('POST', '/playground/runs', { message: QUESTION, stream: false, ...body })

test('an answer is generated with unsaved settings, and shows what went into it', async () => {
  models.queue.push({ tokens: ['Five ', 'years [1].'] })
  const draft = { instructions: 'Answer in verse.', temp: 0.7, model: 'fake', channel: 'email' }
  const { status, body } = await run(draft)
  assert.equal(status, 200, JSON.stringify(body))
  assert.equal(body.data.parts.at(-1).text, 'Five years [1].')
  assert.equal(body.data.metadata.usage.credits, 0)
  const { data } = (await ask('GET', `/playground/runs/${body.data.id}`)).body
  assert.deepEqual([data.channel, data.temp, data.credits], ['email', 0.7, 1])
  assert.equal(data.passages[0].sourceName, 'Warranty')
  const [step] = data.steps
  assert.equal(step.model, 'fake')
  assert.ok(step.inputTokens > 0 && step.outputTokens > 0)
  assert.match(step.prompt[0].text, /^Answer in verse\./)
  assert.match(step.prompt.at(-1).text, /warranty of five years[\s\S]*How long is the warranty/)
  const asked = models.requests.findLast(({ wire }) => wire !== 'embeddings')?.body
  assert.equal(asked?.temperature, 0.7)
  assert.equal((await client.request('GET', `/agents/${agentId}`)).body.instructions, 'Be kind.')
})

test('the reasoning of a model is kept for the team, and only there', async () => {
  models.queue.push({ tokens: ['<think>A plan', ' for it.</think>', 'Five years [1].'] })
  const { body } = await run({})
  assert.deepEqual(body.data.parts, [{ type: 'text', text: 'Five years [1].' }])
  const { data } = (await ask('GET', `/playground/runs/${body.data.id}`)).body
  assert.equal(data.steps[0].reasoning, 'A plan for it.')
})

test('a failure of the model says here, and where models are listed, what its provider said; customers do not see it', async () => {
  const fault = {
    status: 400,
    errorMessage: `The model fake is not for key sk-secret-123456, ask ${'x'.repeat(999)}`,
  }
  const problemOf = async () => (await client.request('GET', '/models')).body.models.at(-1).problem
  assert.equal(await problemOf(), null)
  models.queue.push(fault)
  const { status, body } = await run({})
  assert.deepEqual([status, body.error.code], [502, 'CHAT_PROVIDER_ERROR'])
  const words = /The model server answered 400: The model fake is not for key \[redacted\]/
  assert.match(body.error.message, words)
  assert.match(body.error.message, /; check Workspace > Models\.$/)
  assert.ok(body.error.message.length < 400)
  assert.match(await problemOf(), words)
  // Another process, or this one after a restart, knows it as well.
  const elsewhere = await createKnownFailures(service.ctx.db, assert.ifError).read()
  assert.match(elsewhere({ what: 'model', name: 'fake' }) ?? '', words)
  models.queue.push(fault)
  const other = (await client.request('POST', '/agents', { name: 'Other' })).body.id
  const customer = await client.request('POST', `/agents/${other}/chat`, { message: QUESTION, stream: false })
  assert.equal(customer.body.error.message, 'The model provider could not answer. Try again.')
  assert.doesNotMatch(JSON.stringify(customer.body), /is not for key/)
  models.queue.push({ tokens: tokens(9), dropAfter: 4, delayMs: 10 })
  const stream = await client.raw('POST', `/agents/${agentId}/playground/runs`, {
    body: JSON.stringify({ message: QUESTION, stream: true }),
    headers: { 'content-type': 'application/json' },
  })
  assert.match(await stream.text(), /"errorText":"The model server [^"]+; check Workspace > Models\."/)
  assert.equal((await run({})).status, 200)
  assert.equal(await problemOf(), null)
})

test('a run costs nothing and does not count as a reply', async () => {
  const used = async () => (await client.request('GET', '/me')).body.credits.used
  const before = await used()
  const first = await run({})
  const { conversationId } = first.body.data.metadata
  const second = await run({ message: 'And of the bulb?', conversationId })
  assert.equal(second.body.data.metadata.conversationId, conversationId)
  assert.equal(await used(), before)
  assert.equal((await client.request('GET', `/agents/${agentId}`)).body.creditsUsed, before)
  const usage = (await client.request('GET', '/usage')).body
  const { models: calls, ...others } = usage
  assert.ok(!JSON.stringify(others).includes(agentId), JSON.stringify(others))
  const own = calls.filter((row: { agentId: string }) => row.agentId === agentId)
  assert.deepEqual([...new Set(own.map(({ purpose }: { purpose: string }) => purpose))], ['playground'])
})

test('a run is in no list of customers, and is found by its source', async () => {
  const { metadata } = (await run({})).body.data
  await service.ctx.indexer.run(service.ctx.db)
  const ids = async (path: string) => (await ask('GET', path)).body.data.map(({ id }: { id: string }) => id)
  for (const path of ['/conversations', '/conversations/search', '/conversations/export'])
    assert.deepEqual(await ids(path), [], path)
  for (const path of ['/conversations/search', '/conversations/export'])
    assert.ok((await ids(`${path}?source=Playground`)).includes(metadata.conversationId), path)
  assert.equal((await ask('GET', '/conversations/export')).body.pagination.total, 0)
  const found = await ids('/conversations/search?source=Playground&query=warranty')
  assert.ok(found.includes(metadata.conversationId))
  const old = `/api/v1/get-conversations?chatbotId=${agentId}`
  assert.deepEqual((await client.request('GET', old)).body.data, [])
  const named = (await client.request('GET', `${old}&filteredSources=Playground`)).body.data
  assert.ok(named.length > 0)
  assert.equal((await client.request('GET', `/agents/${agentId}`)).body.lastMessageAt, null)
})

test('a run is in no figure, and nothing is learned from it', async () => {
  await run({ message: 'Who won the chess championship?' })
  const due = await service.ctx.db
    .selectFrom('conversations')
    .select('analysis_due')
    .where('source', '=', 'Playground')
    .execute()
  assert.ok(due.length > 0)
  assert.ok(due.every(({ analysis_due }) => analysis_due === null))
  await refreshDays(service.ctx.db, { impatient: true })
  const today = new Date().toISOString().slice(0, 10)
  const { body } = await ask('GET', `/insights?startDate=${today}&endDate=${today}`)
  const { conversations, messages, credits, unanswered } = (body.data ?? body).totals
  assert.deepEqual([conversations, credits, unanswered], [0, 0, 0])
  assert.deepEqual(messages, { user: 0, assistant: 0, person: 0 })
})

test("a contact can ask, and a customer's conversation cannot be continued", async () => {
  const contact = (await ask('POST', '/contacts', { externalId: 'maya', name: 'Maya' })).body
  const { metadata } = (await run({ contactId: contact.id })).body.data
  assert.equal(metadata.userId, 'maya')
  assert.deepEqual((await ask('GET', `/contacts/${contact.id}/conversations`)).body.data, [])
  const real = (await ask('POST', '/chat', { message: 'Hello', stream: false })).body.data.metadata
  const refused = await run({ conversationId: real.conversationId })
  assert.deepEqual([refused.status, refused.body.error.code], [404, 'RESOURCE_NOT_FOUND'])
  assert.equal((await run({ model: 'nobody' })).status, 400)
})

test('an escalation is tried out without a ticket', async () => {
  const escalate = { name: 'escalate', type: 'escalate', description: 'When a person is wanted' }
  assert.equal((await ask('POST', '/actions', escalate)).status, 201)
  const input = { subject: 'Flicker', summary: 'The lamp flickers.' }
  models.queue.push({ toolCalls: [{ id: 'call-1', name: 'escalate', input }] }, { tokens: ['I pass it on.'] })
  const { data } = (await run({ message: 'A person, please' })).body
  const result = data.parts.find(({ type }: { type: string }) => type === 'tool-result')
  assert.match(result.output.data.note, /no ticket was opened/)
  assert.deepEqual((await ask('GET', '/helpdesk/tickets')).body.data, [])
  const made = (await ask('GET', `/playground/runs/${data.id}`)).body.data
  assert.equal(made.steps.length, 2)
  assert.deepEqual(made.steps[0].tools, ['escalate'])
})

test('an answer continues after the result of a client action, and shows all its steps', async () => {
  const inputs = { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] }
  const action = { name: 'show_order', type: 'client', description: 'For orders', inputs }
  assert.equal((await ask('POST', '/actions', action)).status, 201)
  models.queue.push({ toolCalls: [{ id: 'call-2', name: 'show_order', input: { order: 'A1' } }] })
  const first = (await run({ message: 'Where is order A1?' })).body.data
  assert.equal(first.metadata.finishReason, 'tool-calls')
  const { conversationId } = first.metadata
  const path = `/conversations/${conversationId}/tool-result`
  const { toolCallId } = first.parts.find(({ type }: { type: string }) => type === 'tool-call')
  assert.equal((await ask('POST', path, { toolCallId, output: { state: 'shipped' } })).status, 200)
  models.queue.push({ tokens: ['It was shipped.'] })
  const { status, body } = await run({ message: undefined, conversationId })
  assert.equal(status, 200, JSON.stringify(body))
  assert.equal(body.data.id, first.id)
  const made = (await ask('GET', `/playground/runs/${first.id}`)).body.data
  assert.equal(made.steps.length, 2)
  assert.match(made.steps[1].prompt.at(-1).text, /shipped/)
  const none = await run({ message: undefined })
  assert.deepEqual([none.status, Object.keys(none.body.error.details)], [400, ['message']])
})

test('an offer of a person is in the answer, and accepting it calls the action without effect', async () => {
  const { id } = (await client.request('POST', '/agents', { name: 'Lumi' })).body
  const at = (path: string, body: object) => client.request('POST', `/agents/${id}${path}`, body)
  assert.equal(
    (await at('/actions', { name: 'ask_team', type: 'escalate', description: 'x', enabled: true })).status,
    201,
  )
  const settings = { model: 'builtin' }
  const response = await fetch(`${service.url}/api/v2/agents/${id}/playground/runs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${client.key}` },
    body: JSON.stringify({ ...settings, message: QUESTION }),
  })
  const { events } = await readStream(response)
  const finish = events.find(({ event }) => event === 'finish')?.data as unknown as {
    messageMetadata: { offer?: string; conversationId: string }
  }
  const { offer, conversationId } = finish.messageMetadata
  assert.equal(offer, 'person')
  const accepted = { ...settings, message: 'Talk to a person', conversationId, stream: false }
  const { body } = await at('/playground/runs', { ...accepted, acceptsOffer: true })
  assert.deepEqual(
    [body.data.parts[0].toolName, body.data.metadata.outcome, body.data.metadata.offer],
    ['ask_team', 'handed_over', undefined],
  )
  const tickets = await service.ctx.db.selectFrom('tickets').where('agent_id', '=', id).selectAll().execute()
  assert.deepEqual(tickets, [])
  // Without it, the same words are an ordinary message.
  const again = await at('/playground/runs', accepted)
  assert.deepEqual([again.body.data.metadata.offer, again.body.data.parts.length], ['person', 1])
})
