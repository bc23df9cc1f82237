import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, test } from 'node:test'
import { type ModelServer, startModelServer } from '../../../../../test/fakes/model-server.ts'
import { NEVER, type Reply } from '../../../../../test/fakes/reply.ts'
import { type Client, type Service, startService } from '../../../../../test/start.ts'
import { trained, until } from '../../../../../test/until.ts'
import { judgeAnswer, readJudgement } from './judge-answer.ts'

let service: Service
let client: Client
let models: ModelServer
let folder: string
let agentId: string
const QUESTION = 'How long is the warranty of the Halo lamp?'
const ANSWER = 'Five years, and it covers the bulb [1].'

before(async () => {
  models = await startModelServer()
  folder = await mkdtemp(join(tmpdir(), 'judging-'))
  const file = join(folder, 'models.json')
  const fake = { provider: 'openai-compatible', baseUrl: `${models.url}/v1`, apiKey: 'sk-test-key' }
  const priced = { ...fake, id: 'fake', prices: { input: 2, output: 10 } }
  await writeFile(file, JSON.stringify({ auto: 'fake', models: [priced, { ...fake, id: 'unpriced' }] }))
  service = await startService({ MODELS_FILE: file })
  client = await service.account()
  agentId = (await client.request('POST', '/agents', { name: 'Lumi', instructions: 'Be kind.' })).body.id
  const source = { type: 'text', name: 'Warranty', content: 'The Halo lamp has a warranty of five years.' }
  await trained(service, (await client.request('POST', `/agents/${agentId}/sources`, source)).body.id)
})
after(async () => {
  await service.close()
  await models.close()
  await rm(folder, { recursive: true, force: true })
})
beforeEach(() => {
  models.requests.length = 0
})

const ask: Client['request'] = (method, path, body) =>
  client.request(method, `/agents/${agentId}${path}`, body)
const isJudge = (body: unknown): boolean => JSON.stringify(body).includes('You judge an answer')
const asked = (): number => models.requests.filter(({ body }) => isJudge(body)).length
const answering = (judge: Reply, answer: Reply = { tokens: [ANSWER] }): void =>
  models.otherwise(({ body }) => (isJudge(body) ? judge : answer))
const PASSED = { reason: 'So it is.', passed: true }
const verdictOf = (claims: object[], rest: object = {}): Reply => ({
  tokens: [JSON.stringify({ claims, means: PASSED, sounds: PASSED, ...rest })],
})
const SUPPORTED = { claim: 'It has five years.', reason: 'Piece 1 says it.', verdict: 'supported', piece: 1 }
const ABSENT = { claim: 'It covers the bulb.', reason: 'Nobody says it.', verdict: 'absent', piece: 0 }

async function run(body: object) {
  const started = await ask('POST', '/answer-runs', body)
  assert.equal(started.status, 201, JSON.stringify(started.body))
  return ended(started.body.id)
}
const ended = (id: string) =>
  until('the end of the run', async () => {
    const { body } = await ask('GET', `/answer-runs/${id}`)
    return body.status !== 'running' && body
  })
async function caseOf(expect: object): Promise<string> {
  const { status, body } = await ask('POST', '/answer-cases', {
    name: 'Warranty',
    messages: [QUESTION],
    expect,
  })
  assert.equal(status, 201, JSON.stringify(body))
  return body.id
}

