import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { roles, scopesOf } from '../server/accounts/keys/roles.ts'
import { createAgent } from '../server/agents/records/create-agent.ts'
import { contracts, rawContracts } from '../server/features.ts'
import { newId } from '../server/platform/db/ids.ts'
import { json } from '../server/platform/db/statements/json.ts'
import type { Role } from '../server/platform/db/tables/accounts.ts'
import type { Endpoint } from '../server/platform/http/contract.ts'
import { errorCodes } from '../server/platform/http/errors.ts'
import { bodyOf as bodyOfOperation } from './operations.ts'
import { requestsTo, type Sent } from './raw-routes.ts'
import { type Schema, wrongTypeOf } from './sample.ts'
import { type Answer, type Client, type Service, startService } from './start.ts'
import { memberOf, signIn, type Worker } from './workspace.ts'

/**
 * The negative tests, generated from the contracts, so that an endpoint is covered before anyone writes a test for
 * it.
 */

let service: Service
/** The accounts of all requests that have no effect, of a key and of a member. */
let ofKey: World
let ofMember: World
/** Another account than that of a test. */
let theirs: World
/** A client whose plan has no access to the API, and one whose key has no scopes. */
let free: Client
let narrow: Client

before(async () => {
  // The service trusts a proxy, so that requests without a key can come from many addresses and stay within the rate
  // limit.
  service = await startService({ TRUSTED_PROXIES: '127.0.0.1' })
  ofKey = await world()
  ofMember = await world({ isMember: true })
  theirs = await world()
  free = await service.account({ plan: 'free' })
  narrow = await service.account({ scopes: [] })
})
after(() => service.close())

type World = { client: Client; ids: Record<string, string>; owner: Worker | null }

/** Creates an account, which has its own rate limit, with an agent, a source and a conversation. */
async function world(
  options: Parameters<Service['account']>[0] & { isMember?: boolean | undefined } = {},
): Promise<World> {
  const client = await service.account(options)
  const owner = options.isMember ? await memberOf(service, client.accountId, 'owner') : null
  const account = { id: client.accountId, plan: 'unlimited' }
  const agentId = await createAgent(service.ctx.db, account, 'test', { name: 'Agent' })
  const sourceId = newId()
  const conversationId = newId()
  const owned = { account_id: client.accountId, agent_id: agentId }
  await service.ctx.db
    .insertInto('sources')
    .values({ ...owned, id: sourceId, type: 'text', name: 'x', status: 'trained', content: '{"text":"x"}' })
    .execute()
  await service.ctx.db
    .insertInto('conversations')
    .values({ ...owned, id: conversationId, source: 'API', status: 'ongoing' })
    .execute()
  const contactId = newId()
  await service.ctx.db
    .insertInto('contacts')
    .values({ ...owned, id: contactId, external_id: 'user-1', custom_attributes: '{}' })
    .execute()
  const actionId = newId()
  const procedureId = newId()
  const named = { ...owned, name: 'x', enabled: false }
  await service.ctx.db
    .insertInto('actions')
    .values({ ...named, id: actionId, type: 'client', description: 'x', inputs: '{"type":"object"}' })
    .execute()
  await service.ctx.db
    .insertInto('procedures')
    .values({ ...named, id: procedureId, trigger: 'x', steps: '[]' })
    .execute()
  await service.ctx.db
    .insertInto('tickets')
    .values({
      ...owned,
      id: newId(),
      number: 1,
      status_category: 'new',
      customer: json({ id: null, name: null, email: null, phoneNumber: null }),
      metadata: json({}),
      channel: 'helpdesk',
    })
    .execute()
  return {
    client: owner ? { ...client, request: owner.request } : client,
    owner,
    ids: {
      agentId,
      sourceId,
      conversationId,
      contactId,
      actionId,
      procedureId,
      userId: 'user-1',
      ticketNumber: '1',
    },
  }
}

const pathOf = (endpoint: Endpoint, ids: Record<string, string>): string =>
  endpoint.path.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? `no-${name}`)

const bodyOf = (endpoint: Endpoint): Record<string, unknown> | undefined =>
  bodyOfOperation({ prefix: '/api/v2', endpoint })

const ask = (
  client: Client,
  endpoint: Endpoint,
  ids: Record<string, string>,
  body = bodyOf(endpoint),
  query = '',
) =>
  endpoint.multipart && body === undefined
    ? client.request(endpoint.method, pathOf(endpoint, ids) + query, formOf(endpoint.multipart.file), FORM)
    : client.request(
        endpoint.method,
        pathOf(endpoint, ids) + query,
        endpoint.method === 'GET' ? undefined : body,
      )

