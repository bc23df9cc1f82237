import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import { type ModelServer, startModelServer } from '../../../test/fakes/model-server.ts'
import { type Client, type Service, startService } from '../../../test/start.ts'
import { trained, until } from '../../../test/until.ts'
import { takeVectorLease } from '../../agents/records/knowledge-state.ts'
import { prefixesOf } from '../../ai/embeddings/embedding-prefixes.ts'
import { createModels, type Models } from '../../ai/models.ts'
import { nearestChunks } from '../search/knowledge.ts'
import { enqueueFilling, fillProgress, fillSpace, tendSpaces } from './fill-space.ts'
import { dropUnusedSpaces, ensureSpace, findSpace, listSpaces, nearFrom, vectorsOf } from './spaces.ts'
import { moveFormerVectors } from './vectors.ts'

let server: ModelServer
let service: Service
let client: Client
let agentId: string

before(async () => {
  server = await startModelServer()
  service = await startService({ OPENAI_BASE_URL: `${server.url}/v1`, EMBEDDING_MODEL: 'old' })
  client = await service.account()
})
after(async () => {
  await service.close()
  await server.close()
})
beforeEach(async () => {
  agentId = await newAgent()
  server.queue.length = 0
  server.requests.length = 0
})

const newAgent = async (as = client): Promise<string> =>
  (await as.request('POST', '/agents', { name: 'Agent' })).body.id

const nameOf = (i: number): string => `lamp${String.fromCharCode(97 + (i % 26), 97 + Math.floor(i / 26))}`
/** Each text becomes one chunk. */
const sections = (count: number): string =>
  Array.from({ length: count }, (_, i) => `# ${nameOf(i)}\n\nThe ${nameOf(i)} weighs ${i} kilograms.`).join(
    '\n\n',
  )

async function add(content: string, { id = agentId, as = client, to = service } = {}): Promise<string> {
  const source = { type: 'text', name: 'Text', content }
  const { body } = await as.request('POST', `/agents/${id}/sources`, source)
  await trained(to, body.id)
  return body.id
}

/** The texts that were sent to be embedded, by their model. */
const embedded = (model: string): string[] =>
  server.requests
    .filter(({ wire, body }) => wire === 'embeddings' && body.model === model)
    .flatMap(({ body }) => body.input)

const agentRow = (id = agentId, { ctx } = service) =>
  ctx.db.selectFrom('agents').selectAll().where('id', '=', id).executeTakeFirstOrThrow()

/** The number of an agent's vectors in each space. */
async function spacesOf(id = agentId, { ctx } = service): Promise<Record<string, number>> {
  const counts: [string, number][] = []
  for (const space of await listSpaces(ctx.db)) {
    const { rows } = await sql<{ count: number }>`
      select count(*)::int as count from ${vectorsOf(space)} where agent_id = ${id}`.execute(ctx.db)
    counts.push([space.name.split('@')[0] ?? '', rows[0]?.count ?? 0])
  }
  return Object.fromEntries(counts.filter(([, count]) => count > 0))
}

/** The models of a process with another embedding model. */
function withModel(name: string | null): Models {
  const embedding =
    name === null
      ? null
      : { name, baseUrl: `${server.url}/v1`, apiKey: null, dimensions: null, prefixes: prefixesOf(name) }
  const catalogue = { entries: [], auto: '', embedding, formerEmbedding: null }
  return createModels({ catalogue, builtin: {} as never })
}

async function fill(models: Models, signal = new AbortController().signal): Promise<void> {
  await fillSpace({ ...service.ctx, models }, { agentId, space: models.embedder?.space ?? null }, { signal })
}

async function nearest(
  query: string,
  {
    id = agentId,
    as = client,
    models = service.ctx.models,
    limit = 3,
    sourceIds = undefined as string[] | undefined,
    version = undefined as string[] | undefined,
  } = {},
): Promise<string[]> {
  const asked = { account: as.accountId, agentId: id, queries: [query], limit, sourceIds, version }
  const { near, problem } = await nearestChunks({ ...service.ctx, models }, asked)
  assert.equal(problem, null)
  const [found = []] = near
  const texts: string[] = []
  for (const { chunkId } of found) {
    const chunk = await service.ctx.db
      .selectFrom('chunks')
      .select('text')
      .where('id', '=', chunkId)
      .executeTakeFirst()
    texts.push(chunk?.text ?? '')
  }
  return texts
}

