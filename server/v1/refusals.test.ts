import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Schema, sampleOf, wrongTypeOf } from '../../test/sample.ts'
import { type Answer, type Client, type Service, startService } from '../../test/start.ts'
import { plans } from '../accounts/plans/plans.ts'
import { newId } from '../platform/db/ids.ts'
import type { Endpoint } from '../platform/http/contract.ts'
import { version1Routes } from './routes.ts'

/** The negative tests of test/every-route.test.ts for version 1, with the responses of version 1. */
let service: Service
let endpoints: Endpoint[]

before(async () => {
  service = await startService({ RATE_LIMIT: '100/10' })
  assert.deepEqual(
    new Set(ENDPOINTS),
    new Set(version1Routes(service.ctx).map(({ endpoint }) => endpoint.name)),
  )
  endpoints = version1Routes(service.ctx).map(({ endpoint }) => endpoint)
})
after(() => service.close())

/** The errors that docs/guide/version-1.md lists. Tests are named before the service starts. */
const ENDPOINTS = [
  'chat',
  'createChatbot',
  'listChatbots',
  'deleteChatbot',
  'updateChatbotData',
  'updateChatbotSettings',
  'uploadIcon',
  'uploadProfilePicture',
  'deleteIcon',
  'deleteProfilePicture',
  'listConversations',
  'listLeads',
  'createContacts',
  'listContacts',
  'readContact',
  'updateContact',
  'deleteContact',
  'createAttribute',
  'listAttributes',
  'updateAttribute',
]

const SAYS: Record<number, string> = {
  400: 'Invalid request data',
  403: 'Access denied or quota exceeded',
  404: 'Resource not found',
  405: 'Method not allowed',
  413: 'Request body too large',
  415: 'Unsupported media type',
  429: 'Rate limit exceeded',
}

/** The complete body; for custom attributes, it may also say what is wrong. */
function assertSays({ status, body, headers }: Answer, expected: number, message = SAYS[expected]): void {
  assert.equal(status, expected, JSON.stringify(body))
  const { issues: _, ...rest } = body
  assert.deepEqual(rest, { message })
  assert.match(headers.get('content-type') ?? '', /^application\/json/)
  assert.ok(headers.get('x-request-id'))
  assert.equal(headers.get('x-ratelimit-limit'), '100')
  assert.ok(Number(headers.get('x-ratelimit-reset')) > Date.now() - 60_000)
}

type World = { client: Client; ids: Record<string, string> }

async function world(options: Parameters<Service['account']>[0] = {}): Promise<World> {
  const client = await service.account(options)
  const ids: Record<string, string> = { chatbotId: 'none', externalId: 'ann', name: 'plan' }
  const made = await client.request('POST', '/api/v1/create-chatbot', { chatbotName: 'Bot' })
  if (made.status !== 200) return { client, ids }
  ids.chatbotId = made.body.chatbotId
  const base = `/api/v1/chatbots/${ids.chatbotId}`
  await client.request('POST', `${base}/contacts`, { users: [{ external_id: 'ann' }] })
  await client.request('POST', `${base}/custom-attributes`, { name: 'plan', type: 'text' })
  return { client, ids }
}

function pathOf(endpoint: Endpoint, ids: Record<string, string>): string {
  const path = endpoint.path.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? '')
  const query = 'chatbotId' in (((endpoint.query ?? {}) as Schema).properties ?? {})
  return `/api/v1${path}${query ? `?chatbotId=${ids.chatbotId}` : ''}`
}

function bodyOf({ name, body }: Endpoint, ids: Record<string, string>): Record<string, unknown> | undefined {
  if (!body) return undefined
  const sample = sampleOf(body as Schema) as Record<string, unknown>
  const more: Record<string, object> = {
    chat: { messages: [{ role: 'user', content: 'Hi' }] },
    createContacts: { users: [{ external_id: 'new' }] },
  }
  return { ...sample, ...('chatbotId' in sample ? { chatbotId: ids.chatbotId } : {}), ...more[name] }
}