test('an answer is judged claim by claim, with the piece that decides', async () => {
  const caseId = await caseOf({ holds: ['five years'], means: 'Five years.' })
  answering(verdictOf([SUPPORTED, ABSENT]))
  const { results, passed, failed, dollars } = await run({ caseIds: [caseId], judges: true })
  const [{ judgement, checks, ...result }] = results
  assert.deepEqual([passed, failed, result.passed], [0, 1, false])
  assert.deepEqual(
    judgement.claims.map(
      ({ verdict, piece }: { verdict: string; piece: { name: string; text: string } | null }) => [
        verdict,
        piece?.name,
        piece?.text.includes('five years'),
      ],
    ),
    [
      ['supported', 'Warranty', true],
      ['absent', undefined, undefined],
    ],
  )
  assert.deepEqual(
    checks.map((check: { kind: string; passed: boolean }) => [check.kind, check.passed]),
    [
      ['holds', true],
      ['faithful', false],
      ['means', true],
    ],
  )
  assert.match(checks[1].reason, /It covers the bulb\./)
  assert.deepEqual([judgement.model, judgement.problem, judgement.inputTokens], ['fake', null, 7])
  assert.ok(Math.abs(dollars - (result.dollars + judgement.dollars)) < 1e-12)
  const read = models.requests.find(({ body }) => isJudge(body))?.body.messages.at(-1).content
  assert.match(read, /Be kind\./)
  answering(verdictOf([SUPPORTED]))
  assert.equal((await run({ caseIds: [caseId], judges: true })).passed, 1)
})

test('a check in code that failed decides, and no judge is asked', async () => {
  const caseId = await caseOf({ holds: ['ten years'], means: 'Five years.' })
  answering(verdictOf([SUPPORTED]))
  const { results } = await run({ caseIds: [caseId], judges: true })
  assert.deepEqual([results[0].passed, results[0].judgement, asked()], [false, null, 0])
})

test('a judge that fails decides nothing, and the result says why', async () => {
  const caseId = await caseOf({ holds: ['five years'], means: 'Five years.' })
  const failures: [string, Reply, RegExp][] = [
    ['a refusal in words', { tokens: ['I am not able to judge this.'] }, /did not answer as it should/],
    ['half of the JSON', { tokens: ['{"claims": [{"claim": "x", "rea'] }, /did not answer as it should/],
    ['JSON of another form', { tokens: ['{"passed": true}'] }, /did not answer as it should/],
    ['a verdict of its own', verdictOf([{ ...SUPPORTED, verdict: 'yes' }]), /did not answer as it should/],
    ['no verdict on what it was asked', verdictOf([], { means: {} }), /did not answer as it should/],
    ['an endless text', { tokens: ['{"claims": "', 'x'.repeat(30_000)] }, /too long|as it should/],
    ['a refusal of the provider', { status: 400, errorMessage: 'content filter' }, /400/],
    ['a text that ends too early', { tokens: ['{"claims": ['], dropAfter: 1 }, /./],
  ]
  for (const [what, judge, problem] of failures) {
    answering(judge)
    const { results, passed, failed, done } = await run({ caseIds: [caseId], judges: true })
    assert.deepEqual([done, passed, failed, results[0].passed], [1, 0, 0, null], what)
    assert.match(results[0].judgement.problem, problem, what)
    assert.deepEqual(
      results[0].checks.map((check: { passed: boolean | null }) => check.passed),
      [true, null, null],
      what,
    )
  }
  answering(verdictOf([{ ...SUPPORTED, piece: 99 }]))
  const { results } = await run({ caseIds: [caseId], judges: true })
  assert.deepEqual([results[0].passed, results[0].judgement.claims[0].verdict], [null, 'unclear'])
})

test('a judge that takes too long decides nothing, and a canceled one throws', async () => {
  answering({ after: NEVER })
  const model = service.ctx.models.resolve('auto')
  const one = { id: '1', name: 'x', messages: ['x'], expect: { means: 'x' } }
  const messages = [{ role: 'user' as const, text: 'x' }]
  const asker = { accountId: client.accountId, agentId, purpose: 'tests' as const }
  const needs = { models: service.ctx.models, asker, model, log: service.ctx.log, ms: 50 }
  const late = await judgeAnswer(needs, one, messages, [], new AbortController().signal)
  assert.match(late.judgement?.problem ?? '', /took longer than 0\.05 seconds/)
  assert.deepEqual(
    late.checks.map(({ passed }) => passed),
    [null, null],
  )
  await assert.rejects(
    judgeAnswer({ ...needs, ms: 60_000 }, one, messages, [], AbortSignal.abort(new Error('gone'))),
    {
      message: 'gone',
    },
  )
})