const FORM = { 'content-type': 'multipart/form-data; boundary=b' }
const formOf = (file: string): string =>
  `--b\r\nContent-Disposition: form-data; name="${file}"; filename="x.txt"\r\n\r\nx\r\n--b--\r\n`

function assertUnknown(endpoint: Endpoint, { status, headers, body }: Answer, name: string): void {
  const ignored = headers.get('x-parley-ignored-fields')
  if (endpoint.unknownFields === 'ignored') {
    assert.equal(ignored, name)
    assert.ok(!JSON.stringify(body?.error?.details ?? {}).includes(name), JSON.stringify(body))
  } else {
    assert.deepEqual([status, body.error.code, ignored], [400, 'VALIDATION_INVALID_BODY', null])
    assert.ok(body.error.details[name], JSON.stringify(body))
  }
}

const protectedEndpoints = contracts.filter(({ scope }) => scope !== null)

test('names and routes are unique, and every route is in the reference', () => {
  const routes = contracts.map(({ method, path }) => `${method} ${path}`)
  assert.equal(new Set(routes).size, routes.length)
  assert.equal(new Set(contracts.map(({ name }) => name)).size, contracts.length)
})

test('data of a deleted agent is inaccessible before it is deleted', async () => {
  const { client, ids } = await world()
  await service.ctx.db
    .deleteFrom('agents')
    .where('id', '=', ids.agentId ?? '')
    .execute()
  for (const endpoint of protectedEndpoints) {
    if (!/\{(agentId|chatbotId)\}/.test(endpoint.path)) continue
    const { status } = await ask(client, endpoint, { chatbotId: ids.agentId ?? '', ...ids })
    assert.equal(status, 404, `${endpoint.method} ${endpoint.path}`)
  }
})

/** The roles that cannot be limited to agents. */
const WHOLE_ACCOUNT: Role[] = ['owner', 'admin']

describe('signed-in members', () => {
  const unsafe = protectedEndpoints.filter(({ method }) => method !== 'GET')
  /** Sends a request that has no effect, because its ids do not exist and its body has an unknown field. */
  const probe = (worker: Worker, endpoint: Endpoint, headers = {}, ids: Record<string, string> = {}) => {
    const path = endpoint.path.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? newId())
    const body = endpoint.method === 'GET' ? undefined : { unheardOf: '\0' }
    return worker.request(endpoint.method, path, body, headers)
  }

  for (const role of roles) {
    test(`${role}: every endpoint requires exactly the scopes of the role`, async () => {
      const { accountId } = await service.account({ plan: 'free' })
      const worker = await memberOf(service, accountId, role)
      for (const endpoint of protectedEndpoints) {
        const name = `${endpoint.method} ${endpoint.path}`
        const { status, body } = await probe(worker, endpoint)
        if (endpoint.scope && scopesOf(role).includes(endpoint.scope))
          assert.ok(![401, 403].includes(status), `${name}: ${JSON.stringify(body)}`)
        else assert.deepEqual([status, body.error.code], [403, 'AUTH_INSUFFICIENT_PERMISSIONS'], name)
      }
    })
  }

  test('changes are not accepted from pages of other sites', async () => {
    const { accountId } = await service.account()
    const worker = await memberOf(service, accountId, 'owner')
    const ways = [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { 'x-parley-session': '' },
      { 'content-type': 'text/plain', 'x-parley-session': '' },
    ]
    for (const [at, endpoint] of unsafe.entries()) {
      const { status, body } = await probe(worker, endpoint, ways[at % ways.length])
      assert.deepEqual([status, body.error.code], [403, 'AUTH_CROSS_SITE_REQUEST'], endpoint.path)
    }
  })

  for (const role of roles.filter((role) => !WHOLE_ACCOUNT.includes(role))) {
    test(`${role} limited to one agent: no access to other agents or to the whole account`, async () => {
      const { client, ids } = await world()
      const agentIds = [newId()]
      const worker = await memberOf(service, client.accountId, role, { agentIds })
      for (const endpoint of protectedEndpoints) {
        const { status, body } = await ask({ ...client, request: worker.request }, endpoint, ids)
        const name = `${endpoint.method} ${endpoint.path}: ${JSON.stringify(body)}`
        if (!scopesOf(role).includes(endpoint.scope as never)) assert.equal(status, 403, name)
        else if (endpoint.path.includes('{agentId}')) assert.equal(status, 404, name)
        else if (endpoint.limitedMembers !== 'all') assert.equal(status, 403, name)
        else assert.ok(endpoint.name !== 'listAgents' || body.data.length === 0, name)
        if (endpoint.name === 'signOut') await signIn(worker, worker.email)
      }
    })
  }

  test('owners and admins cannot be limited to agents', async () => {
    const { accountId } = await service.account()
    const { request } = await memberOf(service, accountId, 'owner')
    for (const role of WHOLE_ACCOUNT) {
      const wanted = { email: `${role}@example.com`, role, agentIds: [newId()] }
      const { status, body } = await request('POST', '/invitations', wanted)
      assert.equal(status, 400, JSON.stringify(body))
    }
  })

  test('ending a session takes effect everywhere at once', async () => {
    const { accountId } = await service.account()
    const worker = await memberOf(service, accountId, 'owner')
    const { cookies } = worker
    const stolen = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    assert.equal((await worker.request('POST', '/sign-out')).status, 200)
    for (const [at, endpoint] of protectedEndpoints.entries()) {
      const from = { cookie: stolen, 'x-forwarded-for': `10.78.0.${at}` }
      const { status, body } = await probe(worker, endpoint, from)
      assert.deepEqual([status, body.error.code], [401, 'AUTH_SESSION_ENDED'], endpoint.path)
    }
  })
})

