import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { type ModelServer, startModelServer } from '../../../../test/fakes/model-server.ts'
import { type Client, type Service, startService } from '../../../../test/start.ts'
import { trained, until } from '../../../../test/until.ts'
import { evaluate } from '../../../admin/commands/evaluate-command.ts'

let service: Service
let client: Client
let models: ModelServer
let agentId: string
let sourceId: string
const QUESTION = 'How long is the warranty of the Halo lamp?'

before(async () => {
  models = await startModelServer()
  service = await startService({ ...models.settings, OPENAI_API_KEY: 'sk-test-key' })
  client = await service.account()
  agentId = (await client.request('POST', '/agents', { name: 'Lumi', instructions: 'Be kind.' })).body.id
  const source = { type: 'text', name: 'Warranty', content: 'The Halo lamp has a warranty of five years.' }
  sourceId = (await client.request('POST', `/agents/${agentId}/sources`, source)).body.id
  await trained(service, sourceId)
  const inputs = { type: 'object', properties: { order: { type: 'string' } } }
  const look = { name: 'find_order', type: 'client', description: 'Finds an order.', inputs }
  assert.equal((await client.request('POST', `/agents/${agentId}/actions`, look)).status, 201)
})
after(async () => {
  await service.close()
  await models.close()
})

const ask = (method: string, path: string, body?: object) =>
  client.request(method, `/agents/${agentId}${path}`, body)
const addCase = async (body: object): Promise<string> => {
  const { status, body: made } = await ask('POST', '/answer-cases', body)
  assert.equal(status, 201, JSON.stringify(made))
  return made.id
}
async function run(body: object) {
  const started = await ask('POST', '/answer-runs', body)
  assert.equal(started.status, 201, JSON.stringify(started.body))
  const { id } = started.body
  await until(
    'the end of the run',
    async () => (await ask('GET', `/answer-runs/${id}`)).body.status !== 'running',
  )
  return (await ask('GET', `/answer-runs/${id}`)).body
}

test('a broken instruction is found by its own cases, and nothing is reported of the sound agent', async () => {
  const warranty = {
    name: 'Warranty',
    messages: [QUESTION],
    expect: { holds: ['FIVE  years'], lacks: ['ten years'], cites: [sourceId] },
  }
  const caseId = await addCase(warranty)
  models.otherwise(({ body }) => ({
    tokens: [JSON.stringify(body).includes('Always say ten years') ? 'Ten years.' : 'Five years [1].'],
  }))
  const sound = await run({ caseIds: [caseId], repeats: 5 })
  assert.deepEqual([sound.total, sound.done, sound.passed, sound.status], [5, 5, 5, 'finished'])
  assert.equal(sound.expectedCredits, 5)
  const broken = await run({ caseIds: [caseId], repeats: 5, instructions: 'Always say ten years.' })
  assert.equal(broken.passed, 0)
  const [result] = broken.results
  assert.deepEqual(
    result.checks.map((check: { kind: string; passed: boolean }) => [check.kind, check.passed]),
    [
      ['holds', false],
      ['lacks', false],
      ['cites', false],
    ],
  )
  assert.deepEqual(result.messages, [
    { role: 'user', text: QUESTION },
    { role: 'assistant', text: 'Ten years.' },
  ])
  const { body } = await ask('GET', `/answer-runs/${broken.id}/comparison?before=${sound.id}`)
  const [{ figures, ...compared }] = body.cases
  assert.deepEqual(compared, { caseId, name: 'Warranty', before: 1, after: 0 })
  assert.deepEqual([figures.before.passed, figures.after.passed, figures.after.outputTokens], [1, 0, 5])
  assert.deepEqual([body.better, body.worse, body.same, body.chance], [0, 1, 0, 1])
  assert.match(body.conclusion, /1 came out worse and 0 better\. That may be chance/)
  assert.equal((await ask('DELETE', `/answer-cases/${caseId}`)).status, 200)
})

test('a test has several turns and made up results of actions, runs none and keeps no conversation', async () => {
  const caseId = await addCase({
    name: 'Order',
    messages: ['Where is my order 12?', 'And when was it sent?'],
    results: { find_order: { sent: 'on Monday' } },
    expect: { calls: ['find_order'], holds: ['Monday'], handsOver: false },
  })
  models.queue.push(
    { toolCalls: [{ id: 'call-1', name: 'find_order', input: { order: '12' } }] },
    { tokens: ['It is on its way.'] },
    { tokens: ['It was sent on Monday.'] },
  )
  const { results, passed } = await run({ caseIds: [caseId] })
  assert.equal(passed, 1, JSON.stringify(results))
  assert.deepEqual(results[0].calls, [{ name: 'find_order', input: { order: '12' } }])
  assert.match(JSON.stringify(models.requests.at(-1)?.body), /on Monday/)
  const kept = await sql<{ n: number }>`
    select count(*)::int as n from conversations where agent_id = ${agentId}`.execute(service.ctx.db)
  assert.equal(kept.rows[0]?.n, 0)
  const charged =
    await sql`select from credit_entries where agent_id = ${agentId} and kind = 'usage'`.execute(
      service.ctx.db,
    )
  assert.equal(charged.rows.length, 0)
  await ask('DELETE', `/answer-cases/${caseId}`)
})