test('only JSON of the schema is a judgement', () => {
  const opinion = { passed: true, reason: 'x' }
  const pieces = [{ kind: 'passage' as const, name: 'A', text: 'x'.repeat(5_000) }]
  const read = (value: unknown) => readJudgement(JSON.stringify(value), pieces)
  const whole = { claims: [SUPPORTED], means: opinion, sounds: opinion }
  assert.equal(read(whole)?.claims[0]?.piece?.text.length, 1_000)
  for (const piece of [0, -1, 2])
    assert.equal(read({ ...whole, claims: [{ ...SUPPORTED, piece }] })?.claims[0]?.verdict, 'unclear')
  for (const wrong of [
    [],
    { ...whole, claims: {} },
    { ...whole, claims: ['x'] },
    { ...whole, claims: [{ ...SUPPORTED, piece: '1' }] },
    { ...whole, claims: [{ ...SUPPORTED, claim: null }] },
    { ...whole, sounds: { passed: 'true', reason: 'x' } },
  ])
    assert.equal(read(wrong), null, JSON.stringify(wrong))
})

test('people agree with a judgement or not, and how often they do is shown for each judge', async () => {
  const caseId = await caseOf({ means: 'Five years.' })
  answering(verdictOf([SUPPORTED, ABSENT]))
  const { id } = await run({ caseIds: [caseId], judges: true })
  const review = (body: object) =>
    ask('POST', `/answer-runs/${id}/reviews`, { caseId, repetition: 1, agrees: true, ...body })
  assert.equal((await review({ judgement: 'claim-1' })).status, 200)
  const note = 'The bulb stands in the warranty card.'
  const { body } = await review({ judgement: 'claim-2', agrees: false, note })
  assert.deepEqual(
    body.reviews.map((one: Record<string, unknown>) => [one.judgement, one.agrees, one.note, one.reviewer]),
    [
      ['claim-1', true, '', 'test'],
      ['claim-2', false, note, 'test'],
    ],
  )
  await review({ judgement: 'answer', agrees: false, note: 'It is right.' })
  const judge = async () =>
    (await ask('GET', '/answer-judges')).body.data.find(({ model }: { model: string }) => model === 'fake')
  const now = await judge()
  assert.deepEqual([now.reviewed, now.agreed, now.share], [2, 1, 0.5])
  assert.ok(now.judged >= 4)
  await review({ judgement: 'claim-2', agrees: true })
  await review({ judgement: 'claim-1', agrees: null })
  assert.deepEqual([(await judge()).reviewed, (await judge()).agreed], [1, 1])
  assert.equal((await ask('GET', `/answer-runs/${id}`)).body.results[0].reviews.length, 2)

  for (const judgement of ['claim-3', 'sounds']) {
    const refused = await review({ judgement })
    assert.deepEqual([refused.status, Object.keys(refused.body.error.details)], [400, ['judgement']])
  }
  assert.equal((await review({ judgement: 'claim-0' })).status, 400)
  assert.equal((await review({ judgement: 'answer', caseId: 'none' })).status, 404)
  assert.equal((await review({ judgement: 'answer', repetition: 2 })).status, 404)
  const other = await service.account()
  const theirs = (await other.request('POST', '/agents', { name: 'Other' })).body.id
  const path = `/agents/${theirs}/answer-runs/${id}/reviews`
  assert.equal(
    (await other.request('POST', path, { caseId, repetition: 1, judgement: 'answer', agrees: true })).status,
    404,
  )
})

