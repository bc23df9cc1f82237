import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type ModelServer, startModelServer } from '../../../../test/fakes/model-server.ts'
import { NEVER } from '../../../../test/fakes/reply.ts'
import { type Client, type Service, startService } from '../../../../test/start.ts'
import { until } from '../../../../test/until.ts'
import { transact } from '../../../platform/db/statements/transact.ts'
import { ApiError } from '../../../platform/http/errors.ts'
import { endRun } from './end-run.ts'
import { runAnswerTests } from './run-tests.ts'
import { startRun } from './runs.ts'

let service: Service
let models: ModelServer
const ASKED = { name: 'Any', messages: ['Hello?'], expect: {} }

before(async () => {
  models = await startModelServer()
  service = await startService({ ...models.settings, OPENAI_API_KEY: 'sk-test-key' })
  models.otherwise(() => ({ tokens: ['Hello.'] }))
})
after(async () => {
  await service.close()
  await models.close()
})

type Tester = { client: Client; agentId: string; at: Client['request'] }
async function tester(plan?: 'standard'): Promise<Tester> {
  const client = await service.account(plan && { plan })
  const agentId = (await client.request('POST', '/agents', { name: 'Lumi' })).body.id
  const at: Client['request'] = (method, path, body) =>
    client.request(method, `/agents/${agentId}${path}`, body)
  return { client, agentId, at }
}
const added = async ({ at }: Tester): Promise<string> => (await at('POST', '/answer-cases', ASKED)).body.id
const ended = ({ at }: Tester, id: string) =>
  until('the end of the run', async () => {
    const { body } = await at('GET', `/answer-runs/${id}`)
    return body.status !== 'running' && body
  })

test('long runs of others do not keep a short one waiting', async () => {
  const [first, second, third] = [await tester(), await tester(), await tester()]
  for (const one of [first, second, third]) await added(one)
  const long = [first, second].map(({ at }) => at('POST', '/answer-runs', { repeats: 10 }))
  const runs = await Promise.all(long)
  const { body: short } = await third.at('POST', '/answer-runs', {})
  const ends = [
    await ended(first, runs[0]?.body.id),
    await ended(second, runs[1]?.body.id),
    await ended(third, short.id),
  ]
  assert.deepEqual(
    ends.map(({ status, done }) => [status, done]),
    [
      ['finished', 10],
      ['finished', 10],
      ['finished', 1],
    ],
  )
  const [a, b, c] = ends.map(({ finishedAt }) => finishedAt)
  assert.ok(c < a && c < b, `${a} ${b} ${c}`)
})

test('a run that cannot go on ends, and a job that runs again does nothing', async () => {
  const one = await tester()
  await added(one)
  const ref = { accountId: one.client.accountId as never, agentId: one.agentId }
  const needs = { jobs: { enqueue: async () => {} }, models: service.ctx.models }
  const runId = await transact(service.ctx.db, (trx) =>
    startRun(trx, needs, { ref, plan: 'unlimited' }, [{ id: '1', ...ASKED }], {
      repeats: 1,
      judges: false,
      note: '',
    }),
  )
  const generations = {
    ...service.ctx.generations,
    reserve() {
      throw new ApiError('SERVICE_OVERLOADED')
    },
  }
  const { signal } = new AbortController()
  const job = { ...ref, runId, done: 0 }
  const broken = runAnswerTests({ ...service.ctx, generations } as never)
  await assert.rejects(broken.run(job, { isLast: () => false, signal }), { code: 'SERVICE_OVERLOADED' })
  assert.equal((await one.at('GET', `/answer-runs/${runId}`)).body.status, 'running')
  await assert.rejects(broken.run(job, { isLast: () => true, signal }), { code: 'SERVICE_OVERLOADED' })
  const stopped = (await one.at('GET', `/answer-runs/${runId}`)).body
  assert.equal(stopped.status, 'stopped')
  assert.match(stopped.problem, /could not be run/)
  const { body } = await one.at('POST', '/answer-runs', { repeats: 2 })
  assert.equal((await ended(one, body.id)).done, 2)
  const before = models.requests.length
  await runAnswerTests(service.ctx).run({ ...job, runId: body.id }, { isLast: () => true, signal })
  assert.equal(models.requests.length, before)
})

const workedOff = ({ client }: Tester) =>
  until('the end of the job', async () => {
    const jobs = service.ctx.db.selectFrom('jobs' as never).select('id' as never)
    return !(await jobs.where('tenant' as never, '=', client.accountId as never).executeTakeFirst())
  })