test('the nearest live chunks come first, and only those of the agent, its sources and its account', async () => {
  const lamp = await add('The lamp has a warranty of eleven years.')
  const desk = await add('The desk weighs forty kilograms.')
  const other = await service.account()
  const foreign = await newAgent(other)
  await add('The lamp has a warranty of eleven years.', { id: foreign, as: other })

  assert.deepEqual(await nearest('The lamp has a warranty of eleven years.'), [
    'The lamp has a warranty of eleven years.',
    'The desk weighs forty kilograms.',
  ])
  assert.equal((await nearest('lamp', { sourceIds: [desk] })).join(), 'The desk weighs forty kilograms.')
  assert.deepEqual(await nearest('lamp', { id: foreign }), [], 'the account of another agent finds nothing')
  assert.equal((await nearest('lamp', { limit: 1 })).length, 1)

  await client.request('PUT', `/agents/${agentId}/sources/${lamp}`, { content: 'The lamp is blue.' })
  await trained(service, lamp)
  assert.deepEqual((await nearest('warranty')).sort(), [
    'The desk weighs forty kilograms.',
    'The lamp is blue.',
  ])
  await client.request('DELETE', `/agents/${agentId}/sources/${lamp}`)
  assert.deepEqual(await nearest('lamp'), ['The desk weighs forty kilograms.'])
  await until('the vectors of the deleted source', async () => (await spacesOf()).old === 1)
  assert.deepEqual(await spacesOf(foreign), { old: 1 })

  await client.request('DELETE', `/agents/${agentId}`)
  await until('the vectors of the deleted agent', async () => (await spacesOf()).old === undefined)
})

test('a source that only a draft has is near to its questions alone', async () => {
  const lamp = await add('The lamp has a warranty of eleven years.')
  const source = { type: 'text', name: 'Desk', content: 'The desk weighs forty kilograms.' }
  const { id: desk } = (await client.request('POST', `/agents/${agentId}/draft/sources`, { source })).body
  await trained(service, desk)
  assert.deepEqual(await nearest('desk'), ['The lamp has a warranty of eleven years.'])
  assert.deepEqual(await nearest('desk', { version: [desk] }), ['The desk weighs forty kilograms.'])
  assert.equal((await nearest('desk', { version: [desk, lamp] })).length, 2)
  assert.deepEqual(await nearest('desk', { sourceIds: [desk] }), [])
})

test('what is not live does not take the place of what is', async () => {
  const id = await add(sections(40))
  const { db } = service.ctx
  await sql`update chunks set retired_in = 1 where source_id = ${id} and ordinal > 0`.execute(db)
  assert.equal(
    (await nearest('The lampda weighs 3 kilograms.', { limit: 2 })).join(),
    'The lampaa weighs 0 kilograms.',
  )
})

test('a new model fills its space beside the old one, continues after a kill, and replaces it when complete', async () => {
  await add(sections(40))
  assert.equal(embedded('old').length, 40)
  const models = withModel('new')

  // The first batches succeed: 1, 2, 4, 8 and 16 texts. Then the process is killed: nobody releases its lease.
  for (let i = 0; i < 5; i++) server.queue.push({ firstDelayMs: 1 })
  for (let i = 0; i < 4; i++) server.queue.push({ status: 503, retryAfter: 0 })
  await assert.rejects(fill(models))
  assert.deepEqual(await spacesOf(), { old: 40, new: 31 })
  const space = models.embedder?.space ?? ''
  const agent = { id: agentId, account_id: client.accountId }
  assert.deepEqual(
    await fillProgress(service.ctx.db, space, agent).then(({ chunks, left }) => [chunks, left]),
    [40, 9],
  )
  // Questions continue in the old space meanwhile.
  assert.match((await nearest('The lampha weighs 7 kilograms.', { models }))[0] ?? '', /lampha weighs/)
  assert.equal(embedded('old').at(-1), 'The lampha weighs 7 kilograms.')

  server.queue.length = 0
  const before = embedded('new')
  await fill(models)
  assert.deepEqual(await spacesOf(), { old: 40, new: 40 })
  const after = embedded('new').slice(before.length)
  assert.deepEqual(
    after.filter((text) => before.slice(0, 31).includes(text)),
    [],
    'nothing that was stored is embedded again',
  )
  assert.equal(after.length, 9)
  assert.equal((await agentRow()).vector_space, space)
  assert.ok(((await nearFrom(service.ctx, space)) ?? 0) > 0, 'the space has been sampled')
  assert.match((await nearest('lampja', { models }))[0] ?? '', /lamp/)
  assert.equal(embedded('new').at(-1), 'lampja')
  await models.close()
})

