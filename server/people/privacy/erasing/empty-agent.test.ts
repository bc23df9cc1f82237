import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { type ModelServer, startModelServer } from '../../../../test/fakes/model-server.ts'
import { NEVER } from '../../../../test/fakes/reply.ts'
import { liveFully, makeWorld } from '../../../../test/full-life.ts'
import { type Service, startService } from '../../../../test/start.ts'
import { until } from '../../../../test/until.ts'
import { creditsUsed, monthOf } from '../../../accounts/plans/credits.ts'
import { reconcile, releaseForgotten } from '../../../conversations/records/reconcile-credits.ts'
import { newId } from '../../../platform/db/ids.ts'
import { transact } from '../../../platform/db/statements/transact.ts'
import { resumeEmptying, tablesOfAgents } from './empty-agent.ts'

let models: ModelServer
let service: Service

before(async () => {
  models = await startModelServer()
  service = await startService(models.settings)
})
after(async () => {
  await models.close()
  assert.deepEqual(await reconcile(service.ctx.db), { balanced: true, difference: 0 })
  await service.close()
})

/** Returns how many rows of each table refer to the agent. */
async function rowsOf({ ctx }: Service, agentId: string): Promise<Record<string, number>> {
  const { rows: tables } = await sql<{ name: string }>`
    select table_name as name from information_schema.tables
    where table_type = 'BASE TABLE' and table_schema = 'public'`.execute(ctx.db)
  const counts: Record<string, number> = {}
  for (const { name } of tables) {
    const { rows } = await sql<{ n: number }>`
      select count(*) as n from ${sql.table(name)} as t where t::text like ${`%${agentId}%`}`.execute(ctx.db)
    if (Number(rows[0]?.n) > 0) counts[name] = Number(rows[0]?.n)
  }
  return counts
}

/** Returns the same without tables that are counted, folded and computed in the background. */
async function lasting(agentId: string): Promise<Record<string, number>> {
  const { insights_queue, insight_days, conversation_counts, model_side_usage, jobs, ...others } =
    await rowsOf(service, agentId)
  assert.ok((conversation_counts ?? 0) > 0)
  return others
}

const emptied = ({ ctx }: Service, agentId: string) =>
  until('the end of the emptying', async () => {
    const row = await ctx.db.selectFrom('agent_ids').select('id').where('id', '=', agentId).executeTakeFirst()
    return row === undefined
  })

/** Adds chunks as a large source has them. */
const addChunks = ({ ctx }: Service, accountId: string, agentId: string, count: number) =>
  sql`
    with source as (
      insert into sources (id, account_id, agent_id, type, name, status, live_version, content)
      values (${newId()}, ${accountId}, ${agentId}, 'text', 'Large', 'trained', 1, '{"text": "x"}') returning id)
    insert into chunks (id, account_id, agent_id, source_id, version, ordinal, heading_path, text, vector_key)
    select gen_random_uuid(), ${accountId}, ${agentId}, source.id, 1, n, '[]', 'x', 'x'
    from source, generate_series(1, ${count}::int) as n`.execute(ctx.db)

test("every table with rows of an agent is emptied, and none by the agent's own row", async () => {
  const { rows: columns } = await sql<{ name: string }>`
    select table_name as name from information_schema.columns
    where table_schema = 'public' and column_name = 'agent_id'
      and not (select relispartition from pg_class where oid = table_name::regclass)`.execute(service.ctx.db)
  // The rows of chunk_words are deleted with their chunks.
  const costs = ['credit_entries', 'embedding_usage', 'model_usage', 'model_side_usage']
  const outlive = [...costs, 'insights_queue', 'chunk_words']
  assert.deepEqual(
    columns
      .map(({ name }) => name)
      .filter((name) => !outlive.includes(name))
      .sort(),
    [...tablesOfAgents].sort(),
  )
  const { rows } = await sql`
    select conrelid::regclass::text from pg_constraint where confrelid = 'agents'::regclass`.execute(
    service.ctx.db,
  )
  assert.deepEqual(rows, [])
})

