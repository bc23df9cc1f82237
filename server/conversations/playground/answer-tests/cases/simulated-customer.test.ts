import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { type ModelServer, startModelServer } from '../../../../../test/fakes/model-server.ts'
import { type Client, type Service, startService } from '../../../../../test/start.ts'
import { until } from '../../../../../test/until.ts'

let service: Service
let client: Client
let models: ModelServer
let agentId: string

before(async () => {
  models = await startModelServer()
  service = await startService({ ...models.settings, OPENAI_API_KEY: 'sk-test-key' })
  client = await service.account()
  agentId = (await client.request('POST', '/agents', { name: 'Lumi' })).body.id
  const inputs = { type: 'object', properties: {} }
  for (const action of [
    { name: 'find_order', type: 'client', description: 'Finds an order.', inputs },
    { name: 'ask_a_person', type: 'escalate', description: 'Asks a person.' },
  ])
    assert.equal((await at('POST', '/actions', action)).status, 201)
})
after(async () => {
  await service.close()
  await models.close()
})

const at: Client['request'] = (method, path, body) =>
  client.request(method, `/agents/${agentId}${path}`, body)

const FAITHFUL = { claims: [], means: { passed: true, reason: '' }, sounds: { passed: true, reason: '' } }

/** Answers as the customer, the judges and the agent, each from its own list. */
function play({ customer, agent, judge }: { customer: object[]; agent: object[]; judge?: object }): void {
  let [asked, answered] = [0, 0]
  models.otherwise(({ body }) => {
    const text = JSON.stringify(body)
    if (text.includes('You play a customer'))
      return { tokens: [JSON.stringify(customer[asked++] ?? customer.at(-1))] }
    if (text.includes('You judge an answer')) return { tokens: [JSON.stringify(FAITHFUL)] }
    if (text.includes('You judge a conversation')) return { tokens: [JSON.stringify(judge)] }
    const said = agent[answered++] ?? agent.at(-1)
    return said as { tokens: string[] }
  })
}
const asking = (message: string) => ({ state: 'asking', message })

const CUSTOMER = {
  persona: 'A hotel guest who writes English',
  goal: 'To know when the order comes',
  temper: 'Impatient',
}

async function run(one: object, settings: object = {}) {
  const { status, body } = await at('POST', '/answer-cases', one)
  assert.equal(status, 201, JSON.stringify(body))
  const started = await at('POST', '/answer-runs', { caseIds: [body.id], ...settings })
  assert.equal(started.status, 201, JSON.stringify(started.body))
  const ended = await until('the end of the run', async () => {
    const read = (await at('GET', `/answer-runs/${started.body.id}`)).body
    return read.status !== 'running' && read
  })
  return { started: started.body, result: ended.results[0], status: ended.status }
}

test('a customer is played until content, and the whole conversation is kept and checked', async () => {
  play({
    customer: [
      asking('Where is my order?'),
      asking('And when does it come?'),
      { state: 'content', message: '' },
    ],
    agent: [
      { toolCalls: [{ id: 'call-1', name: 'find_order', input: {} }] },
      { tokens: ['It is on its way.'] },
      { tokens: ['It comes on Monday.'] },
    ],
    judge: { reached: true, reason: 'The guest knows the day.' },
  })
  const { result, started } = await run(
    {
      name: 'Guest',
      messages: [],
      customer: { ...CUSTOMER, maxMessages: 5 },
      results: { find_order: { comes: 'on Monday' } },
      expect: {
        holds: ['on its way', 'Monday'],
        lacks: ['Friday'],
        calls: ['find_order'],
        handsOver: false,
        reachesGoal: true,
      },
    },
    { judges: true },
  )
  assert.equal(started.expectedCredits, 5, 'as many answers as the customer may write messages')
  assert.equal(result.passed, true, JSON.stringify(result))
  assert.equal(result.ending, 'content')
  assert.deepEqual(
    result.messages.map(({ role, text }: { role: string; text: string }) => `${role}: ${text}`),
    [
      'user: Where is my order?',
      'assistant: It is on its way.',
      'user: And when does it come?',
      'assistant: It comes on Monday.',
    ],
  )
  for (const table of ['conversations', 'tickets', 'tool_calls', 'leads'])
    assert.equal(
      (await sql`select from ${sql.table(table)} where agent_id = ${agentId}`.execute(service.ctx.db)).rows
        .length,
      0,
      table,
    )
})

test('a customer gives up, or writes no more than allowed, after messages of the case', async () => {
  play({
    customer: [asking('Hurry!'), { state: 'gone', message: 'Bye' }],
    agent: [{ tokens: ['Please wait.'] }],
  })
  const gone = await run({
    name: 'Gone',
    messages: ['Hello?'],
    customer: { ...CUSTOMER, maxMessages: 4 },
    expect: { lacks: ['wait'] },
  })
  assert.deepEqual([gone.result.ending, gone.result.messages.length], ['gone', 4])
  assert.deepEqual(
    gone.result.checks.map(({ kind, passed }: { kind: string; passed: boolean | null }) => [kind, passed]),
    [['lacks', false]],
  )
  play({ customer: [asking('And?')], agent: [{ tokens: ['Please wait.'] }] })
  const limit = await run({
    name: 'Limit',
    messages: ['Hello?'],
    customer: { ...CUSTOMER, maxMessages: 3 },
    expect: { reachesGoal: false },
  })
  assert.deepEqual([limit.result.ending, limit.result.messages.length], ['limit', 6])
  assert.deepEqual(
    limit.result.checks.map(({ kind, passed }: { kind: string; passed: boolean | null }) => [kind, passed]),
    [['reachesGoal', null]],
    'nobody judged it',
  )
})

test('handing over counts wherever it happens, opens no ticket, and credits are capped before the conversation', async () => {
  play({
    customer: [asking('A person, please'), { state: 'content', message: '' }],
    agent: [
      { toolCalls: [{ id: 'call-1', name: 'ask_a_person', input: { subject: 'x', summary: 'x' } }] },
      { tokens: ['Somebody will write.'] },
    ],
  })
  const one = {
    name: 'Person',
    messages: [],
    customer: { ...CUSTOMER, maxMessages: 3 },
    expect: { handsOver: true },
  }
  assert.equal((await run(one)).result.passed, true)
  const tickets = await sql`select from tickets where agent_id = ${agentId}`.execute(service.ctx.db)
  assert.equal(tickets.rows.length, 0)
  const capped = await run(one, { maxCredits: 2 })
  assert.deepEqual([capped.status, capped.result], ['stopped', undefined])
})

test('a model that cannot play is told in the result, and what the agent says does not play the customer', async () => {
  play({ customer: [{ state: 'asking' }], agent: [{ tokens: ['x'] }] })
  const bad = await run({ name: 'Bad', messages: [], customer: { ...CUSTOMER, maxMessages: 3 }, expect: {} })
  assert.equal(bad.result.passed, false)
  assert.match(bad.result.error, /plays the customer/)
  models.otherwise(() => ({ status: 400 }))
  const failed = await run({
    name: 'Failed',
    messages: [],
    customer: { ...CUSTOMER, maxMessages: 3 },
    expect: {},
  })
  assert.match(failed.result.error, /400|refused|provider/i)
  const refused = await at('POST', '/answer-cases', {
    name: 'x',
    messages: ['a', 'b'],
    customer: { ...CUSTOMER, maxMessages: 1 },
    expect: {},
  })
  assert.equal(refused.status, 400)
})
