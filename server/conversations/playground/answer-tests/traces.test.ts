import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { type ModelServer, startModelServer } from '../../../../test/fakes/model-server.ts'
import { erased, MARK, PERSON } from '../../../../test/full-life.ts'
import { rowsNaming } from '../../../../test/rows-naming.ts'
import { type Client, type Service, startService } from '../../../../test/start.ts'
import { until } from '../../../../test/until.ts'
import { sweepOldAnswerRuns } from '../../../people/privacy/retention/retention.ts'

let service: Service
let client: Client
let models: ModelServer
let agentId: string
const JUDGED = JSON.stringify({
  claims: [{ claim: `It is for ${PERSON.email}.`, reason: 'x', verdict: 'absent', piece: 0 }],
  means: { reason: 'x', passed: true },
  sounds: { reason: 'x', passed: true },
})

before(async () => {
  models = await startModelServer()
  service = await startService({ ...models.settings, OPENAI_API_KEY: 'sk-test-key' })
  client = await service.account()
  agentId = (await client.request('POST', '/agents', { name: 'Lumi' })).body.id
})
after(async () => {
  await service.close()
  await models.close()
})

const at: Client['request'] = (method, path, body) =>
  client.request(method, `/agents/${agentId}${path}`, body)

/** Tests an answer with the person's address in the case, the answer, the judgement, the note of the run and a review. */
async function testPerson(name: string): Promise<string> {
  models.otherwise(({ body: asked }) => ({
    tokens: [JSON.stringify(asked).includes('You judge an answer') ? JUDGED : `Yes, ${PERSON.email}.`],
  }))
  const one = { name, messages: [`Is it for ${PERSON.email}?`], expect: { means: `For ${PERSON.email}.` } }
  const caseId = (await at('POST', '/answer-cases', one)).body.id
  const { body } = await at('POST', '/answer-runs', { caseIds: [caseId], judges: true })
  await until(
    'the end of the run',
    async () => (await at('GET', `/answer-runs/${body.id}`)).body.status !== 'running',
  )
  const review = { caseId, repetition: 1, judgement: 'claim-1', agrees: false, note: `Ask ${PERSON.email}.` }
  assert.equal((await at('POST', `/answer-runs/${body.id}/reviews`, review)).status, 200)
  return body.id
}
const named = async (): Promise<string[]> => [
  ...new Set(
    (await rowsNaming(service.ctx.db, client.accountId, MARK)).map((row) => row.split(':')[0] ?? ''),
  ),
]

test('a test leaves nothing outside of its own tables: no list, search, figure, ticket or unanswered question', async () => {
  // The calls of models are counted there, too, as those of tests.
  const charged = async () => {
    const { days, total } = (await client.request('GET', '/usage')).body
    return { days, total }
  }
  const figures = async () => [
    await charged(),
    (await at('GET', '/insights')).body,
    (await at('GET', '/conversations/search?query=markerzq')).body.data,
  ]
  const before = await figures()
  await testPerson('Person')
  await service.ctx.indexer.run(service.ctx.db)
  const tables = (await named()).filter((name) => !/requests$/.test(name))
  assert.deepEqual(tables.sort(), [
    'public.answer_cases',
    'public.answer_results',
    'public.answer_reviews',
    'public.answer_runs',
  ])
  assert.deepEqual(await figures(), before)
  for (const table of ['conversations', 'messages', 'tickets', 'deliveries', 'unanswered_questions']) {
    const { rows } = await sql`select from ${sql.table(table)}`.execute(service.ctx.db)
    assert.equal(rows.length, 0, table)
  }
})

test('cases, results, judgements and notes go with the person, and the rest of a run stays', async () => {
  await at('POST', '/answer-cases', { name: 'Other', messages: ['Hello?'], expect: {} })
  models.otherwise(({ body }) => ({
    tokens: [JSON.stringify(body).includes(PERSON.email) ? `Yes, ${PERSON.email}.` : 'Hello.'],
  }))
  const { body } = await at('POST', '/answer-runs', {})
  const run = async () => (await at('GET', `/answer-runs/${body.id}`)).body
  await until('the end of the run', async () => (await run()).status !== 'running')
  const noted = (await at('POST', '/answer-runs', { note: `For ${PERSON.email}` })).body.id
  await until('its end', async () => (await at('GET', `/answer-runs/${noted}`)).body.status !== 'running')
  assert.ok((await named()).length > 0)
  await erased(client, { email: PERSON.email })
  assert.deepEqual(await named(), [])
  assert.deepEqual(
    (await run()).results.map(({ name }: { name: string }) => name),
    ['Other'],
  )
  assert.equal((await at('GET', `/answer-runs/${noted}`)).status, 404)
  const again = await at('POST', `/answer-runs/${body.id}/repeat`, {})
  assert.deepEqual([again.status, again.body.total], [201, 1])
  const { id } = again.body
  await until('its end', async () => (await at('GET', `/answer-runs/${id}`)).body.status !== 'running')
})

