import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { type Client, clientOf, type Service, startService } from '../../test/start.ts'
import { createKey } from '../accounts/keys/keys.ts'
import { newId } from '../platform/db/ids.ts'
import { addConversation, runTool, toolkitOf } from './definitions/for-tests.ts'
import { namedActions } from './definitions/named-actions.ts'
import { abandonIdleRuns, abandonRun } from './procedures/procedure-runs.ts'

let service: Service
let client: Client
let agentId: string
let path: string

before(async () => {
  service = await startService()
})
after(() => service.close())
beforeEach(async () => {
  client = await service.account()
  agentId = (await client.request('POST', '/agents', { name: 'Agent' })).body.id
  path = `/agents/${agentId}/procedures`
})

const refund = {
  name: 'Refund',
  trigger: 'The customer wants the money back.',
  steps: ['Ask for the order.', { instruction: 'Look it up.', action: 'lookup' }, 'Then use @pay_back.'],
}
const create = (body: object) => client.request('POST', path, body)
const put = (id: string, body: object) => client.request('PUT', `${path}/${id}`, body)
const read = async (id: string) => (await client.request('GET', `${path}/${id}`)).body
async function addAction(name: string, more: object = {}): Promise<string> {
  const body = { name, type: 'client', description: 'x', ...more }
  return (await client.request('POST', `/agents/${agentId}/actions`, body)).body.id
}
/** Creates an agent with this procedure, enabled. */
async function enabledRefund(): Promise<{ id: string; lookup: string; payBack: string }> {
  const [lookup, payBack] = [await addAction('lookup'), await addAction('pay_back')]
  const { id } = (await create(refund)).body
  assert.equal((await put(id, { enabled: true })).status, 200)
  return { id, lookup, payBack }
}
const runs = (conversationId: string) =>
  service.ctx.db
    .selectFrom('procedure_runs')
    .select(['name', 'status', 'ended_at'])
    .where('conversation_id', '=', conversationId)
    .orderBy('id')
    .execute()
const statuses = async (conversationId: string) => (await runs(conversationId)).map(({ status }) => status)
const call = (name: string, input: object, conversationId: string, toolCallId = newId()) =>
  runTool(service.ctx, agentId, name, input, { conversationId, toolCallId })

test('a procedure is created disabled, read, partially changed, listed and deleted', async () => {
  const { status, body } = await create(refund)
  assert.equal(status, 201)
  const { id, createdAt, updatedAt, ...rest } = body
  assert.equal(createdAt, updatedAt)
  assert.deepEqual(rest, {
    ...refund,
    steps: [
      { instruction: 'Ask for the order.', action: null },
      { instruction: 'Look it up.', action: 'lookup' },
      { instruction: 'Then use @pay_back.', action: null },
    ],
    enabled: false,
  })
  const changed = await put(id, { trigger: 'Other.', steps: [{ instruction: 'x', action: null }] })
  assert.deepEqual(changed.body, {
    ...body,
    trigger: 'Other.',
    steps: [{ instruction: 'x', action: null }],
    updatedAt: changed.body.updatedAt,
  })
  const { body: list } = await client.request('GET', path)
  assert.deepEqual(list, { data: [changed.body], pagination: { cursor: null, hasMore: false, total: 1 } })
  assert.deepEqual((await client.request('DELETE', `${path}/${id}`)).body, { success: true })
  assert.equal((await client.request('GET', `${path}/${id}`)).body.error.code, 'RESOURCE_NOT_FOUND')
})

