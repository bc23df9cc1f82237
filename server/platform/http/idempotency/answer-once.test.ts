import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import multipart from '@fastify/multipart'
import { type FastifyInstance, fastify } from 'fastify'
import { sql } from 'kysely'
import Type from 'typebox'
import { onPostgres } from '../../../../test/database.ts'
import { type Client, type Service, startService } from '../../../../test/start.ts'
import { recordAudit } from '../../../accounts/audit/audit.ts'
import { authorize } from '../../../accounts/keys/keys.ts'
import { lastChangeOf, recordRequest } from '../../../accounts/keys/record-request.ts'
import { requireAgent } from '../../../agents/records/find-agent.ts'
import type { Db } from '../../db/database.ts'
import { newId } from '../../db/ids.ts'
import { afterCommit, transact } from '../../db/statements/transact.ts'
import { acceptJson } from '../bodies/storable.ts'
import { Exact, endpoint } from '../contract.ts'
import { ApiError } from '../errors.ts'
import { openApiDocument } from '../openapi/openapi.ts'
import { type Call, type IdempotencyMode, route, SENT } from '../route.ts'
import { serveRoutes } from '../server/serve.ts'
import { KeyTaken, readKey, rebindKey, takeKey } from './idempotency.ts'

const endpointOf = <N extends string>(name: N) =>
  endpoint({
    method: 'POST',
    path: `/${name}`,
    name,
    tag: 'Test',
    summary: 'Does what the test says',
    scope: 'chat',
    body: Exact({ text: Type.String() }),
    success: { status: 200, schema: Exact({ text: Type.String() }) },
    streams: Type.Unknown(),
    errors: ['CHAT_PROVIDER_ERROR'],
  })

const speak = endpointOf('everything')
type SpeakCall = Call<typeof speak>

let service: Service
let client: Client
let app: FastifyInstance
let handle: (call: SpeakCall) => Promise<{ text: string } | typeof SENT>

before(async () => {
  service = await startService()
  client = await service.account()
  const { ctx } = service
  app = fastify()
  await app.register(multipart)
  acceptJson(app)
  const idempotencyMode: IdempotencyMode[] = ['transaction', 'manual', 'response']
  serveRoutes(app, {
    routes: idempotencyMode.map((each) =>
      route(endpointOf(each), { idempotencyMode: each }, (call) => handle(call)),
    ),
    gate: {
      refuseDuringMaintenance: ctx.maintenance.refuse,
      authenticate: ({ headers }, beforeStranger) =>
        ctx.keys.authenticate(headers.authorization, beforeStranger),
      authorize,
      limiter: ctx.limiter,
      windowOf: () => undefined,
      findAgent: (db, { account }, agentId) => requireAgent(db, { accountId: account.id, agentId }),
      lastChange: lastChangeOf,
      note: recordRequest,
    },
    db: ctx.db,
    strict: true,
  })
})
after(async () => {
  await app.close()
  await service.close()
})

async function ask(key: string, { text = 'Hello', idempotencyMode = 'transaction' as IdempotencyMode } = {}) {
  const answer = await app.inject({
    method: 'POST',
    url: `/${idempotencyMode}`,
    headers: { authorization: `Bearer ${client.key}`, 'idempotency-key': key },
    payload: { text },
  })
  return { status: answer.statusCode, replayed: answer.headers['idempotency-replayed'], body: answer.body }
}

/** An effect that can be counted afterwards. */
const act = (db: Db, action: string) =>
  recordAudit(db, { accountId: client.accountId, actor: 'test', action, target: null })
async function acts(action: string): Promise<number> {
  const rows = await service.ctx.db
    .selectFrom('audit_log')
    .select('id')
    .where('action', '=', action)
    .execute()
  return rows.length
}

const rowOf = (key: string) =>
  service.ctx.db
    .selectFrom('requests')
    .select(['status', 'answer', 'generation_id'])
    .where('account_id', '=', client.accountId)
    .where('key', '=', key)
    .executeTakeFirst()

