import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { type Answer, type Client, type Service, startService } from '../../../test/start.ts'

let service: Service
let client: Client
let chatbotId: string

before(async () => {
  service = await startService()
})
after(() => service.close())
beforeEach(async () => {
  client = await service.account()
  chatbotId = (await client.request('POST', '/agents', { name: 'Agent' })).body.id
})

const call = (method: string, path: string, body?: unknown): Promise<Answer> =>
  client.request(method, `/api/v1/chatbots/${chatbotId}${path}`, body)
const create = (...users: object[]): Promise<Answer> => call('POST', '/contacts', { users })
const attribute = async (name: string, type: string): Promise<void> => {
  assert.equal((await call('POST', '/custom-attributes', { name, type })).status, 201)
}
const read = async (externalId: string) =>
  (await call('GET', `/contacts/${encodeURIComponent(externalId)}`)).body.data

test('values must match the type of their attribute', async () => {
  const fits: Record<string, unknown[]> = {
    text: ['', 'gold', '12'],
    number: [0, -1.5, 12],
    boolean: [true, false],
    date: ['2026-02-28', '2026-02-28T10:00:00Z', '2026-02-28T10:00:00.123+02:00'],
  }
  const other = ['words', 7, true, '2026-02-30', [], {}, 'x'.repeat(2_001)]
  for (const type of Object.keys(fits)) await attribute(`a_${type}`, type)
  await create({ external_id: 'ann' })
  const put = (name: string, value: unknown) =>
    call('PATCH', '/contacts/ann', { custom_attributes: { [name]: value } })
  for (const [type, values] of Object.entries(fits)) {
    for (const value of values) {
      const { status, body } = await put(`a_${type}`, value)
      assert.deepEqual([status, body.data?.custom_attributes[`a_${type}`]], [200, value])
    }
    const isText = (value: unknown) => typeof value === 'string' && value.length < 2_000
    for (const value of other) {
      if (typeof value === type || (type === 'text' && isText(value))) continue
      assert.equal((await put(`a_${type}`, value)).status, 400, `${type}: ${JSON.stringify(value)}`)
    }
  }
  assert.equal((await put('unheard_of', 1)).status, 400)
  assert.equal((await put('constructor', 'x')).status, 400)
  assert.deepEqual(Object.keys((await read('ann')).custom_attributes).sort(), [
    'a_boolean',
    'a_date',
    'a_number',
    'a_text',
  ])
})

test('a change merges attributes by name, and null removes one', async () => {
  for (const name of ['a', 'b', 'c']) await attribute(name, 'number')
  await create({ external_id: 'ann', custom_attributes: { a: 1, b: 2, c: null } })
  await call('PATCH', '/contacts/ann', { custom_attributes: { b: null, c: 3 } })
  assert.deepEqual((await read('ann')).custom_attributes, { a: 1, c: 3 })
})

test('an archived attribute remains readable and can only be removed', async () => {
  await attribute('plan', 'text')
  await create({ external_id: 'ann', custom_attributes: { plan: 'gold' } })
  assert.equal((await call('PUT', '/custom-attributes/plan', { archived: true })).status, 200)
  assert.equal((await read('ann')).custom_attributes.plan, 'gold')
  const set = (plan: unknown) => call('PATCH', '/contacts/ann', { custom_attributes: { plan } })
  assert.equal((await set('silver')).status, 400)
  assert.equal((await create({ external_id: 'bob', custom_attributes: { plan: 'gold' } })).status, 400)
  assert.equal((await set(null)).status, 200)
  assert.deepEqual((await read('ann')).custom_attributes, {})
  await call('PUT', '/custom-attributes/plan', { archived: false })
  assert.equal((await set('silver')).status, 200)
})

