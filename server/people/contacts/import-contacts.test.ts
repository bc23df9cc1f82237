import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { onPostgres } from '../../../test/database.ts'
import { type Client, type Service, startService } from '../../../test/start.ts'
import { waitingForLock } from '../../../test/until.ts'
import type { Trx } from '../../platform/db/database.ts'
import { createContacts, updateContact } from '../records/write-contacts.ts'
import { importContacts } from './import-contacts.ts'

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

test('two lists of the same people in different orders do not deadlock', {
  skip: !onPostgres(),
}, async () => {
  const { db } = service.ctx
  const ref = { accountId: client.accountId, agentId }
  const add = (trx: Trx, external_id: string) => createContacts(trx, ref, [{ external_id }], () => '')
  const change = (trx: Trx, externalId: string) => updateContact(trx, ref, externalId, { name: 'X' }, '')
  const imported = (ids: string[]) =>
    importContacts(
      db,
      ref,
      ids.map((externalId) => ({ externalId })),
    )
  const listed = (ids: string[]) =>
    createContacts(
      db,
      ref,
      ids.map((external_id) => ({ external_id })),
      () => '',
    )
  for (const [step, other, wanted] of [
    [add, imported, 'RESOURCE_DUPLICATE'],
    [change, imported, { created: 0, updated: 2, refused: [], unknownAttributes: [] }],
    [add, listed, 'RESOURCE_DUPLICATE'],
  ] as const) {
    const ids = step === add ? [`${other.name}-1`, `${other.name}-2`] : ['imported-1', 'imported-2']
    const { done } = await db.transaction().execute(async (trx) => {
      await step(trx, ids[0]!)
      const done = other(ids.toReversed()).catch((error: { code?: string }) => error.code)
      await waitingForLock(db, 'contacts')
      await step(trx, ids[1]!)
      return { done }
    })
    assert.deepEqual(await done, wanted)
  }
})