for (const idempotencyMode of ['transaction', 'manual'] as const) {
  test(`${idempotencyMode}: the effect, the key and the response are committed together or not at all`, async () => {
    const key = `together-${idempotencyMode}`
    let failure: Error | null = new ApiError('CHAT_PROVIDER_ERROR')
    const afterwards: string[] = []
    const work = async (db: Db) => {
      await act(db, key)
      await transact(db, (trx) => act(trx, key))
      await afterCommit(db, () => afterwards.push(key))
      if (failure) throw failure
      return { text: 'done' }
    }
    handle = (call) => (idempotencyMode === 'transaction' ? work(call.db) : call.once(work))
    assert.equal((await ask(key, { idempotencyMode })).status, 502)
    assert.deepEqual([await acts(key), await rowOf(key), afterwards], [0, undefined, []])
    failure = null
    const first = await ask(key, { idempotencyMode })
    const second = await ask(key, { idempotencyMode })
    assert.deepEqual([first.status, first.body, first.replayed], [200, '{"text":"done"}', undefined])
    assert.deepEqual([second.status, second.body, second.replayed], [200, '{"text":"done"}', 'true'])
    assert.deepEqual([await acts(key), afterwards], [2, [key]])
  })

  test(`${idempotencyMode}: identical concurrent requests have one effect and one response, and others are rejected`, async () => {
    const key = `at-once-${idempotencyMode}`
    const work = async (db: Db) => {
      await act(db, key)
      return { text: newId() }
    }
    handle = (call) => (idempotencyMode === 'transaction' ? work(call.db) : call.once(work))
    const answers = await Promise.all([
      ...Array.from({ length: 8 }, () => ask(key, { idempotencyMode })),
      ...Array.from({ length: 2 }, () => ask(key, { idempotencyMode, text: 'Other' })),
    ])
    assert.equal(await acts(key), 1)
    const good = answers.filter(({ status }) => status === 200)
    assert.deepEqual(new Set(good.map(({ body }) => body)).size, 1)
    assert.equal(good.filter(({ replayed }) => replayed === 'true').length, good.length - 1)
    const refused = answers.filter(({ status }) => status === 409)
    assert.equal(good.length + refused.length, 10)
    for (const { body } of refused) assert.equal(JSON.parse(body).error.code, 'IDEMPOTENCY_KEY_REUSED')
  })
}

test('an identical request continues in place of one that fails', async () => {
  const runs: string[] = []
  handle = async ({ db }) => {
    runs.push('run')
    await act(db, 'instead')
    if (runs.length === 1) throw new ApiError('CHAT_PROVIDER_ERROR')
    return { text: 'second' }
  }
  const answers = await Promise.all([ask('instead'), ask('instead')])
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 502])
  assert.deepEqual([runs.length, await acts('instead')], [2, 1])
})

test('requests that change nothing run freely, and their first response is stored', async () => {
  let count = 0
  handle = async (call) => {
    assert.equal(call.db, service.ctx.db)
    return { text: String(++count) }
  }
  const [first, second] = [
    await ask('look', { idempotencyMode: 'response' }),
    await ask('look', { idempotencyMode: 'response' }),
  ]
  assert.deepEqual([first.body, second.body, second.replayed], ['{"text":"1"}', '{"text":"1"}', 'true'])
  const both = await Promise.all([
    ask('look-2', { idempotencyMode: 'response' }),
    ask('look-2', { idempotencyMode: 'response' }),
  ])
  assert.equal(both[0]?.body, both[1]?.body)
})

test('a request whose generation is running is served from it, however it ends', async () => {
  const generationId = newId()
  const replays: unknown[] = []
  handle = async ({ db, idempotency, replay }) => {
    replays.push(replay)
    if (replay) return { text: `joined ${replay.generationId}` }
    assert.ok(idempotency)
    await transact(db, (trx) => takeKey(trx, idempotency, { generationId }))
    throw new ApiError('CHAT_PROVIDER_ERROR')
  }
  assert.equal((await ask('join', { idempotencyMode: 'manual' })).status, 502)
  const joined = await ask('join', { idempotencyMode: 'manual' })
  assert.deepEqual(
    [joined.body, joined.replayed],
    [JSON.stringify({ text: `joined ${generationId}` }), 'true'],
  )
  assert.deepEqual(replays, [null, { generationId }])
  const row = await rowOf('join')
  assert.deepEqual([row?.status, row?.answer, row?.generation_id], [null, null, generationId])
})