test('questions are answered in one space or the other while an agent is switched', async () => {
  await add(sections(30))
  const models = withModel('newer')
  server.embedding.msPerText = 5
  let isFilling = true
  const filling = fill(models).finally(() => {
    isFilling = false
  })
  let asked = 0
  while (isFilling) {
    const found = await nearest(`What does the lampha weigh? ${asked++}`, { models })
    assert.ok(found.length > 0)
  }
  server.embedding.msPerText = 0
  await filling
  assert.ok(asked > 2, String(asked))
  assert.equal((await agentRow()).vector_space, models.embedder?.space)
  await models.close()
})

test('an operator stops the filling, and it goes on when the stop is lifted', async () => {
  await add(sections(3))
  const models = withModel('stopped')
  const { db } = service.ctx
  const space = models.embedder?.space ?? ''
  await ensureSpace(db, space, 64)
  await db.updateTable('vector_spaces').set({ stopped: true }).where('name', '=', space).execute()
  await fill(models)
  await tendSpaces({ ...service.ctx, models })
  assert.deepEqual(embedded('stopped'), [])
  assert.equal((await agentRow()).vector_space, service.ctx.models.embedder?.space)
  await db.updateTable('vector_spaces').set({ stopped: false }).where('name', '=', space).execute()
  await fill(models)
  assert.equal((await agentRow()).vector_space, space)
  await models.close()
})

test('chunks added while a space is filled have vectors in both', async () => {
  await add('The lamp has a warranty of eleven years.')
  const models = withModel('new')
  const { db } = service.ctx
  await fill(models)
  const old = await findSpace(db, service.ctx.models.embedder?.space ?? '')
  await sql`delete from ${vectorsOf(old!)} where agent_id = ${agentId}`.execute(db)
  // The service's own model is "old", while this agent still uses the space of "new".
  await add('The desk weighs forty kilograms.')
  assert.deepEqual(await spacesOf(), { old: 1, new: 2 })
  assert.equal((await agentRow()).vector_space, models.embedder?.space)
  await models.close()
})

test('when embeddings are disabled, words are used, and the space is dropped a day after its last agent has left', async () => {
  const { db } = service.ctx
  const models = withModel('for-a-while')
  const space = models.embedder?.space ?? ''
  await add('The lamp has a warranty of eleven years.')
  await fill(models)
  const none = withModel(null)
  await fill(none)
  assert.equal((await agentRow()).vector_space, null)
  const before = server.requests.length
  assert.deepEqual(await nearest('warranty', { models: none }), [])
  assert.equal(server.requests.length, before)

  await dropUnusedSpaces(db, null)
  assert.ok(await findSpace(db, space))
  await sql`update vector_spaces set unused_since = unused_since - interval '25 hours' where name = ${space}`.execute(
    db,
  )
  await dropUnusedSpaces(db, null)
  assert.equal(await findSpace(db, space), null)
  await Promise.all([models.close(), none.close()])
})

test('a job of another configuration does nothing, and two jobs do not work on one agent', async () => {
  await add('The lamp has a warranty of eleven years.')
  const models = withModel('new')
  const payload = { agentId, space: 'elsewhere@00000000' }
  await fillSpace({ ...service.ctx, models }, payload, { signal: new AbortController().signal })
  assert.deepEqual(await spacesOf(), { old: 1 })
  const agent = { id: agentId, account_id: client.accountId }
  assert.ok(await takeVectorLease(service.ctx.db, agent))
  await assert.rejects(fill(models), /Another process/)
  assert.deepEqual(embedded('new'), [])
  await models.close()
})

test('after an interrupted training or a changed text, only new chunks are embedded', async () => {
  const source = { type: 'text', name: 'Text', content: sections(40) }
  // The first batch succeeds, the next is refused four times.
  server.queue.push({ firstDelayMs: 1 })
  for (let i = 0; i < 4; i++) server.queue.push({ status: 503, retryAfter: 0 })
  const { body } = await client.request('POST', `/agents/${agentId}/sources`, source)
  await trained(service, body.id)
  const first = embedded('old')
  assert.equal(new Set(first).size, 40)
  const stored: string[] = server.requests[0]?.body.input
  assert.deepEqual(
    first.slice(stored.length).filter((text) => stored.includes(text)),
    [],
  )

  const changed = source.content.replace('weighs 7 kilo', 'weighs 77 kilo')
  await client.request('PUT', `/agents/${agentId}/sources/${body.id}`, { content: changed })
  await trained(service, body.id)
  assert.match(embedded('old').slice(first.length).join(), /^lampha\nThe lampha weighs 77 kilograms\.$/)
  await until('the former vector', async () => (await spacesOf()).old === 40)
})