const hasUpload = (endpoint: Endpoint): boolean => endpoint.multipart !== undefined

const ask = ({ client, ids }: World, endpoint: Endpoint, body = bodyOf(endpoint, ids)): Promise<Answer> =>
  client.request(endpoint.method, pathOf(endpoint, ids), body)

for (const name of ENDPOINTS) {
  describe(name, () => {
    let endpoint: Endpoint
    before(() => {
      endpoint = endpoints.find((one) => one.name === name)!
    })

    test('works with permission, or reports that it needs a file', async () => {
      const { status } = await ask(await world(), endpoint)
      assert.ok(status < 300 || (hasUpload(endpoint) && status === 415), String(status))
    })

    test('needs a valid key and the scope', async () => {
      const { ids } = await world()
      const path = pathOf(endpoint, ids)
      assertSays(await service.anonymous(endpoint.method, path), 401, 'No API key provided')
      const wrong = { authorization: 'Bearer parley_wrong' }
      assertSays(await service.anonymous(endpoint.method, path, undefined, wrong), 401, 'Invalid API key')
      assertSays(await ask(await world({ scopes: [] } as object), endpoint), 403)
    })

    test('hides chatbots of other accounts and nonexistent ones', async () => {
      if (name === 'createChatbot' || name === 'listChatbots' || hasUpload(endpoint)) return
      const mine = await world()
      const theirs = await world()
      for (const chatbotId of [theirs.ids.chatbotId!, newId().slice(0, 21)]) {
        assertSays(await ask({ ...mine, ids: { ...mine.ids, chatbotId } }, endpoint), 404)
      }
      for (const part of ['externalId', 'name']) {
        if (!endpoint.path.includes(`{${part}}`)) continue
        assertSays(await ask({ ...mine, ids: { ...mine.ids, [part]: 'other' } }, endpoint), 404)
      }
    })

    test('accepts only its method and path', async () => {
      const { client, ids } = await world()
      const path = pathOf(endpoint, ids)
      const other = await client.request('PUT', endpoint.method === 'PUT' ? path.replace(/\/\w+$/, '') : path)
      assertSays(other, 405)
      assert.ok(other.headers.get('allow'))
      assertSays(await client.request(endpoint.method, `${path.split('?')[0]}/x/y/z`), 404)
    })

    test('rejects invalid JSON, other content types, and oversized bodies', async () => {
      if (endpoint.method === 'GET') return
      const { client, ids } = await world()
      const send = (body: string, type: string) =>
        client.request(endpoint.method, pathOf(endpoint, ids), body, { 'content-type': type })
      assertSays(await send('{"a":', 'application/json'), 400)
      assertSays(await send('<a/>', 'application/xml'), 415)
      const large = `"${'x'.repeat((endpoint.bodyLimit ?? 1_048_576) + 1)}"`
      assertSays(await send(large, 'application/json'), 413)
    })

    test('ignores unknown fields, and rejects wrong types and NUL characters', async () => {
      const properties = Object.entries(((endpoint.body ?? {}) as Schema).properties ?? {})
      if (properties.length === 0) return
      const made = await world()
      const base = bodyOf(endpoint, made.ids)
      const { status, headers } = await ask(made, endpoint, { ...base, unheardOf: '\0' })
      assert.ok(status < 300, String(status))
      assert.equal(headers.get('x-parley-ignored-fields'), 'unheardOf')
      for (const [field, schema] of properties) {
        const wrong = wrongTypeOf(schema)
        if (wrong !== undefined) assertSays(await ask(made, endpoint, { ...base, [field]: wrong }), 400)
        if (schema.type !== 'string' || schema.enum) continue
        assertSays(await ask(made, endpoint, { ...base, [field]: 'a\0b' }), 400)
      }
    })
  })
}

test('unknown paths and malformed URLs get the body of version 1', async () => {
  const { client } = await world()
  for (const path of ['', '/', '/agents', '/chat/', '/%ff', '/chatbots/%ff/contacts', '/chat%00']) {
    assertSays(await client.request('GET', `/api/v1${path}`), 404)
  }
  const beside = await client.request('GET', '/api/v1x')
  assert.equal(beside.body.error.code, 'ROUTE_NOT_FOUND')
})

