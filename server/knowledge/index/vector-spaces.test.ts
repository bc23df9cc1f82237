import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { type ModelServer, startModelServer } from '../../../test/fakes/model-server.ts'
import { type Client, type Service, startService } from '../../../test/start.ts'
import { trained, until } from '../../../test/until.ts'
import { takeVectorLease } from '../../agents/records/knowledge-state.ts'
import { createModels, type Models } from '../../models/models.ts'
import { prefixesOf } from '../../models/vectors/embedding-prefixes.ts'
import { createKnowledge } from './knowledge.ts'
import { moveVectors } from './move-vectors.ts'

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
  agentId = (await client.request('POST', '/agents', { name: 'Agent' })).body.id
  server.queue.length = 0
  server.requests.length = 0
})

const nameOf = (i: number): string => `lamp${String.fromCharCode(97 + (i % 26), 97 + Math.floor(i / 26))}`
/** Each text becomes one chunk. */
const sections = (count: number): string =>
  Array.from({ length: count }, (_, i) => `# ${nameOf(i)}\n\nThe ${nameOf(i)} weighs ${i} kilograms.`).join(
    '\n\n',
  )

async function add(content: string): Promise<string> {
  const source = { type: 'text', name: 'Text', content }
  const { body } = await client.request('POST', `/agents/${agentId}/sources`, source)
  await trained(service, body.id)
  return body.id
}

/** The texts that were sent to be embedded, by their model. */
const embedded = (model: string): string[] =>
  server.requests
    .filter(({ wire, body }) => wire === 'embeddings' && body.model === model)
    .flatMap(({ body }) => body.input)

const agentRow = (id = agentId) =>
  service.ctx.db.selectFrom('agents').selectAll().where('id', '=', id).executeTakeFirstOrThrow()

async function spacesOf(id = agentId): Promise<Record<string, number>> {
  const rows = await service.ctx.db
    .selectFrom('chunk_vectors')
    .select((eb) => ['space', eb.fn.countAll<number>().as('count')])
    .where('agent_id', '=', id)
    .groupBy('space')
    .execute()
  return Object.fromEntries(rows.map(({ space, count }) => [space.split('@')[0], count]))
}

/** The embedder of a process with another embedding model. */
function withModel(name: string | null): { models: Models; knowledge: ReturnType<typeof createKnowledge> } {
  const embedding =
    name === null
      ? null
      : { name, baseUrl: `${server.url}/v1`, apiKey: null, dimensions: null, prefixes: prefixesOf(name) }
  const catalogue = { entries: [], auto: '', embedding, formerEmbedding: null }
  const models = createModels({ catalogue, builtin: {} as never })
  const { db, words, log } = service.ctx
  return { models, knowledge: createKnowledge({ db, words, embedderOf: models.embedderOf, log }) }
}

async function move(models: Models): Promise<void> {
  const payload = { agentId, space: models.embedder?.space ?? null }
  await moveVectors({ ...service.ctx, models }, payload, { signal: new AbortController().signal })
}

async function passages(
  knowledge: ReturnType<typeof createKnowledge>,
  question: string,
  id = agentId,
): Promise<string> {
  const { account_id, knowledge_version } = await agentRow(id)
  const agent = { id, accountId: account_id, knowledgeVersion: knowledge_version }
  const found = await knowledge.search(agent, question, { limit: 3 })
  return found.passages.map(({ text }) => text).join('\n')
}