/** Integers in the syntax of programming languages, percent-encoded. */
const NOT_DECIMAL = [
  '1e0',
  '1E1',
  '0x1',
  '0b1',
  '0o1',
  '1.',
  '1.0',
  '%2B1',
  '+1',
  '%201',
  '1%20',
  '1_0',
  '%D9%A1',
]

for (const endpoint of protectedEndpoints) {
  const isMember = endpoint.onlySessions
  describe(`${endpoint.method} ${endpoint.path}`, () => {
    let mine: World
    before(() => {
      mine = isMember ? ofMember : ofKey
    })
    /** An account for a request that may have an effect. */
    const another = async (): Promise<World> =>
      endpoint.unknownFields === 'ignored' ? world({ isMember }) : mine

    test('needs a valid key, a plan with API access and the scope', async () => {
      const { ids } = mine
      const path = pathOf(endpoint, ids)
      const from = { 'x-forwarded-for': `10.0.0.${protectedEndpoints.indexOf(endpoint)}` }
      const none = await service.anonymous(endpoint.method, path, undefined, from)
      assert.deepEqual([none.status, none.body.error.code], [401, 'AUTH_MISSING_API_KEY'])
      const bad = await service.anonymous(endpoint.method, path, undefined, {
        ...from,
        authorization: 'Bearer parley_wrong',
      })
      assert.deepEqual([bad.status, bad.body.error.code], [401, 'AUTH_INVALID_API_KEY'])
      const restricted = await ask(free, endpoint, ids)
      assert.deepEqual(
        [restricted.status, restricted.body.error.code],
        [403, 'SUBSCRIPTION_API_RESTRICTED_PLAN'],
      )
      const powerless = await ask(narrow, endpoint, ids)
      assert.deepEqual([powerless.status, powerless.body.error.code], [403, 'AUTH_INSUFFICIENT_PERMISSIONS'])
    })

    const parameters = [...endpoint.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '')
    // A user id is any text and a ticket number counts within its agent, so neither identifies an object of an account.
    const objects = parameters.filter((name) => name !== 'userId' && name !== 'ticketNumber')

    if (objects.length > 0) {
      test('hides what belongs to another account, and what does not exist', async () => {
        for (const name of objects) {
          const foreign = await ask(mine.client, endpoint, {
            ...mine.ids,
            [name]: theirs.ids[name] ?? newId(),
          })
          const unknown = await ask(mine.client, endpoint, { ...mine.ids, [name]: newId().slice(0, 21) })
          assert.equal(foreign.status, 404, `${name}: ${JSON.stringify(foreign.body)}`)
          assert.equal(unknown.status, 404, name)
          assert.equal(foreign.body.error.code, unknown.body.error.code)
          assert.deepEqual(foreign.body.error.message, unknown.body.error.message)
        }
        // A request with only ids of the other account must be answered like one with unknown ids.
        assert.equal((await ask(mine.client, endpoint, theirs.ids)).status, 404)
      })
    }

    if (endpoint.method !== 'GET') {
      test('rejects invalid JSON, other content types, and oversized bodies', async () => {
        const { client, ids } = mine
        const path = pathOf(endpoint, ids)
        const send = (body: string, type: string) =>
          client.request(endpoint.method, path, body, { 'content-type': type })
        const broken = await send('{"a":', 'application/json')
        assert.deepEqual([broken.status, broken.body.error.code], [400, 'VALIDATION_INVALID_JSON'])
        const xml = await send('<a/>', 'application/xml')
        assert.deepEqual([xml.status, xml.body.error.code], [415, 'VALIDATION_UNSUPPORTED_MEDIA_TYPE'])
        if (!endpoint.multipart) {
          const form = await send('--b\r\n\r\n--b--\r\n', 'multipart/form-data; boundary=b')
          assert.deepEqual([form.status, form.body.error.code], [415, 'VALIDATION_UNSUPPORTED_MEDIA_TYPE'])
        }
        const large = await send(`"${'x'.repeat((endpoint.bodyLimit ?? 1_048_576) + 1)}"`, 'application/json')
        assert.deepEqual([large.status, large.body.error.code], [413, 'VALIDATION_BODY_TOO_LARGE'])
      })

      test('rejects or ignores an unknown field, by name', async () => {
        const { client, ids } = await another()
        const answer = await ask(client, endpoint, ids, { ...bodyOf(endpoint), unheardOf: '\0' })
        assertUnknown(endpoint, answer, 'unheardOf')
      })
    }

    const properties = Object.entries(((endpoint.body ?? {}) as Schema).properties ?? {})
    if (properties.length > 0) {
      test('rejects a wrong type and a NUL character in each field, by name', async () => {
        const { client, ids } = mine
        const base = bodyOf(endpoint)
        for (const [name, schema] of properties) {
          const wrong = wrongTypeOf(schema)
          if (wrong === undefined) continue
          const answer = await ask(client, endpoint, ids, { ...base, [name]: wrong })
          assert.deepEqual([answer.status, answer.body.error.code], [400, 'VALIDATION_INVALID_BODY'], name)
          const paths = Object.keys(answer.body.error.details)
          assert.ok(
            paths.some((path) => path === name || path.startsWith(`${name}.`)),
            `${name}: ${paths}`,
          )
        }
        const all = Object.fromEntries(properties.map(([name, schema]) => [name, wrongTypeOf(schema)]))
        const every = await ask(client, endpoint, ids, all)
        const named = properties.filter(([, schema]) => wrongTypeOf(schema) !== undefined)
        for (const [name] of named)
          assert.ok(every.body.error.details[name], `${name} is reported with the others`)
      })
    }

    test('rejects or ignores an unknown parameter, by name', async () => {
      const { client, ids } = await another()
      assertUnknown(endpoint, await ask(client, endpoint, ids, bodyOf(endpoint), '?unheardOf=1'), 'unheardOf')
    })

    const integers = (['path', 'query'] as const).flatMap((place) =>
      Object.entries(
        ((place === 'path' ? endpoint.params : endpoint.query) as Schema | undefined)?.properties ?? {},
      )
        .filter(([, { type }]) => type === 'integer')
        .map(([name]) => ({ place, name })),
    )
    for (const { place, name } of integers)
      test(`takes only decimal digits as ${name}`, async () => {
        const { client, ids } = mine
        for (const text of NOT_DECIMAL) {
          const answer =
            place === 'path'
              ? await ask(client, endpoint, { ...ids, [name]: text }, bodyOf(endpoint))
              : await ask(client, endpoint, ids, bodyOf(endpoint), `?${name}=${text}`)
          assert.deepEqual([answer.status, answer.body.error?.code], [400, 'VALIDATION_INVALID_BODY'], text)
          assert.equal(answer.body.error.details[name], 'Must be an integer.', text)
        }
      })

    const query = Object.keys(((endpoint.query ?? {}) as Schema).properties ?? {})
    if (query.includes('cursor')) {
      test('rejects a damaged cursor and an invalid page size', async () => {
        const { client, ids } = mine
        const forged = Buffer.from(JSON.stringify(['2026-01-01T00:00:00.000Z', newId(), 'x'])).toString(
          'base64url',
        )
        for (const cursor of ['nonsense', '%00', forged, Buffer.from('[1,2,3]').toString('base64')]) {
          const answer = await ask(client, endpoint, ids, undefined, `?cursor=${cursor}`)
          assert.equal(answer.status, 400, cursor)
          assert.match(answer.body.error.code, /^VALIDATION_INVALID_(CURSOR|BODY)$/)
        }
        for (const limit of ['0', '101', 'ten', '1.5', '-1']) {
          const answer = await ask(client, endpoint, ids, undefined, `?limit=${limit}`)
          assert.deepEqual([answer.status, answer.body.error.code], [400, 'VALIDATION_INVALID_BODY'], limit)
          assert.ok(answer.body.error.details.limit)
        }
      })
    }
  })
}