test('a malformed, bare or expired key is invalid', async () => {
  const { client } = await world()
  const expired = await service.account({ expiresAt: new Date(Date.now() - 1_000) })
  for (const authorization of ['', 'Bearer', 'Basic abc', client.key, `Bearer ${expired.key}`]) {
    const answer = await service.anonymous('GET', '/api/v1/get-chatbots', undefined, { authorization })
    assertSays(answer, 401, 'Invalid API key')
  }
})

test('the rate limit is shared with version 2', async () => {
  const client = await service.account()
  const authorization = `Bearer ${client.key}`
  const ask = (count: number, path: string) =>
    Promise.all(
      Array.from({ length: count }, () => service.anonymous('GET', path, undefined, { authorization })),
    )
  const asked = [...(await ask(50, '/api/v1/get-chatbots')), ...(await ask(50, '/api/v2/me'))]
  assert.ok(asked.every(({ status }) => status === 200))
  const last = (await ask(5, '/api/v1/get-chatbots')).at(-1)!
  assertSays(last, 429)
  assert.ok(Number(last.headers.get('retry-after')) >= 1)
  assert.equal(last.headers.get('x-ratelimit-remaining'), '0')
})

test('during maintenance nothing is read or written', async () => {
  const { client } = await world()
  await service.ctx.maintenance.set(true)
  try {
    const answer = await client.request('GET', '/api/v1/get-chatbots')
    assertSays(answer, 503, 'The service is under maintenance. Try again shortly.')
    assert.equal((await fetch(`${service.url}/pictures/x/icon`)).status, 503)
  } finally {
    await service.ctx.maintenance.set(false)
  }
})

test('internal errors are 500 and reveal nothing', async () => {
  const { client, ids } = await world()
  const { db } = service.ctx
  const id = newId()
  const owned = { account_id: client.accountId, agent_id: ids.chatbotId! }
  await db
    .insertInto('conversations')
    .values({ ...owned, id, source: 'API', status: 'ongoing' })
    .execute()
  // Covers the parts that no code writes.
  const broken = { ...owned, id: newId(), conversation_id: id, seq: 1, role: 'user' as const, parts: '{}' }
  await db.insertInto('messages').values(broken).execute()
  const answer = await client.request('GET', `/api/v1/get-conversations?chatbotId=${ids.chatbotId}`)
  assertSays(answer, 500, 'Internal server error')
})

test('a full plan is 403', async () => {
  const client = await service.account({ plan: 'standard' })
  for (let i = 0; i < 5; i++) {
    const { status } = await client.request('POST', '/api/v1/create-chatbot', { chatbotName: 'Bot' })
    assert.equal(status, 200)
  }
  assertSays(await client.request('POST', '/api/v1/create-chatbot', { chatbotName: 'Bot' }), 403)
})

test('a text that exceeds the plan is 403, and leaves no chatbot behind', async () => {
  const client = await service.account({ plan: 'standard' })
  const { body } = await client.request('POST', '/api/v1/create-chatbot', { chatbotName: 'Bot' })
  const source = { type: 'text', name: 'x', content: 'word' }
  const { id } = (await client.request('POST', `/agents/${body.chatbotId}/sources`, source)).body
  const size = plans.standard.trainingBytes - 10
  await service.ctx.db.updateTable('sources').set({ size }).where('id', '=', id).execute()
  const sourceText = 'More than ten bytes.'
  const data = { chatbotId: body.chatbotId, chatbotName: 'Renamed', sourceText }
  assertSays(await client.request('POST', '/api/v1/update-chatbot-data', data), 403)
  const { chatbots } = (await client.request('GET', '/api/v1/get-chatbots')).body
  assert.deepEqual(
    chatbots.map((chatbot: { name: string }) => chatbot.name),
    ['Bot'],
  )
})