test('two requests that both consider themselves the first start one generation', async () => {
  const both = Promise.withResolvers<void>()
  const starts: string[] = []
  handle = async ({ db, idempotency, replay }) => {
    if (replay) return { text: replay.generationId }
    assert.ok(idempotency)
    starts.push('start')
    if (starts.length === 2) both.resolve()
    await both.promise
    const generationId = newId()
    await transact(db, async (trx) => {
      await takeKey(trx, idempotency, { generationId })
      await act(trx, 'twice')
    })
    return { text: generationId }
  }
  const answers = await Promise.all([
    ask('twice', { idempotencyMode: 'manual' }),
    ask('twice', { idempotencyMode: 'manual' }),
  ])
  assert.deepEqual(new Set(answers.map(({ status, body }) => `${status} ${body}`)).size, 1)
  assert.deepEqual([starts.length, await acts('twice')], [2, 1])
})

test('a generation without output passes its key to another one, once', async () => {
  const request = { accountId: client.accountId, key: 'rebind', fingerprint: 'x' }
  const [before, one, two] = [newId(), newId(), newId()]
  const { db } = service.ctx
  await transact(db, (trx) => takeKey(trx, request, { generationId: before }))
  const hand = (to: string) => transact(db, (trx) => rebindKey(trx, request, before, to))
  assert.deepEqual((await Promise.all([hand(one), hand(two)])).sort(), [false, true])
  const state = await readKey(db, request)
  assert.ok(state.is === 'generation' && [one, two].includes(state.generationId))
  await assert.rejects(
    transact(db, (trx) => takeKey(trx, request)),
    KeyTaken,
  )
})

test('waiting for a request that does not end is limited', {
  skip: !onPostgres() && 'needs two connections',
}, async () => {
  const request = { accountId: client.accountId, key: 'endless', fingerprint: 'x' }
  const { db } = service.ctx
  await transact(db, async (trx) => {
    await takeKey(trx, request)
    const waiting = transact(db, async (other) => {
      await sql`set local lock_timeout = '50ms'`.execute(other)
      await takeKey(other, request)
    })
    await assert.rejects(waiting, (error: ApiError) => {
      assert.match(error.message, /still running/)
      return error.code === 'IDEMPOTENCY_KEY_REUSED'
    })
  })
})

test('streams without a generation are not stored', async () => {
  handle = async ({ reply }) => {
    reply.hijack()
    reply.raw.end('streamed')
    return SENT
  }
  assert.equal((await ask('stream', { idempotencyMode: 'response' })).body, 'streamed')
  assert.equal((await ask('stream', { idempotencyMode: 'response' })).body, 'streamed')
})

type Responses = Record<string, { headers?: object; description: string }>

test('OpenAPI names both headers with a POST', () => {
  const document = openApiDocument({
    endpoints: [speak],
    version1: [],
    raw: [],
    schemas: {},
    tags: {},
  }) as unknown as {
    paths: { '/everything': { post: { parameters: { name: string; in: string }[]; responses: Responses } } }
    components: { responses: Responses }
  }
  const { parameters, responses } = document.paths['/everything'].post
  assert.deepEqual(
    parameters.map(({ name, in: place }) => [name, place]),
    [['Idempotency-Key', 'header']],
  )
  assert.ok('Idempotency-Replayed' in (responses['200']?.headers ?? {}))
  const { $ref = '' } = responses['409'] as { $ref?: string }
  const shared = document.components.responses[$ref.split('/').at(-1) ?? '']
  assert.match(shared?.description ?? '', /IDEMPOTENCY_KEY_REUSED/)
})
