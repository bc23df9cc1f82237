import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { type Client, type Service, startService } from '../../test/start.ts'
import { toolkitOf } from './definitions/for-tests.ts'

let service: Service
let client: Client
let agentId: string
let path: string

before(async () => {
  service = await startService()
})
after(() => service.close())
beforeEach(async () => {
  client = await service.account()
  agentId = (await client.request('POST', '/agents', { name: 'Agent' })).body.id
  path = `/agents/${agentId}/actions`
})

const lookup = { name: 'lookup', type: 'client', description: 'Finds an order.' }
const http = { ...lookup, type: 'http', http: { method: 'GET', url: 'https://api.example.com/x' } }
const create = (body: object) => client.request('POST', path, body)
const put = (id: string, body: object) => client.request('PUT', `${path}/${id}`, body)
const read = async (id: string) => (await client.request('GET', `${path}/${id}`)).body
const version = async () =>
  (
    await service.ctx.db
      .selectFrom('agents')
      .select('tools_version')
      .where('id', '=', agentId)
      .executeTakeFirstOrThrow()
  ).tools_version

async function refused(
  work: Promise<{ status: number; body: { error: { code: string; details: object } } }>,
) {
  const { status, body } = await work
  assert.deepEqual([status, body.error?.code], [400, 'VALIDATION_INVALID_BODY'], JSON.stringify(body))
  return body.error.details as Record<string, string>
}

test('an action is created with defaults, read, partially changed and deleted', async () => {
  const made = await create(lookup)
  assert.equal(made.status, 201)
  const { id, createdAt, updatedAt, ...rest } = made.body
  assert.deepEqual(rest, {
    ...lookup,
    enabled: true,
    channels: null,
    inputs: { type: 'object', properties: {} },
    http: null,
  })
  assert.match(createdAt, /^\d{4}-.*\.\d{3}Z$/)
  assert.equal(updatedAt, createdAt)
  assert.deepEqual(await read(id), made.body)

  const inputs = { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] }
  const changed = await put(id, { channels: ['api', 'phone'], inputs, enabled: false })
  assert.equal(changed.status, 200)
  assert.deepEqual(changed.body, {
    ...made.body,
    channels: ['api', 'phone'],
    inputs,
    enabled: false,
    updatedAt: changed.body.updatedAt,
  })
  assert.equal((await put(id, { channels: null })).body.channels, null)
  assert.deepEqual(await put(id, {}).then(({ status }) => status), 200)

  const gone = await client.request('DELETE', `${path}/${id}`)
  assert.deepEqual([gone.status, gone.body], [200, { success: true }])
  for (const method of ['GET', 'PUT', 'DELETE']) {
    const answer = await client.request(method, `${path}/${id}`, method === 'PUT' ? {} : undefined)
    assert.deepEqual([answer.status, answer.body.error.code], [404, 'RESOURCE_NOT_FOUND'], method)
  }
})

test('the list is newest first, and its pages contain every action once', async () => {
  const ids: string[] = []
  for (let n = 0; n < 5; n++) ids.unshift((await create({ ...lookup, name: `a${n}` })).body.id)
  const found: string[] = []
  let cursor = ''
  do {
    const { body } = await client.request('GET', `${path}?limit=2${cursor}`)
    assert.equal(body.pagination.total, 5)
    found.push(...body.data.map((action: { id: string }) => action.id))
    cursor = body.pagination.cursor ? `&cursor=${body.pagination.cursor}` : ''
    assert.equal(body.pagination.hasMore, cursor !== '')
  } while (cursor)
  assert.deepEqual(found, ids)
})

test('duplicate, reserved and invalid names are rejected', async () => {
  const { body } = await create(lookup)
  assert.match((await refused(create(lookup))).name ?? '', /has this name/)
  const other = (await create({ ...lookup, name: 'Lookup' })).body
  assert.match((await refused(put(other.id, { name: 'lookup' }))).name ?? '', /has this name/)
  assert.equal((await put(body.id, { name: 'lookup' })).status, 200, 'its own name')
  for (const name of ['start_procedure', 'finish_procedure'])
    assert.match((await refused(create({ ...lookup, name }))).name ?? '', /taken by the service/)
  for (const name of ['', '1st', 'with space', 'x'.repeat(65), 'grüße'])
    assert.ok((await refused(create({ ...lookup, name }))).name, name)
})

test('the type cannot change, determines whether there is a request, and fixes the inputs of built-in actions', async () => {
  const { body } = await create(lookup)
  assert.match((await refused(put(body.id, { type: 'escalate' }))).type ?? '', /Cannot be changed/)
  assert.ok((await refused(create({ ...http, type: 'client', name: 'b' }))).http)
  assert.ok((await refused(put(body.id, { http: http.http }))).http)
  assert.ok((await refused(create({ ...lookup, type: 'http', name: 'b' }))).http)
  assert.match((await refused(create({ ...lookup, type: 'web-search', name: 'b' }))).type ?? '', /SEARCH_URL/)
  for (const type of ['collect-leads', 'escalate']) {
    const made = await create({ name: type, type, description: 'x' })
    assert.equal(made.status, 201)
    assert.deepEqual(made.body.inputs.additionalProperties, false)
    const inputs = { type: 'object' }
    assert.match((await refused(create({ name: 'b', type, description: 'x', inputs }))).inputs ?? '', /fixed/)
    assert.match((await refused(put(made.body.id, { inputs }))).inputs ?? '', /fixed/)
    const sentBack = { ...made.body, id: undefined, createdAt: undefined, updatedAt: undefined }
    assert.equal((await put(made.body.id, sentBack)).status, 200, 'what was read may be sent back')
  }
})

