import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Client, type Service, startService } from '../../../test/start.ts'
import { monthOf } from '../../accounts/plans/credits.ts'
import { newId } from '../../platform/db/ids.ts'
import { ApiError } from '../../platform/http/errors.ts'
import type { Call } from '../../platform/http/route.ts'
import { agentReactions } from '../../reactions.ts'
import type { setAutoRetrain } from '../contract.ts'
import { agentRoutes } from '../routes.ts'
import { defaultStyles } from '../settings/styles-schema.ts'
import { createAgent } from './create-agent.ts'

let service: Service
let client: Client
let id: string

before(async () => {
  service = await startService()
  client = await service.account()
  id = await createAgent(service.ctx.db, { id: client.accountId, plan: 'unlimited' }, 'test', {
    name: 'Agent',
  })
})
after(() => service.close())

const read = async () => (await client.request('GET', `/agents/${id}`)).body
const putStyles = (styles: object) => client.request('PUT', `/agents/${id}/styles`, { styles })

test('a model outside the catalogue is reported together with all other errors', async () => {
  const wrong = { name: '', model: 'gone', temp: 7, visibility: 'x' }
  const created = await client.request('POST', '/agents', wrong)
  const updated = await client.request('PUT', `/agents/${id}`, wrong)
  for (const { status, body } of [created, updated]) {
    assert.deepEqual([status, body.error.code], [400, 'VALIDATION_INVALID_BODY'])
    assert.deepEqual(Object.keys(body.error.details).sort(), ['model', 'name', 'temp', 'visibility'])
    assert.equal(body.error.details.model, `Must be one of: ${service.ctx.models.ids().join(', ')}.`)
  }
  for (const model of service.ctx.models.ids())
    assert.equal((await client.request('PUT', `/agents/${id}`, { model })).status, 200, model)
})

test('a seed URL that cannot be used leaves the agent, and the error says what to repeat', async () => {
  for (const url of ['no url', 'ftp://example.com/']) {
    const { status, body } = await client.request('POST', '/agents', { name: 'Agent', url })
    assert.equal(status, 201, url)
    assert.deepEqual(body.pendingSteps, ['ADD_SOURCE'], url)
    assert.equal((await client.request('GET', `/agents/${body.id}`)).body.status, 'untrained')
  }
})

test('a seed URL becomes a link source', async () => {
  // The guarded fetcher refuses this address, so that the test asks nothing of the network.
  const url = 'http://127.0.0.1/help'
  const { body } = await client.request('POST', '/agents', { name: 'Agent', url })
  assert.deepEqual(Object.keys(body), ['id'])
  const rows = await service.ctx.db
    .selectFrom('sources')
    .select(['type', 'url'])
    .where('agent_id', '=', body.id)
    .execute()
  assert.deepEqual(rows, [{ type: 'link', url }])
})

test('concurrent changes to different parts of one setting all take effect', async () => {
  const parts = [{ limit: 7 }, { timeframe: 70 }, { message: 'Slow down' }]
  await Promise.all(parts.map((ipRateLimits) => client.request('PUT', `/agents/${id}`, { ipRateLimits })))
  assert.deepEqual((await read()).ipRateLimits, { limit: 7, timeframe: 70, message: 'Slow down' })
})

test('null resets a field of the styles, a group, a field of a group, or a whole part', async () => {
  const { chat, centerStage } = defaultStyles
  const sent = {
    chat: {
      theme: 'dark',
      footer: 'x',
      mobile: { showAutoOpen: false, autoOpenChatWindowAfter: { enabled: true, value: 4 } },
    },
    centerStage: { width: 'large', typography: { fontSize: '20px', fontFamily: 'Arial' } },
  }
  const expectAfter = async (change: object, expected: object) => {
    await putStyles({ chat: null, centerStage: null })
    assert.deepEqual((await read()).styles, { chat, centerStage })
    await putStyles(sent)
    const { status, body } = await putStyles(change)
    assert.equal(status, 200, JSON.stringify(body))
    assert.deepEqual((await read()).styles, expected)
  }
  const set = {
    chat: { ...chat, ...sent.chat, mobile: { ...chat.mobile, ...sent.chat.mobile } },
    centerStage: { ...centerStage, ...sent.centerStage },
  }
  await expectAfter({}, set)
  await expectAfter({ chat: {} }, set)
  await expectAfter({ chat: { theme: null } }, { ...set, chat: { ...set.chat, theme: 'light' } })
  await expectAfter({ chat: { mobile: null } }, { ...set, chat: { ...set.chat, mobile: chat.mobile } })
  await expectAfter(
    { chat: { mobile: { showAutoOpen: null } } },
    { ...set, chat: { ...set.chat, mobile: { ...set.chat.mobile, showAutoOpen: true } } },
  )
  await expectAfter({ centerStage: null }, { ...set, centerStage })
})