test('invalid procedures are rejected by field', async () => {
  await create(refund)
  const wrong: [object, string][] = [
    [refund, 'name'],
    [{ ...refund, name: 'a\nb' }, 'name'],
    [{ ...refund, name: ' ' }, 'name'],
    [{ ...refund, name: 'Refund, or exchange' }, 'name'],
    [{ ...refund, name: 'Refund ' }, 'name'],
    [{ ...refund, name: ' Refund' }, 'name'],
    [{ ...refund, name: 'x'.repeat(101) }, 'name'],
    [{ ...refund, enabled: true }, 'enabled'],
    [{ ...refund, trigger: '' }, 'trigger'],
    [{ ...refund, steps: [] }, 'steps'],
    [{ ...refund, steps: ['x', ' '] }, 'steps.1'],
    [{ ...refund, steps: Array(51).fill('x') }, 'steps'],
    [{ ...refund, steps: [{ action: 'x' }] }, 'steps.0.instruction'],
    [{ ...refund, steps: [{ instruction: 'x', action: '1' }] }, 'steps.0.action'],
  ]
  for (const [body, field] of wrong) {
    const answer = await create(body)
    assert.equal(answer.status, 400, field)
    assert.ok(answer.body.error.details[field], `${field}: ${JSON.stringify(answer.body)}`)
  }
})

test('a plan without procedures only permits reading, changing, disabling and deleting them', async () => {
  const { id } = (await create({ ...refund, steps: ['x'] })).body
  await put(id, { enabled: true })
  const { db } = service.ctx
  await db.updateTable('accounts').set({ plan: 'standard' }).where('id', '=', client.accountId).execute()
  // The plan is cached with the key; a new key is not cached yet.
  client = clientOf(service.url, (await createKey(db, client.accountId, { name: 'test' })).key)
  for (const answer of [await create({ ...refund, name: 'B' }), await put(id, { enabled: true })])
    assert.deepEqual([answer.status, answer.body.error.code], [403, 'PLAN_FEATURE_NOT_AVAILABLE'])
  assert.equal((await put(id, { trigger: 'Other.' })).body.enabled, true)
  assert.equal((await put(id, { enabled: false })).body.enabled, false)
  assert.equal((await client.request('DELETE', `${path}/${id}`)).status, 200)
})

test('a procedure can only be enabled when every action that it names exists and is enabled', async () => {
  const { id } = (await create(refund)).body
  await addAction('lookup', { enabled: false })
  const { status, body } = await put(id, { enabled: true })
  assert.deepEqual([status, body.error.code], [400, 'VALIDATION_INVALID_BODY'])
  assert.match(body.error.details.enabled, /: lookup, pay_back\.$/)
  assert.equal((await read(id)).enabled, false)
  const free = { steps: ['Ask, or write to help@lookup.example.'], enabled: true }
  assert.equal((await put(id, free)).body.enabled, true)
  const worse = await put(id, { steps: ['Use @gone.'] })
  assert.match(worse.body.error.details.steps, /gone/)
  assert.equal((await put(id, { steps: ['Use @gone.'], enabled: false })).status, 200)
})

test('mentions are distinguished from e-mail addresses and hosts', () => {
  const names = (instruction: string) => [...namedActions([{ instruction, action: null }])]
  assert.deepEqual(names('Use @a, (@b-2) or "@c". @d!'), ['a', 'b-2', 'c', 'd'])
  assert.deepEqual(names('x@a jürgen.é@b.example a+@c @d.example @1st @'), [])
  assert.deepEqual(names(`@${'x'.repeat(65)}`), [])
})

test('disabling, renaming or deleting an action disables the procedures that name it', async () => {
  const changes: [string, (id: string) => Promise<unknown>][] = [
    ['disable', (id) => client.request('PUT', `/agents/${agentId}/actions/${id}`, { enabled: false })],
    ['rename', (id) => client.request('PUT', `/agents/${agentId}/actions/${id}`, { name: 'b' })],
    ['delete', (id) => client.request('DELETE', `/agents/${agentId}/actions/${id}`)],
  ]
  for (const [what, change] of changes) {
    agentId = (await client.request('POST', '/agents', { name: 'Agent' })).body.id
    path = `/agents/${agentId}/procedures`
    const { id, lookup, payBack } = await enabledRefund()
    const other = (await create({ ...refund, name: 'Other', steps: ['x'] })).body.id
    await put(other, { enabled: true })
    await client.request('PUT', `/agents/${agentId}/actions/${lookup}`, { description: 'y', enabled: true })
    assert.equal((await read(id)).enabled, true)
    await change(what === 'rename' ? payBack : lookup)
    assert.deepEqual([(await read(id)).enabled, (await read(other)).enabled], [false, true], what)
  }
})

