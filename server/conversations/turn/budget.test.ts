import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { type MailServer, startMailServer } from '../../../test/fakes/mail-server.ts'
import { type ModelServer, startModelServer } from '../../../test/fakes/model-server.ts'
import { type Client, type Service, startService } from '../../../test/start.ts'
import { until } from '../../../test/until.ts'
import { countModelUse } from '../../accounts/plans/model-usage.ts'
import { createMember } from '../../accounts/records/members.ts'
import { planBudgetMails } from '../../channels/notifications/budget-mails.ts'

let service: Service
let client: Client
let models: ModelServer
let mails: MailServer
let folder: string

before(async () => {
  models = await startModelServer()
  mails = await startMailServer()
  folder = await mkdtemp(join(tmpdir(), 'budget-'))
  const file = join(folder, 'models.json')
  const fake = { provider: 'openai-compatible', baseUrl: `${models.url}/v1`, apiKey: 'sk-test-key' }
  const priced = { ...fake, id: 'fake', prices: { input: 2, output: 10 } }
  await writeFile(file, JSON.stringify({ auto: 'fake', models: [priced, { ...fake, id: 'unpriced' }] }))
  service = await startService({
    MODELS_FILE: file,
    SMTP_URL: `smtp://user:secret@127.0.0.1:${mails.port}/?security=none`,
    MAIL_FROM: 'parley@example.com',
    ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
  })
  client = await service.account()
  await createMember(service.ctx.db, { id: client.accountId, plan: 'unlimited' } as never, {
    email: 'owner@example.com',
    name: 'Owner',
    role: 'owner',
  })
})
after(async () => {
  await service.close()
  await mails.close()
  await models.close()
  await rm(folder, { recursive: true, force: true })
})

const makeAgent = async (name: string): Promise<string> =>
  (await client.request('POST', '/agents', { name })).body.id
const say = (agentId: string, headers = {}) =>
  client.request('POST', `/agents/${agentId}/chat`, { message: 'Hello?', stream: false }, headers)
const setBudget = async (agentId: string, budget: object | null) => {
  const { status, body } = await client.request('PUT', `/agents/${agentId}/guardrails`, { budget })
  assert.equal(status, 200, JSON.stringify(body))
}
const spending = async (agentId: string) => (await client.request('GET', `/agents/${agentId}/spending`)).body
const answer = () => models.queue.push({ tokens: ['Hello.'], usage: [1_000, 200] })
const COST = (1_000 * 2 + 200 * 10) / 1_000_000

test('a budget stops the model when it is used up, and its answers can still be fetched by their keys', async () => {
  const [agentId, other] = [await makeAgent('Lumi'), await makeAgent('Other')]
  await setBudget(agentId, { dollars: COST, alertShare: 0.5, atLimit: 'stop' })
  answer()
  const key = { 'idempotency-key': 'budget-1' }
  const first = await say(agentId, key)
  assert.equal(first.status, 200, JSON.stringify(first.body))
  // It is counted after the answer.
  const { dollars, state, unpricedCalls } = await until('the count', async () => {
    const spent = await spending(agentId)
    return spent.dollars > 0 && spent
  })
  assert.deepEqual([dollars, state, unpricedCalls], [COST, 'reached', 0])
  const refused = await say(agentId)
  assert.equal(refused.status, 402)
  assert.equal(refused.body.error.code, 'CHAT_AGENT_CREDITS_EXHAUSTED')
  assert.match(refused.body.error.message, /budget/)
  assert.deepEqual((await say(agentId, key)).body, first.body)
  answer()
  assert.equal((await say(other)).status, 200, 'another agent has its own')
  await setBudget(agentId, { dollars: COST, alertShare: 0.5, atLimit: 'tell' })
  answer()
  assert.equal((await say(agentId)).status, 200)
  await client.request('PUT', `/agents/${agentId}`, { model: 'builtin' })
  await setBudget(agentId, { dollars: COST, alertShare: 0.5, atLimit: 'stop' })
  assert.equal((await say(agentId)).status, 200, 'the built-in responder costs nothing')
})

test('an answer that is stopped, again and again, uses the budget up as well', async () => {
  const agentId = await makeAgent('Stopped')
  await setBudget(agentId, { dollars: 0.000_001, alertShare: 0.5, atLimit: 'stop' })
  models.queue.push({ tokens: ['Hello. ', 'And so on'], stallAfter: 1 })
  const path = `/agents/${agentId}`
  const asked = client.request('POST', `${path}/chat`, { message: 'Hello?', stream: false })
  const { id } = await until('the first word', async () => {
    const running = await service.ctx.db
      .selectFrom('generations')
      .select('conversation_id as id')
      .where('agent_id', '=', agentId)
      .executeTakeFirst()
    const hasBegun = running && (service.ctx.generations.ofConversation(running.id)?.count ?? 0) > 0
    return hasBegun ? running : undefined
  })
  const stopped = await client.request('POST', `${path}/conversations/${id}/stop`)
  assert.equal(stopped.body.data.stopped, true, JSON.stringify(stopped.body))
  assert.equal((await asked).status, 200)
  const { dollars, unpricedCalls } = await until('the count', async () => {
    const spent = await spending(agentId)
    return spent.dollars + spent.unpricedCalls > 0 && spent
  })
  assert.ok(dollars > 0.000_001 && dollars < 0.01, `${dollars}`)
  assert.equal(unpricedCalls, 0)
  assert.equal((await say(agentId)).body.error.code, 'CHAT_AGENT_CREDITS_EXHAUSTED')
})