test('nothing of a deleted agent remains except its costs, and other agents are unaffected', async () => {
  const world = await makeWorld(service, models)
  const stranger = await makeWorld(service, models)
  await liveFully(world)
  await liveFully(stranger)
  await until('the end of the training', async () => {
    const { rows } = await sql`select from sources where status = 'trained'`.execute(service.ctx.db)
    return rows.length === 4
  })
  const before = await lasting(stranger.agentId)
  assert.ok(Object.keys(before).length > 15)
  const spoken = await service.ctx.db
    .selectFrom('generations')
    .select('id')
    .where('agent_id', '=', world.agentId)
    .execute()
  assert.ok(spoken.length > 0)
  assert.equal((await world.client.request('DELETE', `/agents/${world.agentId}`)).status, 200)
  await emptied(service, world.agentId)
  const left = await until('the last of the queue', async () => {
    const rows = await rowsOf(service, world.agentId)
    return rows.insights_queue === undefined && rows.jobs === undefined && rows
  })
  // What was asked beside answers is counted some seconds later.
  const kept = Object.keys(left).filter((name) => name !== 'model_side_usage')
  assert.deepEqual(kept.sort(), ['audit_log', 'credit_entries', 'credit_usage', 'model_usage'])
  const { rows: said } = await sql`
    select from generation_log where generation_id = any(${spoken.map(({ id }) => id)}::uuid[])`.execute(
    service.ctx.db,
  )
  assert.equal(said.length, 0)
  assert.deepEqual(await lasting(stranger.agentId), before)
})

test('an agent deleted during an answer disappears at once, its reply ends, and its place is released', async (t) => {
  const idle = await startService(
    { OPENAI_BASE_URL: `${models.url}/v1`, OPENAI_API_KEY: 'k', OPENAI_MODEL: 'fake' },
    undefined,
    { idle: true },
  )
  t.after(() => idle.close())
  const client = await idle.account({ plan: 'standard' })
  const create = (name: string) => client.request('POST', '/agents', { name })
  const [busy] = await Promise.all(
    ['a', 'b', 'c', 'd', 'e'].map(async (name) => (await create(name)).body.id),
  )
  assert.equal((await create('f')).body.error.code, 'AGENT_LIMIT_REACHED')
  await addChunks(idle, client.accountId, busy, 10_000)
  models.queue.push({ tokens: ['It ', 'never ends'], beforeToken: async (i) => i === 1 && NEVER })
  const response = await client.raw('POST', `/agents/${busy}/chat`, {
    body: JSON.stringify({ message: 'Go on' }),
    headers: { 'content-type': 'application/json' },
  })
  const reader = response.body!.getReader()
  await reader.read()

  assert.equal((await client.request('DELETE', `/agents/${busy}`)).status, 200)
  // Nothing has been deleted yet, because this service runs no jobs.
  assert.equal((await client.request('GET', `/agents/${busy}`)).body.error.code, 'AGENT_NOT_FOUND')
  const list = (await client.request('GET', '/agents')).body
  assert.deepEqual(
    [list.pagination.total, list.data.some(({ id }: { id: string }) => id === busy)],
    [4, false],
  )
  assert.equal((await create('f')).status, 201)

  await idle.work()
  while (!(await reader.read()).done) {}
  await emptied(idle, busy)
  const { rows } = await sql`select from chunks where agent_id = ${busy} limit 1`.execute(idle.ctx.db)
  assert.equal(rows.length, 0)
  assert.deepEqual(await reconcile(idle.ctx.db), { balanced: true, difference: 0 })
})

test('an agent that a killed process was emptying is emptied by the next one', async () => {
  const client = await service.account()
  const { id } = (await client.request('POST', '/agents', { name: 'Agent' })).body
  await addChunks(service, client.accountId, id, 1_000)
  // Simulates a process that ended after some of the pieces, together with its job.
  await service.ctx.db.deleteFrom('agents').where('id', '=', id).execute()
  await sql`delete from chunks where agent_id = ${id} and ordinal < 400`.execute(service.ctx.db)
  await transact(service.ctx.db, async (db) => {
    for (const _ of [1, 2]) await resumeEmptying({ db, jobs: service.ctx.jobs })
    const jobs = sql`select from jobs where task = 'empty-agent' and payload ->> 'agentId' = ${id}`
    assert.equal((await jobs.execute(db)).rows.length, 1)
  })
  await emptied(service, id)
  assert.deepEqual(Object.keys(await rowsOf(service, id)), ['audit_log'])
})

test('credits reserved for a reply that was deleted with its dead process are released', async () => {
  const { db } = service.ctx
  const { accountId } = await service.account()
  const month = monthOf(new Date())
  const entry = {
    id: newId(),
    account_id: accountId,
    agent_id: 'gone',
    generation_id: newId(),
    month,
    amount: 3,
  }
  await db
    .insertInto('credit_entries')
    .values({ ...entry, kind: 'usage', state: 'reserved' })
    .execute()
  for (const owner_id of ['gone', accountId])
    await db
      .insertInto('credit_usage')
      .values({ account_id: accountId, owner_id, month, slot: 0, used: 3 })
      .execute()
  assert.equal(await creditsUsed(db, accountId, accountId), 3)
  assert.equal((await reconcile(db)).balanced, false)
  assert.equal(await releaseForgotten(db), 1)
  assert.equal(await creditsUsed(db, accountId, accountId), 0)
  assert.equal((await reconcile(db)).balanced, true)
  assert.equal(await releaseForgotten(db), 0)
})
