import assert from 'node:assert/strict'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { sql } from 'kysely'
import { type Client, type Service, startService } from '../../../test/start.ts'
import { newId } from '../../platform/db/ids.ts'
import { json } from '../../platform/db/statements/json.ts'
import type { SourceContent, SourcesTable } from '../../platform/db/tables/knowledge.ts'
import { placeOfHeader } from '../../platform/secrets/sealed-columns.ts'
import type { AgentReactions } from './agent-reactions.ts'
import { cloneAgent } from './clone-agent.ts'
import { createAgent } from './create-agent.ts'

let service: Service
let client: Client

before(async () => {
  service = await startService()
})
after(() => service.close())

async function agentOf(owner: Client, name = 'Shop'): Promise<string> {
  return createAgent(service.ctx.db, { id: owner.accountId, plan: 'unlimited' }, 'test', { name })
}

type Given = {
  id?: string
  content?: SourceContent
  status?: SourcesTable['status']
  type?: SourcesTable['type']
}

/** Creates a source with one chunk, which is live unless it is being processed. */
async function addSource(owner: Client, agentId: string, given: Given = {}): Promise<string> {
  const { content = { text: 'We open at nine.' }, status = 'trained', type = 'text', id = newId() } = given
  const owned = { account_id: owner.accountId, agent_id: agentId }
  const live_version = status === 'trained' ? 1 : null
  await service.ctx.db
    .insertInto('sources')
    .values({ ...owned, id, type, name: 'Hours', status, size: 16, content: json(content), live_version })
    .execute()
  if (live_version === null) return id
  await service.ctx.db
    .insertInto('chunks')
    .values({
      ...owned,
      id: newId(),
      source_id: id,
      version: 1,
      ordinal: 0,
      heading_path: json(['Hours']),
      text: 'We open at nine.',
      vector_key: 'k',
    })
    .execute()
  return id
}

const sourcesOf = (agentId: string) =>
  service.ctx.db.selectFrom('sources').selectAll().where('agent_id', '=', agentId).execute()
const chunksOf = (agentId: string) =>
  service.ctx.db
    .selectFrom('chunks')
    .select(['text', 'heading_path', 'version', 'source_id'])
    .where('agent_id', '=', agentId)
    .execute()
const read = async (owner: Client, id: string) => (await owner.request('GET', `/agents/${id}`)).body
const clone = (owner: Client, id: string) => owner.request('POST', `/agents/${id}/clone`)

test('a clone has every setting, the sources and their index, and outlives the original', async () => {
  client = await service.account()
  const id = await agentOf(client)
  await addSource(client, id)
  await client.request('PUT', `/agents/${id}`, {
    instructions: 'Be kind.',
    channelInstructions: { api: 'Short.' },
    temp: 0.3,
    visibility: 'public',
    allowedDomains: ['example.com'],
    suggestedMessages: [{ type: 'single', text: 'Hours?', order: 0 }],
    initialMessages: ['Hello!'],
    creditLimit: 7,
    notificationsSettings: { dailyConversations: { active: true, emails: ['a@example.com'] } },
    ipRateLimits: { limit: 3 },
    spamSettings: { enabled: true, prompt: 'x' },
    blockedCountries: ['DE'],
    voiceSettings: { voice: { speed: 1 } },
  })
  await client.request('PUT', `/agents/${id}/styles`, { styles: { chat: { theme: 'dark' } } })
  await client.request('PUT', `/agents/${id}/auto-retrain`, { enabled: true })

  const { status, body } = await clone(client, id)
  assert.equal(status, 201)
  assert.deepEqual(Object.keys(body), ['id'])
  const original = await read(client, id)
  const copy = await read(client, body.id)
  assert.deepEqual(copy, {
    ...original,
    id: body.id,
    name: 'Shop (copy)',
    createdAt: copy.createdAt,
  })
  assert.equal(copy.status, 'trained')

  await client.request('DELETE', `/agents/${id}`)
  const [source, ...others] = await sourcesOf(body.id)
  assert.equal(others.length, 0)
  assert.deepEqual(await chunksOf(body.id), [
    { text: 'We open at nine.', heading_path: ['Hours'], version: 1, source_id: source?.id },
  ])
})