test('the model is told about procedures, starts one, sees its steps, and finishes it', async () => {
  const conversationId = await addConversation(service.ctx, agentId)
  assert.equal((await create(refund)).status, 201)
  const before = await toolkitOf(service.ctx, agentId, { conversationId })
  assert.deepEqual(before, { tools: [], procedures: null, running: null }, 'a disabled one is not offered')
  await client.request('DELETE', `${path}/${(await client.request('GET', path)).body.data[0].id}`)

  await enabledRefund()
  const { tools, procedures } = await toolkitOf(service.ctx, agentId, { conversationId })
  assert.deepEqual(
    tools.map(({ name, type }) => [name, type]),
    [
      ['lookup', 'client'],
      ['pay_back', 'client'],
      ['start_procedure', 'procedure'],
      ['finish_procedure', 'procedure'],
    ],
  )
  assert.match(procedures ?? '', /- Refund: The customer wants the money back\./)
  assert.doesNotMatch(procedures ?? '', /Look it up/)
  assert.match(tools[2]?.refuse({ name: 'Gone' }) ?? '', /must be one of: Refund/)

  const toolCallId = newId()
  for (let time = 0; time < 2; time++) {
    const output = await call('start_procedure', { name: 'Refund' }, conversationId, toolCallId)
    assert.ok(output.status === 'success')
    assert.equal((output.data as { steps: unknown[] }).steps.length, 3)
  }
  assert.deepEqual(await statuses(conversationId), ['running'], 'once for each call')
  const running = await toolkitOf(service.ctx, agentId, { conversationId })
  assert.match(running.running ?? '', /"Refund" is running[\s\S]*\n2\. Look it up\. \(action: lookup\)/)

  assert.deepEqual(await call('finish_procedure', { outcome: 'completed' }, conversationId), {
    status: 'success',
  })
  const [run] = await runs(conversationId)
  assert.ok(run?.status === 'completed' && run.ended_at)
  assert.equal((await call('finish_procedure', { outcome: 'completed' }, conversationId)).status, 'success')
  assert.deepEqual(await call('finish_procedure', { outcome: 'failed' }, conversationId), {
    status: 'error',
    error: 'No procedure is running in this conversation.',
  })
})

test('one procedure runs at a time; the earlier one is abandoned', async () => {
  await enabledRefund()
  const conversationId = await addConversation(service.ctx, agentId)
  await Promise.all([1, 2, 3].map(() => call('start_procedure', { name: 'Refund' }, conversationId)))
  assert.deepEqual((await statuses(conversationId)).sort(), ['abandoned', 'abandoned', 'running'])
  await service.ctx.db.transaction().execute((trx) => abandonRun(trx, client.accountId, conversationId))
  assert.deepEqual(new Set(await statuses(conversationId)), new Set(['abandoned']))
})

test('a run is abandoned when its conversation has been silent for a day', async () => {
  await enabledRefund()
  const [silent, lively, fresh] = [
    await addConversation(service.ctx, agentId),
    await addConversation(service.ctx, agentId),
    await addConversation(service.ctx, agentId),
  ]
  for (const id of [silent, lively, fresh]) await call('start_procedure', { name: 'Refund' }, id)
  const old = new Date(Date.now() - 25 * 3_600_000)
  const { db } = service.ctx
  const ids = [silent, lively]
  await db
    .updateTable('procedure_runs')
    .set({ started_at: old })
    .where('conversation_id', 'in', ids)
    .execute()
  await db.updateTable('conversations').set({ updated_at: old }).where('id', 'in', [silent, fresh]).execute()
  assert.equal(await abandonIdleRuns(db), 1)
  assert.deepEqual(
    [await statuses(silent), await statuses(lively), await statuses(fresh)],
    [['abandoned'], ['running'], ['running']],
  )
})