test('invalid inputs are rejected with the reason, and all invalid fields are reported together', async () => {
  const wrong: [object, RegExp][] = [
    [{ type: 'string' }, /describe an object/],
    [{ properties: {} }, /describe an object/],
    [{ type: 'object', properties: { a: { type: 'text' } } }, /properties\/a\/type/],
    [{ type: 'object', $ref: 'https://example.com/schema' }, /Must not refer to "https/],
    [{ type: 'object', properties: { a: { pattern: '(a)\\1' } } }, /linear time/],
    [{ type: 'object', description: 'x'.repeat(32_768) }, /32 KB/],
  ]
  for (const [inputs, reason] of wrong)
    assert.match((await refused(create({ ...lookup, inputs }))).inputs ?? '', reason)
  const { body } = await create(lookup)
  assert.match(
    (await refused(put(body.id, { inputs: { type: 'array' } }))).inputs ?? '',
    /describe an object/,
  )
  const many = {
    ...http,
    name: 'finish_procedure',
    inputs: { type: 'object', required: 7 },
    http: {
      method: 'GET',
      url: 'ftp://example.com',
      headers: { Host: 'x', 'X-A': '{{nothing}}' },
      body: 'x',
    },
  }
  assert.deepEqual(Object.keys(await refused(create(many))).sort(), [
    'http.body',
    'http.headers.Host',
    'http.headers.X-A',
    'http.url',
    'inputs',
    'name',
  ])
})

test('an agent has at most 100 actions, also under concurrency', async () => {
  const { id: account_id } = await service.ctx.db
    .selectFrom('accounts')
    .select('id')
    .where('id', '=', client.accountId)
    .executeTakeFirstOrThrow()
  const rows = Array.from({ length: 98 }, (_, n) => ({
    id: crypto.randomUUID(),
    account_id,
    agent_id: agentId,
    name: `a${n}`,
    type: 'client' as const,
    description: 'x',
    enabled: true,
    inputs: '{"type":"object"}',
  }))
  await service.ctx.db.insertInto('actions').values(rows).execute()
  const answers = await Promise.all(
    Array.from({ length: 5 }, (_, n) => create({ ...lookup, name: `more${n}` })),
  )
  assert.equal(answers.filter(({ status }) => status === 201).length, 2)
  const full = answers.find(({ status }) => status === 400)
  assert.match(full?.body.error.details.body, /at most 100 actions/)
})

test('every change increases the version, is written to the audit log, and appears in the next toolkit', async () => {
  assert.equal(await version(), 0)
  assert.deepEqual(await toolkitOf(service.ctx, agentId), { tools: [], procedures: null, running: null })
  const { body } = await create(lookup)
  assert.equal(await version(), 1)
  const [tool] = (await toolkitOf(service.ctx, agentId)).tools
  assert.deepEqual([tool?.name, tool?.type, tool?.run], ['lookup', 'client', null])

  await put(body.id, {})
  await refused(create(lookup))
  assert.equal(await version(), 1, 'neither nothing nor a refused change')
  await put(body.id, { description: 'Other.', channels: ['phone'] })
  assert.deepEqual((await toolkitOf(service.ctx, agentId)).tools, [])
  assert.equal((await toolkitOf(service.ctx, agentId, { channel: 'phone' })).tools[0]?.description, 'Other.')
  await put(body.id, { enabled: false })
  assert.deepEqual((await toolkitOf(service.ctx, agentId, { channel: 'phone' })).tools, [])
  await client.request('DELETE', `${path}/${body.id}`)
  assert.equal(await version(), 4)
  const audit = await service.ctx.db
    .selectFrom('audit_log')
    .select(['action', 'detail'])
    .where('target', '=', body.id)
    .orderBy('id')
    .execute()
  assert.deepEqual(
    audit.map(({ action, detail }) => [action, detail?.name]),
    ['create', 'update', 'update', 'delete'].map((what) => [`action.${what}`, 'lookup']),
  )
})

test('a tool reports what is wrong with an input by the name of the field', async () => {
  const inputs = {
    type: 'object',
    properties: { order: { type: 'string', pattern: '^\\d+$' }, size: { enum: ['s', 'l'] } },
    required: ['order'],
    additionalProperties: false,
  }
  await create({ ...lookup, inputs })
  const [tool] = (await toolkitOf(service.ctx, agentId)).tools
  assert.deepEqual(tool?.inputSchema, inputs)
  assert.equal(tool?.refuse({ order: '12', size: 's' }), null)
  assert.equal(tool?.refuse({}), 'The input "order" is required.')
  assert.equal(tool?.refuse({ order: '1', color: 1 }), 'The input "color" is not known.')
  assert.equal(tool?.refuse({ order: '1', size: 'xl' }), 'The input "size" must be one of: s, l.')
  assert.match(tool?.refuse({ order: 'x' }) ?? '', /^The input "order" must match pattern/)
  for (const input of [null, 'x', [], 7]) assert.equal(tool?.refuse(input), 'The input must be object.')
})

test("a key needs the scope for actions, and other accounts' actions are not visible", async () => {
  const { body } = await create(lookup)
  const reader = await service.account({ scopes: ['actions:read'] })
  const foreign = await reader.request('GET', `${path}/${body.id}`)
  assert.deepEqual([foreign.status, foreign.body.error.code], [404, 'AGENT_NOT_FOUND'])
  const write = await reader.request('POST', path, lookup)
  assert.deepEqual([write.status, write.body.error.code], [403, 'AUTH_INSUFFICIENT_PERMISSIONS'])
})
