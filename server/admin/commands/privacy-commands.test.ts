import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type Client, type Service, startService } from '../../../test/start.ts'
import { stopGeneration } from '../../conversations/turn/generations.ts'
import type { Operations, Result } from '../command.ts'
import { commands } from '../commands.ts'

const never = (): never => {
  throw new Error('Not asked here.')
}

let service: Service
let client: Client
let agentId: string
let folder: string

before(async () => {
  service = await startService()
  client = await service.account()
  agentId = (await client.request('POST', '/agents', { name: 'Agent' })).body.id
  folder = await mkdtemp(join(tmpdir(), 'parley-privacy-'))
})
after(async () => {
  await service.close()
  await rm(folder, { recursive: true })
})

function run(name: string, values: Record<string, string>, ...positionals: string[]): Promise<Result> {
  const { ctx } = service
  const operations: Operations = {
    db: ctx.db,
    isServed: async () => false,
    embedded: false,
    dataDir: 'unused',
    filesDir: ctx.filesDir,
    secrets: { rotate: never, finish: never },
    setMaintenance: ctx.maintenance.set,
    resume: async () => {},
    openKnowledge: () => ctx.knowledge,
    openModels: () => assert.fail('Not asked here.'),
    origin: 'https://parley.example',
    erasing: { jobs: ctx.jobs, stop: (account, id) => stopGeneration(ctx, account, id) },
  }
  const command = commands.find((one) => one.name === name)
  assert.ok(command)
  return command.run(operations, { values, positionals })
}

test('a user is exported to a file, then erased; both are in the audit log without the name', async () => {
  const account = client.accountId
  for (const userId of ['ann', 'ann', 'bob'])
    await client.request('POST', `/agents/${agentId}/chat`, {
      message: `I am ${userId}`,
      userId,
      stream: false,
    })
  const file = join(folder, 'ann.ndjson')
  const exported = await run('user export', { account, 'user-id': 'ann' }, file)
  assert.deepEqual([exported.conversations, exported.messages], [2, 4])
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n')
  assert.deepEqual(
    lines.map((line) => JSON.parse(line).type),
    ['user', 'conversation', 'conversation', 'end'],
  )
  const { erasure, ...counts } = await run('user erase', { account, 'user-id': 'ann' })
  assert.deepEqual(counts, { contacts: 0, conversations: 2, messages: 4, leads: 0, tickets: 0 })
  assert.equal((await client.request('GET', `/users/erasures/${erasure}`)).body.data.status, 'finished')
  const list = await client.request('GET', `/agents/${agentId}/conversations`)
  assert.deepEqual(
    list.body.data.map(({ userId }: { userId: string }) => userId),
    ['bob'],
  )
  const rows = await service.ctx.db
    .selectFrom('audit_log')
    .select(['actor', 'action', 'target'])
    .where('action', 'like', 'user.%')
    .orderBy('id')
    .execute()
  assert.deepEqual(rows, [
    { actor: 'operator', action: 'user.export', target: null },
    { actor: 'operator', action: 'user.erase', target: erasure },
  ])
})

test('the retention of an agent is shown and set', async () => {
  const agent = agentId
  assert.deepEqual(await run('retention show', { agent }), { retentionDays: null })
  assert.deepEqual(await run('retention set', { agent, days: '90' }), { retentionDays: 90 })
  assert.deepEqual(await run('retention show', { agent }), { retentionDays: 90 })
  assert.deepEqual(await run('retention set', { agent, days: 'off' }), { retentionDays: null })
})

test('invalid arguments are reported and change nothing', async () => {
  const account = client.accountId
  for (const days of ['0', '3651', '1.5', 'many'])
    await assert.rejects(run('retention set', { agent: agentId, days }), { exitCode: 64 })
  await assert.rejects(run('retention set', { agent: 'x', days: '1' }), /There is no agent x/)
  const twice: Record<string, string> = { 'user-id': 'bob', email: 'b@example.com' }
  for (const name of [{}, twice])
    await assert.rejects(run('user erase', { account, ...name }), /Give exactly one of/)
  await assert.rejects(run('user erase', { account: 'x', 'user-id': 'bob' }), /There is no account x/)
  await assert.rejects(run('user erase', { account, 'contact-id': 'x' }), /The contact does not exist/)
  const file = join(folder, 'no', 'folder', 'file')
  await assert.rejects(run('user export', { account, 'user-id': 'bob' }, file), /cannot be written/)
  assert.deepEqual(await run('retention show', { agent: agentId }), { retentionDays: null })
})

test('security-relevant changes are in the audit log with their fields and without their secrets', async () => {
  const account = client.accountId
  const other = (await client.request('POST', '/agents', { name: 'Other' })).body.id
  const key = (await client.request('GET', '/me')).body.key.id
  const change = { visibility: 'public', allowedDomains: ['a.example'], instructions: 'A secret plan.' }
  assert.equal((await client.request('PUT', `/agents/${other}`, change)).status, 200)
  const refused = await client.request('PUT', `/agents/${other}`, { ...change, model: 'no such model' })
  assert.equal(refused.status, 400)
  const unknown = await client.request('PUT', `/agents/${'x'.repeat(21)}`, change)
  assert.equal(unknown.status, 404)
  const token = { accessToken: 'the-token' }
  const pages = `/agents/${other}/pages/connection`
  const connected = await client.request('PUT', pages, token)
  const source = { type: 'text', name: 'x', content: 'x' }
  const sent = { 'idempotency-key': 'audited' }
  for (let i = 0; i < 2; i++) await client.request('POST', `/agents/${other}/sources`, source, sent)
  const { entries } = (await run('audit', { account, limit: '100' })) as {
    entries: { actor: string; action: string; target: string; detail: object | null }[]
  }
  const mine = entries.filter(({ target }) => target?.startsWith(other)).reverse()
  assert.deepEqual(
    mine
      .filter(({ action }) => action !== 'agent.create')
      .map(({ actor, action, detail }) => [actor, action, detail]),
    [
      [
        `key:${key}`,
        'agent.update',
        {
          fields: ['visibility', 'allowedDomains', 'instructions'],
          visibility: 'public',
          allowedDomains: ['a.example'],
        },
      ],
      ...(connected.status < 300 ? [[`key:${key}`, 'connection.put', { fields: ['accessToken'] }]] : []),
      [`key:${key}`, 'source.create', { fields: ['type', 'name', 'content'] }],
    ],
  )
  assert.ok(!entries.some(({ target }) => target === 'x'.repeat(21)))
  assert.ok(!JSON.stringify(entries).includes('the-token'))
})