test('the name and type of an attribute are fixed, and invalid changes are reported', async () => {
  await attribute('plan', 'text')
  const { body } = await call('PUT', '/custom-attributes/plan', { type: 'number' })
  assert.equal(body.message, 'Invalid request data')
  assert.deepEqual(body.issues, [{ field: 'type', message: 'The type cannot be changed; it is text.' }])
  assert.equal((await call('PUT', '/custom-attributes/plan', { name: 'plan2' })).status, 400)
  const same = { name: 'plan', type: 'text', label: 'Plan', description: 'd' }
  const changed = await call('PUT', '/custom-attributes/plan', same)
  assert.deepEqual(changed.body.data, { ...same, archived: false })
  assert.equal((await call('POST', '/custom-attributes', { name: 'plan', type: 'date' })).status, 409)
  for (const name of ['1a', 'a b', 'ä', '', '-a', 'a.b']) {
    const refused = await call('POST', '/custom-attributes', { name, type: 'text' })
    assert.deepEqual([refused.status, refused.body.issues[0].field], [400, 'name'])
  }
})

test('a batch is stored completely or not at all', async () => {
  await attribute('age', 'number')
  await create({ external_id: 'ann' })
  const batches: [number, object[]][] = [
    [409, [{ external_id: 'bob' }, { external_id: 'ann' }]],
    [409, [{ external_id: 'bob' }, { external_id: 'bob' }]],
    [400, [{ external_id: 'bob' }, { external_id: 'eve', custom_attributes: { age: 'x' } }]],
    [400, [{ external_id: 'bob' }, { name: 'no id' }]],
    [400, [{ external_id: 'bob' }, { external_id: '..' }]],
    [400, []],
  ]
  for (const [status, users] of batches) assert.equal((await create(...users)).status, status)
  assert.equal((await call('GET', '/contacts')).body.total, 1)
})

test('a thousand contacts are added at once, in order, and listed in pages', async () => {
  const users = Array.from({ length: 1_000 }, (_, i) => ({ external_id: `user ${i}/ö`, name: `N ${i}` }))
  const { status, body } = await create(...users)
  assert.equal(status, 201)
  assert.deepEqual(
    body.data.map(({ external_id }: { external_id: string }) => external_id),
    users.map(({ external_id }) => external_id),
  )
  assert.equal((await create(...users, { external_id: 'one more' })).status, 400)
  const seen = new Set<string>()
  for (let page = 1; page <= 10; page++) {
    const answer = await call('GET', `/contacts?page=${page}&per_page=100`)
    assert.deepEqual([answer.body.total, answer.body.pages], [1_000, 10])
    for (const { external_id } of answer.body.data) seen.add(external_id)
  }
  assert.equal(seen.size, 1_000)
  assert.deepEqual((await call('GET', '/contacts?page=11&per_page=100')).body.data, [])
  assert.equal((await read('user 999/ö')).name, 'N 999')
})

test('phone numbers are stored as E.164 if they can be parsed', async () => {
  await create(
    { external_id: 'a', phonenumber: '+1 (415) 555-2671' },
    { external_id: 'b', phonenumber: ' extension 12 ' },
  )
  assert.equal((await read('a')).phonenumber, '+14155552671')
  assert.equal((await read('b')).phonenumber, 'extension 12')
  await call('PATCH', '/contacts/b', { phonenumber: '+49 30 901820' })
  assert.equal((await read('b')).phonenumber, '+4930901820')
  await call('PATCH', '/contacts/b', { phonenumber: null, name: 'Bob' })
  assert.deepEqual([(await read('b')).phonenumber, (await read('b')).name], [null, 'Bob'])
})

test('two concurrent changes both take effect', async () => {
  for (const name of ['a', 'b']) await attribute(name, 'number')
  await create({ external_id: 'ann' })
  await Promise.all(
    ['a', 'b'].map((name) => call('PATCH', '/contacts/ann', { custom_attributes: { [name]: 1 } })),
  )
  assert.deepEqual((await read('ann')).custom_attributes, { a: 1, b: 1 })
})