test('owners are told once at the share of the alert and once at the limit, whoever looks', async () => {
  const agentId = await makeAgent('Alert\nagent')
  const ref = { accountId: client.accountId, agentId }
  const spend = (dollars: number | null) =>
    countModelUse(service.ctx.db, ref, 'answer', {
      model: 'fake',
      calls: 1,
      inputTokens: 1,
      cachedTokens: 0,
      outputTokens: 1,
      reasoningTokens: 0,
      dollars,
    })
  await setBudget(agentId, { dollars: 10, alertShare: 0.8, atLimit: 'stop' })
  const about = () => mails.mails.filter(({ raw }) => raw.includes('Alert agent'))
  await spend(7.9)
  await spend(null)
  await planBudgetMails(service.ctx)
  assert.deepEqual(
    await spending(agentId).then(({ dollars, unpricedCalls, state }) => [dollars, unpricedCalls, state]),
    [7.9, 1, 'below'],
  )
  await spend(0.2)
  await Promise.all([1, 2, 3].map(() => planBudgetMails(service.ctx)))
  await until('the alert', () => about().length === 1)
  assert.match(about()[0]?.raw ?? '', /To: .*owner@example\.com[\s\S]*nearly used up[\s\S]*\$8\.10 of/)
  await spend(2)
  await Promise.all([1, 2, 3].map(() => planBudgetMails(service.ctx)))
  await until('the limit', () => about().length === 2)
  assert.match(about()[1]?.raw ?? '', /is used up[\s\S]*No model is called any more/)
  assert.equal(await planBudgetMails(service.ctx), 0)
  const later = new Date()
  later.setUTCMonth(later.getUTCMonth() + 1, 15)
  assert.equal(await planBudgetMails(service.ctx, later), 0, 'the next month begins with nothing spent')
})

test('answers that a process of the former version counts are in the budget, beside what else models are asked', async () => {
  const agentId = await makeAgent('Former')
  const ref = { accountId: client.accountId, agentId }
  const use = {
    model: 'fake',
    calls: 1,
    inputTokens: 1,
    cachedTokens: 0,
    outputTokens: 1,
    reasoningTokens: 0,
  }
  for (const purpose of ['answer', 'title', 'title', 'tests'] as const)
    await countModelUse(service.ctx.db, ref, purpose, { ...use, dollars: 1 })
  for (let at = 0; at < 2; at++)
    await sql`
      insert into model_usage as used
        (account_id, day, agent_id, model, calls, input_tokens, cached_tokens, output_tokens, reasoning_tokens, dollars, unpriced_calls)
      values (${client.accountId}::uuid, (now() at time zone 'utc')::date, ${agentId}, 'fake', 1, 1, 0, 1, 0, 1, 0)
      on conflict (account_id, day, agent_id, model) do update
        set calls = used.calls + excluded.calls, dollars = used.dollars + excluded.dollars`.execute(
      service.ctx.db,
    )
  assert.equal((await spending(agentId)).dollars, 5)
  const { models: rows } = (await client.request('GET', '/usage')).body
  assert.deepEqual(
    rows
      .filter((row: { agentId: string }) => row.agentId === agentId)
      .map(({ purpose, calls, dollars }: Record<string, unknown>) => [purpose, calls, dollars]),
    [
      ['answer', 3, 3],
      ['tests', 1, 1],
      ['title', 2, 2],
    ],
  )
})

test('what a budget must be is refused otherwise, and a copy of an agent has its own month', async () => {
  const agentId = await makeAgent('Rules')
  const good = { dollars: 5, alertShare: 0.8, atLimit: 'tell' }
  const put = (body: object) => client.request('PUT', `/agents/${agentId}/guardrails`, body)
  for (const budget of [
    { ...good, dollars: 0 },
    { ...good, dollars: -1 },
    { ...good, alertShare: 1.1 },
    { ...good, atLimit: 'explode' },
    { dollars: 5 },
    'much',
  ])
    assert.equal((await put({ budget })).status, 400, JSON.stringify(budget))
  assert.equal((await put({ ungrounded: 'delete' })).status, 400)
  assert.equal((await put({ budget: good, ungrounded: 'hold' })).status, 200)
  assert.equal((await put({ forbiddenTopics: [{ topic: 'Law', say: null, escalate: false }] })).status, 200)
  const { body, headers } = await client.request('GET', `/agents/${agentId}/guardrails`)
  const set = {
    budget: good,
    ungrounded: 'hold',
    forbiddenTopics: [{ topic: 'Law', say: null, escalate: false }],
  }
  assert.deepEqual(body, set)
  const old = await client.request(
    'PUT',
    `/agents/${agentId}/guardrails`,
    { budget: null },
    { 'if-match': '"old"' },
  )
  assert.equal(old.status, 412)
  assert.ok(headers.get('etag'))
  const copy = (await client.request('POST', `/agents/${agentId}/clone`, {})).body.id
  assert.deepEqual((await client.request('GET', `/agents/${copy}/guardrails`)).body, set)
  const stranger = await service.account()
  assert.equal((await stranger.request('GET', `/agents/${agentId}/guardrails`)).status, 404)
  assert.equal((await stranger.request('GET', `/agents/${agentId}/spending`)).status, 404)
})
