import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import multipart from '@fastify/multipart'
import { type FastifyInstance, fastify } from 'fastify'
import Type from 'typebox'
import { type Client, type Service, startService } from '../../test/start.ts'
import { authorize } from '../accounts/authenticate.ts'
import { newId } from '../db/ids.ts'
import { Exact, endpoint } from './contract.ts'
import { ApiError } from './errors.ts'
import { bindGeneration } from './idempotency.ts'
import { acceptJson } from './json-body.ts'
import { openApiDocument } from './openapi.ts'
import { type Call, route, SENT } from './route.ts'
import { serveRoutes } from './serve.ts'

const speak = endpoint({
  method: 'POST',
  path: '/speak',
  name: 'speak',
  tag: 'Test',
  summary: 'Does what the test says',
  scope: 'chat',
  body: Exact({ text: Type.String() }),
  success: { status: 200, schema: Exact({ text: Type.String() }) },
  streams: true,
  errors: ['CHAT_PROVIDER_ERROR'],
})

let service: Service
let client: Client
let app: FastifyInstance
let handle: (call: Call<typeof speak>) => Promise<{ text: string } | typeof SENT>

before(async () => {
  service = await startService()
  client = await service.account()
  const { ctx } = service
  app = fastify()
  await app.register(multipart)
  acceptJson(app)
  serveRoutes(app, {
    routes: [route(speak, (call) => handle(call))],
    gate: {
      refuseDuringMaintenance: ctx.maintenance.refuse,
      authenticate: ctx.keys.authenticate,
      authorize,
      limiter: ctx.limiter,
    },
    db: ctx.db,
    strict: true,
  })
})
after(async () => {
  await app.close()
  await service.close()
})

async function ask(key: string, text = 'Hello') {
  const answer = await app.inject({
    method: 'POST',
    url: '/speak',
    headers: { authorization: `Bearer ${client.key}`, 'idempotency-key': key },
    payload: { text },
  })
  return { status: answer.statusCode, headers: answer.headers, body: answer.body }
}

const bind = (call: Call<typeof speak>, generationId: string) =>
  service.ctx.db
    .transaction()
    .execute((trx) => bindGeneration(trx, client.accountId, call.idempotency?.key ?? '', generationId))

const rowOf = (key: string) =>
  service.ctx.db
    .selectFrom('idempotency_keys')
    .select(['status', 'answer', 'generation_id', 'locked_until'])
    .where('account_id', '=', client.accountId)
    .where('key', '=', key)
    .executeTakeFirst()

test('an equal request waits while the first runs, and runs itself when that fails', async () => {
  const first = Promise.withResolvers<void>()
  const started = Promise.withResolvers<void>()
  const runs: string[] = []
  handle = async ({ body }) => {
    runs.push(body.text)
    if (runs.length > 1) return { text: 'second' }
    started.resolve()
    await first.promise
    throw new ApiError('CHAT_PROVIDER_ERROR')
  }
  const failing = ask('wait')
  await started.promise
  const waiting = ask('wait')
  assert.equal((await ask('wait', 'Other')).status, 409)
  assert.deepEqual(runs, ['Hello'])
  first.resolve()
  assert.equal((await failing).status, 502)
  const { status, body, headers } = await waiting
  assert.deepEqual([status, body, headers['idempotency-replayed']], [200, '{"text":"second"}', undefined])
  const again = await ask('wait')
  assert.deepEqual([again.body, again.headers['idempotency-replayed']], ['{"text":"second"}', 'true'])
  assert.equal(runs.length, 2)
})

