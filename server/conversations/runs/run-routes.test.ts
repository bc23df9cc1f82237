import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { type ModelServer, startModelServer } from '../../../test/fakes/model-server.ts'
import { type Client, type Service, startService } from '../../../test/start.ts'

let service: Service
let client: Client
let models: ModelServer
let agentId: string
let shopUrl: string
const shop = createServer((request, response) => {
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ path: request.url, state: 'shipped' }))
})

before(async () => {
  await new Promise<void>((resolve) => shop.listen(0, '127.0.0.1', resolve))
  shopUrl = `http://127.0.0.1:${(shop.address() as AddressInfo).port}`
  models = await startModelServer()
  service = await startService({ ...models.settings, ALLOWED_PRIVATE_HOSTS: '127.0.0.1' })
  client = await service.account()
  agentId = (await client.request('POST', '/agents', { name: 'Shop' })).body.id
})
after(async () => {
  await service.close()
  await models.close()
  shop.close()
})

const ask = async (method: string, path: string, body?: object) =>
  (await client.request(method, `/agents/${agentId}${path}`, body)).body

const order = {
  inputs: { type: 'object', properties: { number: { type: 'integer' } }, required: ['number'] },
  description: 'Looks up an order',
}

test('an http action is tried with a real input, enabled or not', async () => {
  const http = { method: 'GET', url: `${shopUrl}/orders/{{number}}` }
  const { id } = await ask('POST', '/actions', {
    ...order,
    name: 'order',
    type: 'http',
    http,
    enabled: false,
  })
  const { data } = await ask('POST', `/actions/${id}/test`, { input: { number: 7 } })
  assert.deepEqual(
    [data.hasRun, data.output],
    [true, { status: 'success', data: { path: '/orders/7', state: 'shipped' } }],
  )
  const wrong = (await ask('POST', `/actions/${id}/test`, { input: { number: 'seven' } })).data
  assert.deepEqual([wrong.hasRun, wrong.output.status], [false, 'error'])
  assert.match(wrong.output.error, /number/)
})

test('an action of the application is only validated, and no customer data is created', async () => {
  const ids = await Promise.all(
    [
      { ...order, name: 'page', type: 'client' },
      { name: 'person', type: 'escalate', description: 'When a person is wanted' },
      { name: 'lead', type: 'collect-leads', description: 'When they leave an address' },
    ].map(async (action) => (await ask('POST', '/actions', action)).id),
  )
  const inputs = [{ number: 1 }, { subject: 'x', summary: 'y' }, { email: 'eve@example.com' }]
  const tried = await Promise.all(
    ids.map((id, at) => ask('POST', `/actions/${id}/test`, { input: inputs[at] })),
  )
  assert.deepEqual(
    tried.map(({ data }) => [data.hasRun, data.output.status]),
    [
      [false, 'success'],
      [true, 'success'],
      [true, 'success'],
    ],
  )
  assert.deepEqual((await ask('GET', '/helpdesk/tickets')).data, [])
  assert.equal((await service.ctx.db.selectFrom('leads').selectAll().execute()).length, 0)
})

test('the last runs of an action and of a procedure are listed', async () => {
  const procedure = { name: 'Late order', trigger: 'An order is late', steps: ['Use @order', 'Say sorry'] }
  const { data: actions } = await ask('GET', '/actions')
  const { id: actionId } = actions.find(({ name }: { name: string }) => name === 'order')
  await ask('PUT', `/actions/${actionId}`, { enabled: true })
  const { id: procedureId } = await ask('POST', '/procedures', procedure)
  assert.equal((await ask('PUT', `/procedures/${procedureId}`, { enabled: true })).enabled, true)
  const call = (name: string, input: object) => ({ toolCalls: [{ id: name, name, input }] })
  models.queue.push(call('start_procedure', { name: 'Late order' }), call('order', { number: 9 }), {
    tokens: ['It is on its way.'],
  })
  const { data: said } = await ask('POST', '/chat', { message: 'Where is order 9?', stream: false })
  const { data: runs, pagination } = await ask('GET', `/actions/${actionId}/runs`)
  assert.equal(pagination.total, 1)
  const [{ input, output, status, source, conversationId }] = runs
  assert.deepEqual(
    [input, output.data.state, status, source, conversationId],
    [{ number: 9 }, 'shipped', 'success', 'API', said.metadata.conversationId],
  )
  const followed = (await ask('GET', `/procedures/${procedureId}/runs`)).data
  assert.deepEqual(
    followed.map(({ status, source }: Record<string, string>) => [status, source]),
    [['running', 'API']],
  )
})