test('credits are those of this month, and the last message is the latest across all conversations', async () => {
  const { db } = service.ctx
  const owner = { account_id: client.accountId, owner_id: id }
  await db
    .insertInto('credit_usage')
    .values([
      { ...owner, month: monthOf(new Date()), used: 12 },
      { ...owner, month: '2001-01', used: 99 },
    ])
    .execute()
  assert.deepEqual([(await read()).creditsUsed, (await read()).lastMessageAt], [12, null])
  for (const day of ['2026-03-02', '2026-03-05', '2026-03-01']) {
    await db
      .insertInto('conversations')
      .values({
        id: newId(),
        account_id: client.accountId,
        agent_id: id,
        source: 'API',
        status: 'ongoing',
        updated_at: new Date(`${day}T10:00:00.007Z`),
      })
      .execute()
  }
  assert.equal((await read()).lastMessageAt, '2026-03-05T10:00:00.007Z')
  const { body } = await client.request('GET', '/agents?limit=100')
  assert.deepEqual(
    body.data.find((agent: { id: string }) => agent.id === id),
    await read(),
  )
})

test('a plan without the weekly re-sync rejects the switch', async () => {
  // No plan of the catalogue has the API but not this feature, so the check is asked directly.
  const route = agentRoutes(service.ctx, agentReactions(service.ctx)).find(
    ({ endpoint }) => endpoint.name === 'setAutoRetrain',
  )
  const call = {
    caller: { account: { id: client.accountId, name: 'x', plan: 'hobby' } },
    params: { agentId: id },
    body: { enabled: true },
  } as Call<typeof setAutoRetrain>
  await assert.rejects(
    async () => route?.check?.(call as never),
    (error) =>
      error instanceof ApiError && error.code === 'PLAN_FEATURE_NOT_AVAILABLE' && error.status === 403,
  )
})

test('every version of the instructions is kept and can be restored', async () => {
  const agent = `/agents/${(await client.request('POST', '/agents', { name: 'Told', instructions: 'Be kind.' })).body.id}`
  const versions = async () => (await client.request('GET', `${agent}/instructions/versions`)).body.data
  await client.request('PUT', agent, { name: 'Another name' })
  assert.deepEqual(await versions(), [])
  await client.request('PUT', agent, {
    instructions: 'Be short.',
    channelInstructions: { email: 'Be long.' },
  })
  await client.request('PUT', agent, { temp: 0.5 })
  await client.request('PUT', agent, { temp: 0.5 })
  const told = await versions()
  assert.deepEqual(
    told.map(({ instructions, temp, actor }: Record<string, string>) => [
      instructions,
      temp,
      actor?.slice(0, 4) ?? null,
    ]),
    [
      ['Be short.', 0.5, 'key:'],
      ['Be short.', 0, 'key:'],
      ['Be kind.', 0, null],
    ],
  )
  const restore = (id: string) => client.request('POST', `${agent}/instructions/versions/${id}/restore`)
  assert.equal((await restore(told[2].id)).status, 200)
  const { instructions, channelInstructions, temp } = (await client.request('GET', agent)).body
  assert.deepEqual([instructions, channelInstructions, temp], ['Be kind.', null, 0])
  assert.equal((await versions()).length, 4)
  assert.equal((await restore(newId())).status, 404)
  for (let n = 0; n < 52; n++) await client.request('PUT', agent, { instructions: `Version ${n}` })
  const page = (await client.request('GET', `${agent}/instructions/versions?limit=1`)).body
  assert.deepEqual([page.data[0].instructions, page.pagination.total], ['Version 51', 50])
})

test('the models of the installation are listed and tested', async () => {
  const { models, embedding } = (await client.request('GET', '/models')).body
  assert.deepEqual(
    models.map(({ id, isAuto, isInPlan }: Record<string, unknown>) => [id, isAuto, isInPlan]),
    [['builtin', true, true]],
  )
  assert.equal(embedding, null)
  const { findings } = (await client.request('POST', '/models/test')).body
  assert.deepEqual(
    findings.map(({ name, ok }: Record<string, unknown>) => [name, ok]),
    [
      ['builtin', true],
      ['none', true],
    ],
  )
})
