import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { type Client, type Service, startService } from '../../../test/start.ts'
import { createToolkits } from './toolkits.ts'

let service: Service
let client: Client

before(async () => {
  service = await startService()
})
after(() => service.close())
beforeEach(async () => {
  client = await service.account()
})

const fail = (): never => assert.fail()
const newAgent = async (): Promise<string> =>
  (await client.request('POST', '/agents', { name: 'Agent' })).body.id
const inputsOf = (length: number) => ({ type: 'object', description: 'x'.repeat(length) })
const add = (agentId: string, name: string, length: number) =>
  client.request('POST', `/agents/${agentId}/actions`, {
    name,
    type: 'client',
    description: 'x',
    inputs: inputsOf(length),
  })

test('the cache of compiled actions is bounded by size and evicts the oldest', async () => {
  const agents = [await newAgent(), await newAgent(), await newAgent()]
  for (const agentId of agents) await add(agentId, 'a', 4_000)
  const { db, fetcher, secrets } = service.ctx
  const deps = { db, fetcher, secrets, search: null, openTicket: fail, onlineMembers: fail, onError: fail }
  const toolkits = createToolkits(deps, { maxBytes: 10_000 })
  const toolOf = async (n: number) => {
    const agent = { accountId: client.accountId, agentId: agents[n] ?? '', toolsVersion: 1 }
    return (await toolkits.forAgent(agent, 'api', null)).tools[0]
  }
  const [first, second] = [await toolOf(0), await toolOf(1)]
  assert.equal(await toolOf(0), first)
  const third = await toolOf(2)
  assert.deepEqual([(await toolOf(0)) === first, (await toolOf(2)) === third], [true, true])
  assert.notEqual(await toolOf(1), second)
})

test('the actions and procedures of an agent have at most 256 KB together', async () => {
  const agentId = await newAgent()
  const procedures = `/agents/${agentId}/procedures`
  const steps = Array(50).fill('x'.repeat(1_900))
  for (let n = 0; n < 5; n++) assert.equal((await add(agentId, `a${n}`, 32_500)).status, 201)
  const made = await client.request('POST', procedures, { name: 'A', trigger: 'x', steps })
  assert.equal(made.status, 201)
  const wrong = [
    await add(agentId, 'more', 32_000),
    await client.request('POST', procedures, { name: 'B', trigger: 'x', steps }),
    await client.request('PUT', `${procedures}/${made.body.id}`, {
      steps: Array(50).fill('x'.repeat(2_000)),
    }),
  ]
  for (const { status, body } of wrong) {
    assert.deepEqual([status, body.error.code], [400, 'VALIDATION_INVALID_BODY'])
    assert.match(body.error.details.body, /at most 256 KB together/)
  }
  const less = await client.request('PUT', `${procedures}/${made.body.id}`, { steps: ['x'] })
  assert.equal(less.status, 200)
  assert.equal((await add(agentId, 'more', 32_000)).status, 201)
})