test('a new model builds its space beside the old one, continues after a failure, and replaces it when complete', async () => {
  await add(sections(40))
  const texts = embedded('old').length
  assert.equal(texts, 40)
  const { models, knowledge } = withModel('new')

  // The first batch succeeds; all attempts at the second one fail.
  server.queue.push({ firstDelayMs: 1 })
  for (let i = 0; i < 4; i++) server.queue.push({ status: 503, retryAfter: 0 })
  await assert.rejects(move(models))
  assert.deepEqual(await spacesOf(), { old: 40, new: 32 })
  assert.match(await passages(knowledge, 'What does the lampha weigh?'), /lampha weighs/)
  assert.equal(embedded('old').at(-1), 'What does the lampha weigh?')

  server.queue.length = 0
  const before = embedded('new')
  await move(models)
  assert.deepEqual(await spacesOf(), { new: 40 })
  const after = embedded('new').slice(before.length)
  assert.deepEqual(
    after.filter((text) => before.slice(0, 32).includes(text)),
    [],
    'nothing that was stored is embedded again',
  )
  assert.equal(after.length, 8)
  assert.equal((await agentRow()).vector_space, models.embedder?.space)

  // The index reads the new vectors in the background; questions are then embedded by the new model.
  let question = ''
  await until('the new vectors', async () => {
    question = `What weighs the lampja? ${question.length}`
    assert.match(await passages(knowledge, question), /lampja weighs/)
    return embedded('new').at(-1) === question
  })
  await models.close()
})

test('chunks added while a space is built have vectors in both', async () => {
  await add('The lamp has a warranty of eleven years.')
  const { models } = withModel('new')
  const { db } = service.ctx
  await db
    .updateTable('agents')
    .set({ vector_space: models.embedder?.space })
    .where('id', '=', agentId)
    .execute()
  await db.deleteFrom('chunk_vectors').where('agent_id', '=', agentId).execute()
  // The service's own model is "old", while this agent still uses the space of "new".
  await add('The desk weighs forty kilograms.')
  assert.deepEqual(await spacesOf(), { old: 1, new: 1 })
  assert.equal((await agentRow()).vector_space, models.embedder?.space)
  await models.close()
})

test('when embeddings are disabled, the vectors are deleted and words are used', async () => {
  await add('The lamp has a warranty of eleven years.')
  const { models, knowledge } = withModel(null)
  await move(models)
  assert.deepEqual([await spacesOf(), (await agentRow()).vector_space], [{}, null])
  const before = server.requests.length
  assert.match(await passages(knowledge, 'How long is the warranty?'), /eleven years/)
  assert.equal(server.requests.length, before)
})

test('a job of another configuration does nothing, and two jobs do not work on one agent', async () => {
  await add('The lamp has a warranty of eleven years.')
  const { models } = withModel('new')
  const payload = { agentId, space: 'elsewhere@00000000' }
  await moveVectors({ ...service.ctx, models }, payload, { signal: new AbortController().signal })
  assert.deepEqual(await spacesOf(), { old: 1 })
  const agent = { id: agentId, account_id: client.accountId }
  assert.ok(await takeVectorLease(service.ctx.db, agent))
  await assert.rejects(move(models), /Another process/)
  assert.deepEqual(embedded('new'), [])
  await models.close()
})

test('after an interrupted training or a changed text, only new chunks are embedded', async () => {
  const source = { type: 'text', name: 'Text', content: sections(40) }
  // The first batch succeeds, the second is refused four times.
  server.queue.push({ firstDelayMs: 1 })
  for (let i = 0; i < 4; i++) server.queue.push({ status: 503, retryAfter: 0 })
  const { body } = await client.request('POST', `/agents/${agentId}/sources`, source)
  await trained(service, body.id)
  const first = embedded('old')
  assert.equal(first.length, 32 + 8 * 5)
  assert.equal(new Set(first).size, 40)

  const changed = source.content.replace('weighs 7 kilo', 'weighs 77 kilo')
  await client.request('PUT', `/agents/${agentId}/sources/${body.id}`, { content: changed })
  await trained(service, body.id)
  assert.match(embedded('old').slice(first.length).join(), /^lampha\nThe lampha weighs 77 kilograms\.$/)
  assert.deepEqual(await spacesOf(), { old: 40 })
})

test('a clone uses copied vectors without training or embedding calls', async () => {
  await add('The lamp has a warranty of eleven years.')
  const { knowledge } = service.ctx
  const before = embedded('old').length
  const { body } = await client.request('POST', `/agents/${agentId}/clone`)
  assert.deepEqual(await spacesOf(body.id), { old: 1 })
  assert.equal((await agentRow(body.id)).vector_space, (await agentRow()).vector_space)
  assert.match(await passages(knowledge, 'How long is the warranty?', body.id), /eleven years/)
  assert.deepEqual(embedded('old').slice(before), ['How long is the warranty?'])
})