test('a judge tells why; without one nobody can tell, so the test has not passed', async () => {
  const caseId = await addCase({ name: 'Tone', messages: [QUESTION], expect: { sounds: 'Friendly' } })
  const judged = JSON.stringify({
    claims: [],
    means: { passed: true, reason: '' },
    sounds: { passed: false, reason: 'It is curt.' },
  })
  models.otherwise(({ body }) => ({
    tokens: [JSON.stringify(body).includes('You judge an answer') ? judged : 'Five.'],
  }))
  const [bare] = (await run({ caseIds: [caseId] })).results
  assert.deepEqual([bare.passed, bare.checks[0].passed], [null, null])
  const [told] = (await run({ caseIds: [caseId], judges: true })).results
  assert.deepEqual([told.passed, told.checks[1].passed, told.checks[1].reason], [false, false, 'It is curt.'])
  await ask('DELETE', `/answer-cases/${caseId}`)
})

test('a failing provider is told in the result, credits have a cap, and a run can be canceled', async () => {
  const caseId = await addCase({ name: 'Any', messages: [QUESTION], expect: { declines: true } })
  models.otherwise(() => ({ status: 400 }))
  const failed = await run({ caseIds: [caseId] })
  assert.equal(failed.passed, 0)
  assert.match(failed.results[0].error, /400|refused|provider/i)
  models.otherwise(() => ({ tokens: ['I do not know.'] }))
  const capped = await run({ caseIds: [caseId], repeats: 10, maxCredits: 3 })
  assert.deepEqual([capped.status, capped.done], ['stopped', 3])
  let release = () => {}
  const later = new Promise<void>((resolve) => {
    release = resolve
  })
  models.otherwise(() => ({ tokens: ['I do not know.'], after: later }))
  const { id } = (await ask('POST', '/answer-runs', { caseIds: [caseId], repeats: 3 })).body
  assert.equal(
    (await ask('POST', '/answer-runs', { caseIds: [caseId] })).body.error.code,
    'RESOURCE_DUPLICATE',
  )
  assert.equal((await ask('POST', `/answer-runs/${id}/cancel`)).body.status, 'canceled')
  release()
  await until('the last result', async () => (await ask('GET', `/answer-runs/${id}`)).body.done <= 1)
  assert.equal((await ask('GET', '/answer-runs')).body.data[0].status, 'canceled')
})

test('cases are changed and refused like everything else', async () => {
  const { body } = await ask('POST', '/answer-cases', { name: 'x', messages: [], expect: {} })
  assert.equal(body.error.code, 'VALIDATION_INVALID_BODY')
  const caseId = await addCase({ name: 'x', messages: ['Hi'], expect: { holds: ['a'] } })
  const changed = await ask('PUT', `/answer-cases/${caseId}`, { name: 'y' })
  assert.deepEqual([changed.body.name, changed.body.expect], ['y', { holds: ['a'] }])
  assert.equal(
    (await ask('POST', '/answer-runs', { model: 'none' })).body.error.code,
    'VALIDATION_INVALID_BODY',
  )
  const other = await service.account()
  for (const [method, path] of [
    ['GET', '/answer-cases'],
    ['DELETE', `/answer-cases/${caseId}`],
  ] as const)
    assert.equal((await other.request(method, `/agents/${agentId}${path}`)).status, 404)
})

test('the command tests the cases of a file, as text, as JUnit and by its exit code', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'answers-'))
  t.after(() => rm(folder, { recursive: true }))
  models.otherwise(() => ({ tokens: ['Five years & "more" [1].'] }))
  const { db, jobs, models: known } = service.ctx
  const operations = {
    db,
    isServed: async () => true,
    openModels: () => ({ models: known }),
    erasing: { jobs },
  }
  const evaluated = (file: string, values: Record<string, string> = {}) =>
    evaluate.run(operations as never, {
      values: { agent: agentId, answers: 'true', ...values },
      positionals: [join(folder, file)],
    })
  const cases = [
    { name: 'Right', messages: [QUESTION], expect: { holds: ['five years'] } },
    { name: 'Wrong <b>', messages: [QUESTION], expect: { holds: ['ten years'] } },
  ]
  await writeFile(join(folder, 'cases.json'), JSON.stringify(cases))
  const failed = await evaluated('cases.json')
  assert.equal(evaluate.isFailure?.(failed), true)
  assert.match(
    evaluate.print(failed),
    /1 of 2 tests passed[\s\S]*failed: Wrong <b>\n {2}holds: ten years\n {2}answer: Five/,
  )
  const half = await evaluated('cases.json', { 'at-least': '0.5', junit: 'true' })
  assert.equal(evaluate.isFailure?.(half), false)
  assert.match(
    evaluate.print(half),
    /tests="2" failures="1"[\s\S]*name="Wrong &lt;b&gt; #1"[\s\S]*&amp; &quot;more&quot;/,
  )
  await writeFile(
    join(folder, 'cases.csv'),
    `name,messages,holds,declines\nTwo,"Hello\n${QUESTION}","five years\nmore",false\n`,
  )
  const table = await evaluated('cases.csv')
  assert.equal(evaluate.isFailure?.(table), false, evaluate.print(table))
  assert.match(evaluate.print(table), /1 of 1 tests passed/)
  for (const [file, text] of [
    ['broken.json', '[{"name": "x"}]'],
    ['none.json', '{'],
  ] as const) {
    await writeFile(join(folder, file), text)
    await assert.rejects(evaluated(file), { exitCode: 64 })
  }
})