test('an equal request joins a generation as soon as it is there, and later', async () => {
  const end = Promise.withResolvers<void>()
  const bound = Promise.withResolvers<void>()
  const generationId = newId()
  handle = async (call) => {
    if (call.replay) return { text: `joined ${call.replay.generationId}` }
    assert.deepEqual(call.idempotency, { key: 'join' })
    await bind(call, generationId)
    bound.resolve()
    await end.promise
    return { text: 'done' }
  }
  const first = ask('join')
  await bound.promise
  const joined = await ask('join')
  assert.equal(joined.body, JSON.stringify({ text: `joined ${generationId}` }))
  assert.equal(joined.headers['idempotency-replayed'], 'true')
  end.resolve()
  assert.equal((await first).body, '{"text":"done"}')
  const row = await rowOf('join')
  assert.deepEqual([row?.status, row?.answer, row?.generation_id], [null, null, generationId])
  assert.equal((await ask('join')).body, joined.body)
})

test('a failure after the generation began is left to the handler', async () => {
  const generationId = newId()
  const replays: unknown[] = []
  handle = async (call) => {
    replays.push(call.replay)
    if (!call.replay) await bind(call, generationId)
    throw new ApiError('CHAT_PROVIDER_ERROR')
  }
  const [first, second] = [await ask('fail'), await ask('fail')]
  assert.deepEqual([first.status, second.status], [502, 502])
  assert.equal(second.body, first.body)
  assert.deepEqual(replays, [null, { generationId }])
})

test('a key gets one generation, also when two requests believe they are the first', async () => {
  const generationId = newId()
  handle = async (call) => {
    await bind(call, generationId)
    await bind(call, newId())
    return { text: 'never' }
  }
  const { status, body } = await ask('twice')
  assert.equal(status, 409)
  assert.equal(JSON.parse(body).error.code, 'IDEMPOTENCY_KEY_REUSED')
  assert.equal((await rowOf('twice'))?.generation_id, generationId)
})

test('one that was taken for dead does not touch the row of its successor', async () => {
  const successor = new Date(Date.now() + 1_000)
  const overtaken = () => service.ctx.db.updateTable('idempotency_keys').set({ created_at: successor })
  handle = async ({ body }) => {
    await overtaken().where('key', '=', body.text).execute()
    if (body.text === 'late-failure') throw new ApiError('CHAT_PROVIDER_ERROR')
    return { text: 'late' }
  }
  assert.equal((await ask('late-answer', 'late-answer')).status, 200)
  assert.equal((await ask('late-failure', 'late-failure')).status, 502)
  assert.equal((await rowOf('late-answer'))?.status, null)
  assert.equal((await rowOf('late-failure'))?.status, null)
})

test('a handler that takes long keeps its key', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const started = Promise.withResolvers<void>()
  const end = Promise.withResolvers<void>()
  handle = async () => {
    started.resolve()
    await end.promise
    return { text: 'done' }
  }
  const first = ask('long')
  await started.promise
  const rows = () => service.ctx.db.updateTable('idempotency_keys').where('key', '=', 'long')
  await rows()
    .set({ locked_until: new Date(0) })
    .execute()
  t.mock.timers.tick(20_000)
  const lockEnd = async () => (await rowOf('long'))?.locked_until.getTime() ?? 0
  while ((await lockEnd()) === 0) await setImmediate()
  assert.ok((await lockEnd()) > Date.now())
  end.resolve()
  assert.equal((await first).status, 200)
})

test('what was streamed without a generation is not stored', async () => {
  handle = async ({ reply }) => {
    reply.hijack()
    reply.raw.end('streamed')
    return SENT
  }
  assert.equal((await ask('stream')).body, 'streamed')
  assert.equal((await ask('stream')).body, 'streamed')
})

type Responses = Record<string, { headers?: object; description: string }>

test('OpenAPI names both headers with a POST', () => {
  const document = openApiDocument([speak], '/') as {
    paths: { '/speak': { post: { parameters: { name: string; in: string }[]; responses: Responses } } }
  }
  const { parameters, responses } = document.paths['/speak'].post
  assert.deepEqual(
    parameters.map(({ name, in: place }) => [name, place]),
    [['Idempotency-Key', 'header']],
  )
  assert.deepEqual(Object.keys(responses['200']?.headers ?? {}), ['Idempotency-Replayed'])
  assert.match(responses['409']?.description ?? '', /IDEMPOTENCY_KEY_REUSED/)
})
