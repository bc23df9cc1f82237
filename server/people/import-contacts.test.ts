import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Client, type Service, startService } from '../../test/start.ts'

let service: Service
let client: Client
let agentId: string

before(async () => {
  service = await startService()
  client = await service.account()
  agentId = (await client.request('POST', '/agents', { name: 'Agent' })).body.id
})
after(() => service.close())

const send = (contacts: object[]) =>
  client.request('POST', `/agents/${agentId}/contacts/import`, { contacts })

test('contacts are added or updated, and invalid ones are reported', async () => {
  for (const [name, type] of [
    ['city', 'text'],
    ['orders', 'number'],
    ['vip', 'boolean'],
  ])
    await client.request('POST', `/api/v1/chatbots/${agentId}/custom-attributes`, {
      name,
      type,
      label: name,
    })
  const first = await send([
    {
      externalId: 'ann',
      name: 'Ann',
      email: 'ann@example.com',
      customAttributes: { city: 'Graz', orders: '12' },
    },
    { name: 'Bob', email: 'not an address' },
    { name: 'Cy', phoneNumber: '+49 30 901820', customAttributes: { vip: 'yes', colour: 'red' } },
    { name: 'Di', customAttributes: { orders: 'many' } },
  ])
  assert.equal(first.status, 200, JSON.stringify(first.body))
  const { refused, ...rest } = first.body
  assert.deepEqual(rest, { created: 2, updated: 0, unknownAttributes: ['colour'] })
  assert.deepEqual(
    refused.map(({ index }: { index: number }) => index),
    [1, 3],
  )
  assert.match(refused[0].reason, /^email: /)
  assert.match(refused[1].reason, /^customAttributes\.orders: Must be a number/)

  const second = await send([
    { email: 'ANN@example.com', name: 'Ann Berg' },
    { phoneNumber: '+4930901820', email: 'cy@example.com' },
    { externalId: 'new', name: 'Eve' },
  ])
  assert.deepEqual([second.body.created, second.body.updated], [1, 2])
  const { data } = (await client.request('GET', `/agents/${agentId}/contacts`)).body
  const byName = new Map<string, Record<string, unknown>>(
    data.map((contact: { name: string }) => [contact.name, contact]),
  )
  assert.equal(data.length, 3)
  assert.deepEqual(byName.get('Ann Berg')?.customAttributes, { city: 'Graz', orders: 12 })
  assert.deepEqual(byName.get('Cy')?.customAttributes, { vip: true })
  assert.equal(byName.get('Cy')?.email, 'cy@example.com')
})

test('an empty import is rejected', async () => {
  assert.equal((await send([])).status, 400)
})