test('a clone has the actions with their secrets, and the procedures, and is independent of the original', async () => {
  client = await service.account()
  const id = await agentOf(client)
  const http = { method: 'GET', url: 'https://example.com/', headers: { Authorization: 'Bearer x' } }
  const action = { name: 'lookup', type: 'http', description: 'x', http }
  const { body: made } = await client.request('POST', `/agents/${id}/actions`, action)
  const procedure = { name: 'Refund', trigger: 'x', steps: ['Use @lookup.'] }
  const { body: planned } = await client.request('POST', `/agents/${id}/procedures`, procedure)
  await client.request('PUT', `/agents/${id}/procedures/${planned.id}`, { enabled: true })

  const copy = (await clone(client, id)).body.id
  const listed = async (agentId: string, what: string) =>
    (await client.request('GET', `/agents/${agentId}/${what}`)).body.data
  for (const what of ['actions', 'procedures']) {
    const [[theirs], [ours]] = [await listed(id, what), await listed(copy, what)]
    assert.notEqual(ours.id, theirs.id)
    assert.deepEqual({ ...ours, id: '' }, { ...theirs, id: '' })
  }
  const rows = await service.ctx.db
    .selectFrom('actions')
    .select(['id', 'http'])
    .where('agent_id', 'in', [id, copy])
    .execute()
  const sealed = rows.map((row) => row.http?.headers.Authorization ?? '')
  // Each ciphertext is bound to its own action, and both have the same content.
  assert.equal(new Set(sealed).size, 2)
  for (const [at, row] of rows.entries())
    assert.equal(
      await service.ctx.secrets.decrypt(sealed[at] ?? '', placeOfHeader(row.id, 'authorization')),
      'Bearer x',
    )
  assert.deepEqual({ ...rows[0]?.http, headers: {} }, { ...rows[1]?.http, headers: {} })

  await client.request('DELETE', `/agents/${id}/actions/${made.id}`)
  assert.deepEqual([(await listed(copy, 'actions')).length, (await listed(id, 'actions')).length], [1, 0])
  const [ours] = await listed(copy, 'procedures')
  assert.equal(ours.enabled, true)
  const { tools_version } = await service.ctx.db
    .selectFrom('agents')
    .select('tools_version')
    .where('id', '=', copy)
    .executeTakeFirstOrThrow()
  assert.ok(tools_version > 0, 'the copy is asked for its actions')
})

test('sources that are still being processed are also trained in the clone', async () => {
  client = await service.account()
  const id = await agentOf(client)
  await addSource(client, id, { status: 'untrained' })
  const { body } = await clone(client, id)
  const deadline = Date.now() + 20_000
  while ((await sourcesOf(body.id))[0]?.status === 'untrained' && Date.now() < deadline) await setTimeout(50)
  assert.equal((await sourcesOf(body.id))[0]?.status, 'trained')
  assert.ok((await chunksOf(body.id)).length > 0)
})

test('an uploaded file is copied, not shared', async () => {
  client = await service.account()
  const id = await agentOf(client)
  const sourceId = newId()
  const file = `${client.accountId}/${id}/${sourceId}/hours`
  const path = join(service.ctx.filesDir, file)
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, 'We open at nine.')
  await addSource(client, id, { id: sourceId, type: 'file', content: { filename: 'hours.txt', file } })
  const { body } = await clone(client, id)
  assert.equal(body.pendingSteps, undefined)
  const [source] = await sourcesOf(body.id)
  assert.ok(source?.content.file?.startsWith(`${client.accountId}/${body.id}/`), source?.content.file)
  assert.equal(
    await readFile(join(service.ctx.filesDir, source?.content.file ?? ''), 'utf8'),
    'We open at nine.',
  )
})

test('when a file cannot be copied, the clone is left without sources, and the error says what to repeat', async () => {
  client = await service.account()
  const id = await agentOf(client)
  await addSource(client, id)
  await addSource(client, id, { type: 'file', content: { filename: 'x.txt', file: 'nowhere/x.txt' } })
  const { status, body } = await clone(client, id)
  assert.equal(status, 201)
  assert.deepEqual(body.pendingSteps, ['ADD_SOURCE'])
  assert.equal((await read(client, body.id)).status, 'untrained')
  assert.deepEqual(await sourcesOf(body.id), [])
})

test('a failing statement during the copy does not remove the clone', async () => {
  client = await service.account()
  const { db } = service.ctx
  const account = { id: client.accountId, plan: 'unlimited' }
  const id = await agentOf(client)
  await db.updateTable('agents').set({ auto_retrain: true }).where('id', '=', id).execute()
  const copyActions = async () => {}
  const copySources: AgentReactions['copySources'] = async (trx, accountId, _from, to) => {
    await trx
      .insertInto('sources')
      .values({
        id: newId(),
        account_id: accountId,
        agent_id: to,
        type: 'text',
        status: 'trained',
        content: json({}),
      })
      .execute()
    await sql`select 1 / 0`.execute(trx)
  }
  const made = await cloneAgent(db, account, 'key:test', id, { copyActions, copySources })
  assert.match(String(made.failure), /division by zero/)
  const copy = await read(client, made.id)
  assert.deepEqual([copy.name, copy.status, copy.autoRetrain], ['Shop (copy)', 'untrained', false])
  assert.deepEqual(await sourcesOf(made.id), [])
  const audit = await db.selectFrom('audit_log').selectAll().where('target', '=', made.id).execute()
  assert.deepEqual(
    audit.map(({ actor, action }) => [actor, action]),
    [['key:test', 'agent.clone']],
  )
})

test("clones count against the plan, and another account's agent cannot be cloned", async () => {
  const owner = await service.account({ plan: 'standard' })
  const id = await agentOf(owner)
  const stranger = await service.account()
  const foreign = await clone(stranger, id)
  assert.deepEqual([foreign.status, foreign.body.error.code], [404, 'AGENT_NOT_FOUND'])

  const answers = await Promise.all(Array.from({ length: 10 }, () => clone(owner, id)))
  const codes = answers.map(({ status, body }) => (status === 201 ? 'made' : body.error.code))
  assert.equal(codes.filter((code) => code === 'made').length, 4)
  assert.equal(codes.filter((code) => code === 'AGENT_LIMIT_REACHED').length, 6)
  assert.equal((await owner.request('GET', '/agents')).body.pagination.total, 5)
})