describe('routes outside the APIs', () => {
  const asked = async ({ path, ...sent }: Sent) => {
    const response = await fetch(`${service.url}${path}`, { ...sent, redirect: 'manual' })
    const type = response.headers.get('content-type')?.split(';')[0] ?? ''
    const text = await response.text()
    const code: string | null = type === 'application/json' ? JSON.parse(text).error?.code : null
    return { status: response.status, type, code }
  }
  const withBody = rawContracts.filter(({ body }) => body)

  test('names and routes are unique, and every parameter of a path is described', () => {
    const routes = rawContracts.flatMap(({ method, path, otherPaths = [] }) =>
      [path, ...otherPaths].map((one) => `${method} ${one}`),
    )
    assert.equal(new Set(routes).size, routes.length)
    assert.equal(new Set(rawContracts.map(({ name }) => name)).size, rawContracts.length)
    for (const { path, params, unknown } of rawContracts) {
      const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
      assert.deepEqual(Object.keys(params?.properties ?? {}), names)
      assert.equal(unknown !== undefined, names.length > 0, path)
    }
  })

  test('nonexistent objects result in the error of the contract', async () => {
    for (const endpoint of rawContracts)
      for (const id of endpoint.unknown ? [newId(), 'x', '%00', '__proto__'] : [])
        for (const sent of requestsTo(endpoint, id, 'nobody')) {
          const { status, type, code } = await asked(sent)
          const title = `${sent.method} ${sent.path}`
          assert.equal(status, errorCodes[endpoint.unknown ?? 'ROUTE_NOT_FOUND'][0], title)
          // Visitors read the chat page, so its errors are pages.
          if (endpoint.name === 'showChat') assert.equal(type, 'text/html')
          else assert.equal(code, endpoint.unknown, title)
        }
  })

  test('public objects have a media type of the contract', async () => {
    for (const endpoint of rawContracts) {
      // The workspace takes long to build, and no identity provider is configured.
      if (endpoint.params || ['showWorkspace', 'returnFromProvider'].includes(endpoint.name)) continue
      const { status, type } = await asked({ method: endpoint.method, path: endpoint.path })
      assert.equal(status, endpoint.success.status, endpoint.path)
      assert.ok(endpoint.success.types.includes(type), `${endpoint.path}: ${type}`)
    }
  })

  test('other methods are rejected', async () => {
    for (const endpoint of rawContracts)
      for (const { path } of requestsTo(endpoint, 'x', 'nobody')) {
        const { status, code } = await asked({ method: 'DELETE', path })
        assert.deepEqual([status, code], [404, 'ROUTE_NOT_FOUND'], path)
      }
  })

  test('unsigned, wrongly typed, malformed and oversized bodies are rejected', async () => {
    for (const endpoint of withBody) {
      const path = endpoint.path.replace(/\{\w+\}/g, 'x')
      const post = (type: string, body: string) =>
        asked({ method: 'POST', path, headers: { 'content-type': type }, body })
      const { types, maxBytes } = endpoint.body ?? { types: [], maxBytes: 0 }
      if (endpoint.access === 'signature') {
        for (const type of ['application/json', 'application/xml', ...types]) {
          const { status, code } = await post(type, 'x')
          assert.deepEqual([status, code], [401, 'WEBHOOK_SIGNATURE_INVALID'], `${path} ${type}`)
        }
      } else {
        const xml = await post('application/xml', '<a/>')
        assert.deepEqual([xml.status, xml.code], [415, 'VALIDATION_UNSUPPORTED_MEDIA_TYPE'], path)
        const broken = await post('application/json', '{"a":')
        assert.deepEqual([broken.status, broken.code], [400, 'VALIDATION_INVALID_JSON'], path)
        for (const type of types) {
          const large = await post(type, `"${'x'.repeat(maxBytes)}"`)
          assert.deepEqual([large.status, large.code], [413, 'VALIDATION_BODY_TOO_LARGE'], path)
        }
      }
    }
  })

  test('maintenance rejects what needs the database', async () => {
    await service.ctx.maintenance.set(true)
    try {
      for (const endpoint of rawContracts) {
        if (endpoint.duringMaintenance === 'served') continue
        for (const sent of requestsTo(endpoint, 'x', 'nobody')) {
          const { status, code } = await asked(sent)
          assert.deepEqual([status, code], [503, 'SERVICE_UNDER_MAINTENANCE'], sent.path)
        }
      }
    } finally {
      await service.ctx.maintenance.set(false)
    }
  })
})