test('what is answered after a run was canceled is not stored, and nobody waits for an answer', async () => {
  const one = await tester()
  await added(one)
  let release = () => {}
  const later = new Promise<void>((resolve) => {
    release = resolve
  })
  for (const after of [later, NEVER]) {
    const asked = models.requests.length
    models.otherwise(() => ({ tokens: ['Hello.'], after }))
    const { id } = (await one.at('POST', '/answer-runs', { repeats: 2 })).body
    await until('the question', async () => models.requests.length > asked)
    assert.equal((await one.at('POST', `/answer-runs/${id}/cancel`)).body.status, 'canceled')
    if (after === later) release()
    await workedOff(one)
    const run = (await one.at('GET', `/answer-runs/${id}`)).body
    assert.deepEqual([run.status, run.done], ['canceled', 0])
  }
  models.otherwise(() => ({ tokens: ['Hello.'] }))
})

test('what failed within the service is for its log, not for members', async () => {
  const one = await tester()
  await added(one)
  const ref = { accountId: one.client.accountId as never, agentId: one.agentId }
  const needs = { jobs: { enqueue: async () => {} }, models: service.ctx.models }
  const settings = { repeats: 1, judges: false, note: '' }
  const cases = [{ id: '1', ...ASKED }]
  const started = () =>
    transact(service.ctx.db, (trx) => startRun(trx, needs, { ref, plan: 'unlimited' }, cases, settings))
  const { signal } = new AbortController()
  const failing = () => {
    throw new Error('relation "secret_table" does not exist')
  }
  const broken = { ...service.ctx, jobs: { ...service.ctx.jobs, enqueue: failing } }
  const runId = await started()
  const job = { ...ref, runId, done: 0 }
  await assert.rejects(runAnswerTests(broken as never).run(job, { isLast: () => true, signal }), /secret/)
  const { status, problem } = (await one.at('GET', `/answer-runs/${runId}`)).body
  assert.equal(status, 'stopped')
  assert.match(problem, /^A test could not be run\. .*log/)
  assert.doesNotMatch(problem, /secret/)

  const generations = { ...service.ctx.generations, reserve: failing }
  const second = await started()
  await runAnswerTests({ ...service.ctx, generations } as never).run(
    { ...job, runId: second },
    { isLast: () => true, signal },
  )
  const [result] = (await one.at('GET', `/answer-runs/${second}`)).body.results
  assert.match(result.error, /log/)
  assert.doesNotMatch(result.error, /secret/)
  await endRun(service.ctx.db, ref, second, 'canceled')
})

test('runs that are canceled are not kept beyond the newest', async () => {
  const one = await tester()
  const ref = { accountId: one.client.accountId as never, agentId: one.agentId }
  const needs = { jobs: { enqueue: async () => {} }, models: service.ctx.models }
  const settings = { repeats: 1, judges: false, note: '' }
  for (let n = 0; n < 55; n++) {
    const agent = { ref, plan: 'unlimited' }
    const id = await transact(service.ctx.db, (trx) =>
      startRun(trx, needs, agent, [{ id: '1', ...ASKED }], settings),
    )
    await endRun(service.ctx.db, ref, id, 'canceled')
  }
  assert.equal((await one.at('GET', '/answer-runs')).body.pagination.total, 50)
})

test('cases have a size, since a run copies them all', async () => {
  const one = await tester()
  const large = { ...ASKED, results: { find_order: 'x'.repeat(900_000) } }
  const statuses: number[] = []
  for (let n = 0; n < 12; n++) statuses.push((await one.at('POST', '/answer-cases', large)).status)
  assert.deepEqual([statuses.at(0), statuses.at(-1)], [201, 400])
  const small = await added(one)
  assert.equal((await one.at('PUT', `/answer-cases/${small}`, { results: large.results })).status, 400)
})

test('an account whose credits are limited waits when it has tested as much as it may in an hour', async () => {
  const one = await tester('standard')
  await added(one)
  const window = { limit: 300, windowMs: 3_600_000 }
  for (let n = 0; n < 300; n++)
    await service.ctx.limiter.take(`answer tests of ${one.client.accountId}`, window)
  const { body } = await one.at('POST', '/answer-runs', {})
  await until('the job that waits', () =>
    service.ctx.db
      .selectFrom('jobs' as never)
      .select('id' as never)
      .where('tenant' as never, '=', one.client.accountId as never)
      .where('run_at' as never, '>', new Date(Date.now() + 600_000) as never)
      .executeTakeFirst(),
  )
  const { status, done } = (await one.at('GET', `/answer-runs/${body.id}`)).body
  assert.deepEqual([status, done], ['running', 0])
  assert.equal((await one.at('POST', `/answer-runs/${body.id}/cancel`)).body.status, 'canceled')
})