test('a name at the beginning of a line goes, numbers of the machinery stay, and no run waits for what is gone', async () => {
  const userId = '4821'
  const cases = [
    { name: 'Lines', messages: [`My number is\n${userId}`], expect: {} },
    { name: 'Quoted', messages: ['Hi'], results: { find: { "it's": [{ [userId]: 1 }] } }, expect: {} },
    { name: 'Digits', messages: ['Hi'], results: { find: { customer: 4821 } }, expect: {} },
    { name: 'Kept', messages: ['Hello?'], expect: { holds: ['Hello'] } },
  ]
  const ids: string[] = []
  for (const one of cases) ids.push((await at('POST', '/answer-cases', one)).body.id)
  models.otherwise(() => ({ tokens: ['Hello.'] }))
  const { body } = await at('POST', '/answer-runs', { caseIds: ids, maxCredits: 4821 })
  const run = async (id: string) => (await at('GET', `/answer-runs/${id}`)).body
  await until('the end of the run', async () => (await run(body.id)).status !== 'running')
  const { db } = service.ctx
  const { accountId } = client
  await sql`update answer_results set result = result || '{"ms": 4821, "firstMs": 4821}'
    where account_id = ${accountId}`.execute(db)
  // One runs, with a result that names the person although its case does not.
  let release = () => {}
  const later = new Promise<void>((resolve) => {
    release = resolve
  })
  let asked = 0
  models.otherwise(() =>
    asked++ === 0 ? { tokens: [`Hello,\n${userId}.`] } : { tokens: ['Hi'], after: later },
  )
  const second = (await at('POST', '/answer-runs', { caseIds: ids.slice(3), repeats: 3 })).body.id
  await until('the second question', async () => asked === 2)
  await erased(client, { userId })
  release()
  await until('the end of the second', async () => (await run(second)).status !== 'running')
  assert.equal((await run(second)).status, 'canceled')
  assert.doesNotMatch(JSON.stringify((await run(second)).results), /4821/)
  const kept = await run(body.id)
  const [result] = kept.results.filter(({ name }: { name: string }) => name === 'Kept')
  assert.deepEqual([result.ms, kept.status, kept.maxCredits], [4821, 'finished', 4821])
  for (const { results } of [kept])
    assert.doesNotMatch(JSON.stringify(results.map(({ messages }: { messages: object }) => messages)), /4821/)
  const { rows } = await sql<{ cases: object; id: string }>`
    select id, cases from answer_runs where account_id = ${accountId} and id = ${body.id}`.execute(db)
  assert.doesNotMatch(JSON.stringify(rows[0]?.cases), /4821/)
  const left = (await at('GET', '/answer-cases')).body.data.map(({ id }: { id: string }) => id)
  assert.deepEqual(
    ids.filter((id) => left.includes(id)),
    ids.slice(3),
  )
})

test('tests go when the retention time of the agent has passed, and not before', async () => {
  const ids = [await testPerson('Old'), await testPerson('New')]
  await sql`
    update answer_runs set created_at = now() - interval '31 days' where id = ${ids[0]} and account_id = ${client.accountId}`.execute(
    service.ctx.db,
  )
  await sweepOldAnswerRuns(service.ctx)
  assert.equal((await at('GET', `/answer-runs/${ids[0]}`)).status, 200)
  assert.equal((await at('PUT', '/retention', { retentionDays: 30 })).status, 200)
  await sweepOldAnswerRuns(service.ctx)
  assert.equal((await at('GET', `/answer-runs/${ids[0]}`)).status, 404)
  assert.equal((await at('GET', `/answer-runs/${ids[1]}`)).status, 200)
})