test('a clone uses copied vectors without training or embedding calls', async () => {
  await add('The lamp has a warranty of eleven years.')
  const before = embedded('old').length
  const { body } = await client.request('POST', `/agents/${agentId}/clone`)
  assert.deepEqual(await spacesOf(body.id), { old: 1 })
  assert.equal((await agentRow(body.id)).vector_space, (await agentRow()).vector_space)
  assert.match((await nearest('Which warranty?', { id: body.id })).join(), /eleven years/)
  assert.deepEqual(embedded('old').slice(before), ['Which warranty?'])
})

test('vectors of a former version are moved without embedding calls, and a killed move goes on', async () => {
  await add(sections(450))
  const { db, models } = service.ctx
  const space = await findSpace(db, models.embedder?.space ?? '')
  const move = async (count: number) =>
    sql`
      with former as (select * from ${vectorsOf(space!)} where agent_id = ${agentId} limit ${count}),
      gone as (delete from ${vectorsOf(space!)} as v using former
        where v.agent_id = former.agent_id and v.source_id = former.source_id and v.vector_key = former.vector_key)
      insert into chunk_vectors (source_id, space, vector_key, account_id, agent_id, vector)
      select source_id, ${space?.name}, vector_key, account_id, agent_id, ${BYTES}::bytea from former`.execute(
      db,
    )
  await move(450)
  assert.deepEqual(await spacesOf(), {})
  server.requests.length = 0
  const formerLeft = async () =>
    (await db.selectFrom('chunk_vectors').select('vector_key').where('agent_id', '=', agentId).execute())
      .length
  // The process that moves them is killed after its first transaction.
  const owner = { account_id: client.accountId, agent_id: agentId }
  assert.equal(await moveFormerVectors(db, owner, space?.name ?? '', null), 200)
  assert.deepEqual([await spacesOf(), await formerLeft()], [{ old: 200 }, 250])
  await enqueueFilling(service.ctx, agentId)
  await until('the vectors of the former version', async () => (await formerLeft()) === 0)
  assert.deepEqual(await spacesOf(), { old: 450 })
  assert.deepEqual(server.requests, [])
  assert.equal((await agentRow()).vector_space, space?.name)
})
/** A vector of 64 numbers as a former version stored it: the first is 1. */
const BYTES = Buffer.from(new Float32Array([1, ...new Array(63).fill(0)]).buffer)

test('vectors of too many numbers are refused with a sentence, and so is another size under the same name', async () => {
  const { db } = service.ctx
  await assert.rejects(ensureSpace(db, 'large', 4_001), /4001 numbers, and at most 4000 .* "dimensions"/)
  await ensureSpace(db, 'small', 3)
  await assert.rejects(ensureSpace(db, 'small', 4), /those that are stored have 3/)
  const made = await Promise.all([1, 2, 3].map(() => ensureSpace(db, 'at once', 4_000)))
  assert.equal(new Set(made.map((space) => space?.id)).size, 1)
})

test('without pgvector, words alone are used; vectors are made when it is installed', async () => {
  const bare = await startService({ OPENAI_BASE_URL: `${server.url}/v1`, EMBEDDING_MODEL: 'old' })
  const { db, models } = bare.ctx
  // The role may not create the extension.
  await sql`create function refuse() returns event_trigger language plpgsql as
    $$ begin raise insufficient_privilege; end $$`.execute(db)
  await sql`create event trigger refused on ddl_command_start when tag in ('CREATE EXTENSION')
    execute function refuse()`.execute(db)
  const own = await bare.account()
  const id = await newAgent(own)
  await add(sections(3), { id, as: own, to: bare })
  assert.deepEqual(embedded('old'), [], 'no vectors are paid for that cannot be stored')
  assert.equal((await agentRow(id, bare)).vector_space, null)
  const asked = { account: own.accountId, agentId: id, queries: ['lamp'], limit: 3 }
  assert.deepEqual(await nearestChunks(bare.ctx, asked), { near: [], problem: null, use: null })
  await tendSpaces(bare.ctx)
  assert.deepEqual(await listSpaces(db), [])
  await until(
    'health says it',
    async () => (await own.request('GET', '/health?details=true')).body.search === 'words',
  )
  const { embeddingProblem } = (await own.request('GET', '/models')).body
  assert.match(embeddingProblem, /create extension vector/)

  await sql`drop event trigger refused`.execute(db)
  await sql`create extension vector`.execute(db)
  await tendSpaces(bare.ctx)
  await until('the new space', async () => (await agentRow(id, bare)).vector_space === models.embedder?.space)
  assert.deepEqual(await spacesOf(id, bare), { old: 3 })
  assert.equal((await nearestChunks(bare.ctx, asked)).near[0]?.length, 3)
  await bare.close()
})