test('one case is asked again as it was, also after it was changed or deleted', async () => {
  const [first, second] = [await caseOf({ holds: ['five years'] }), await caseOf({ holds: ['ten years'] })]
  answering(verdictOf([]))
  const before = await run({ caseIds: [first, second], repeats: 2, note: 'First', instructions: 'Be brief.' })
  await ask('DELETE', `/answer-cases/${second}`)
  const { status, body } = await ask('POST', `/answer-runs/${before.id}/repeat`, { caseIds: [second] })
  assert.deepEqual([status, body.total, body.repeats, body.instructions], [201, 2, 2, 'Be brief.'])
  const again = await ended(body.id)
  assert.deepEqual([again.failed, again.results[0].caseId], [2, second])
  const { cases, conclusion } = (await ask('GET', `/answer-runs/${again.id}/comparison?before=${before.id}`))
    .body
  assert.deepEqual([cases.length, conclusion], [1, 'The case came out as before.'])
  assert.equal((await ask('POST', `/answer-runs/${before.id}/repeat`, { caseIds: ['none'] })).status, 404)
})

test('what a run takes is said before it starts, and it stops at the money that it may cost', async () => {
  await caseOf({ holds: ['five years'] })
  answering(verdictOf([]), { tokens: [ANSWER], usage: [1_000, 100] })
  const price = (1_000 * 2 + 100 * 10) / 1_000_000
  const total = (await ask('GET', '/answer-cases')).body.pagination.total
  assert.ok(Math.abs((await run({})).dollars - total * price) < 1e-9)
  const { body: told } = await ask('GET', '/answer-estimate?repeats=3')
  assert.deepEqual(
    [told.model, told.tests, told.messages, told.credits],
    ['fake', 3 * total, 3 * total, 3 * total],
  )
  assert.ok(told.dollars > 0 && told.dollars <= 3 * total * price)
  assert.equal((await ask('GET', '/answer-estimate?model=unpriced')).body.dollars, null)
  assert.equal((await ask('GET', '/answer-estimate?model=none')).status, 400)
  const stopped = await run({ repeats: 10, maxDollars: 3.5 * price })
  assert.deepEqual([stopped.status, stopped.done], ['stopped', 3])
  assert.match(stopped.problem, /limit of \$/)
  const refused = await ask('POST', '/answer-runs', { model: 'unpriced', maxDollars: 1 })
  assert.deepEqual([refused.status, Object.keys(refused.body.error.details)], [400, ['maxDollars']])
})

test('the money of a run is that of all its calls, and it stops after one whose price is not known', async () => {
  const customer = { persona: 'A guest', goal: 'To know the warranty', maxMessages: 2 }
  const usage: [number, number] = [1_000, 100]
  models.otherwise(({ body }) => {
    const text = JSON.stringify(body)
    if (text.includes('You play a customer'))
      return { tokens: [JSON.stringify({ state: 'asking', message: 'How long?' })], usage }
    if (text.includes('You judge a conversation'))
      return { tokens: [JSON.stringify({ reached: true, reason: 'So it is.' })], usage }
    return isJudge(body) ? { ...verdictOf([]), usage } : { tokens: [ANSWER], usage }
  })
  const made = await ask('POST', '/answer-cases', {
    name: 'Guest',
    messages: [],
    customer,
    expect: { reachesGoal: true },
  })
  const caseIds = [made.body.id]
  const before = models.requests.length
  const played = await run({ caseIds, judges: true })
  const price = (1_000 * 2 + 100 * 10) / 1_000_000
  const calls = models.requests.length - before
  assert.ok(calls >= 5 && Math.abs(played.dollars - calls * price) < 1e-9, `${calls} ${played.dollars}`)
  const capped = await run({ caseIds, repeats: 10, judges: true, maxDollars: 2.5 * calls * price })
  assert.deepEqual([capped.status, capped.done], ['stopped', 2])

  const plain = [await caseOf({})]
  models.otherwise(() => ({ tokens: ['Five ', 'years ', 'long.'], dropAfter: 2, delayMs: 20 }))
  const unknown = await run({ caseIds: plain, repeats: 3, maxDollars: 1 })
  assert.deepEqual([unknown.status, unknown.done, unknown.dollars], ['stopped', 1, null])
  assert.match(unknown.problem, /not known/)
})
