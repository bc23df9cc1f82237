import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'kysely'
import { type ModelServer, startModelServer } from '../../../test/fakes/model-server.ts'
import { type Client, type Service, startService } from '../../../test/start.ts'
import { trained, until } from '../../../test/until.ts'
import { findSpace, vectorsOf } from '../vectors/spaces.ts'

let models: ModelServer
let service: Service
let client: Client
let agentId: string

before(async () => {
  models = await startModelServer()
  service = await startService({ OPENAI_BASE_URL: `${models.url}/v1`, EMBEDDING_MODEL: 'embed' })
  client = await service.account()
  agentId = (await client.request('POST', '/agents', { name: 'Agent' })).body.id
})
after(async () => {
  await service.close()
  await models.close()
})

beforeEach(() => {
  models.embedding.isDown = false
})

async function add(content: string): Promise<string> {
  const { body } = await client.request('POST', `/agents/${agentId}/sources`, {
    type: 'text',
    name: 'T',
    content,
  })
  for (;;) {
    const row = await service.ctx.db
      .selectFrom('sources')
      .select('status')
      .where('id', '=', body.id)
      .executeTakeFirstOrThrow()
    if (row.status === 'trained' || row.status === 'failed') return body.id
    await wait(50)
  }
}

const ask = async (message: string) =>
  (await client.request('POST', `/agents/${agentId}/chat`, { message, stream: false })).body.data

test('chunks are embedded in training and questions in the search', async () => {
  const id = await add('Our lamp has a warranty of eleven years.')
  const { db, models: own } = service.ctx
  const space = await findSpace(db, own.embedder?.space ?? '')
  const { rows } = await sql<{ numbers: number }>`
    select vector_dims(vector) as numbers from ${vectorsOf(space!)} where source_id = ${id}`.execute(db)
  assert.deepEqual([rows, space?.dimensions], [[{ numbers: 64 }], 64])
  const before = models.requests.length
  assert.match((await ask('How many years of warranty has the lamp?')).parts[0].text, /eleven years/)
  assert.deepEqual(models.requests[before]?.body.input, ['How many years of warranty has the lamp?'])
})

test('when the embedding server fails, answers continue, and training is retried until it works', async () => {
  for (let i = 0; i < 4; i++) models.queue.push({ status: 500 })
  assert.match((await ask('What warranty does the lamp have?')).parts[0].text, /eleven years/)
  await wait(50)
  models.queue.length = 0
  // All four tries of the first attempt fail. The job is retried when the server works.
  for (let i = 0; i < 4; i++) models.queue.push({ status: 503 })
  const id = await add('The desk weighs forty kilograms.')
  const { body } = await client.request('GET', `/agents/${agentId}/sources/${id}`)
  assert.deepEqual([body.status, body.error], ['trained', null])
})

const embedded = (): string[] =>
  models.requests.flatMap(({ wire, body }) => (wire === 'embeddings' ? (body.input as string[]) : []))

async function vectorsOfSource(id: string): Promise<number> {
  const space = await findSpace(service.ctx.db, service.ctx.models.embedder?.space ?? '')
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from ${vectorsOf(space!)} where source_id = ${id}`.execute(service.ctx.db)
  return rows[0]?.count ?? 0
}

test('a server that goes away in a training: searches go on by words at once and say so, and nothing is paid twice', async () => {
  await add('Our lamp has a warranty of eleven years.')
  models.requests.length = 0
  const may = Promise.withResolvers<void>()
  models.queue.push({ firstDelayMs: 1 }, { firstDelayMs: 1 }, { after: may.promise })
  const content = Array.from({ length: 60 }, (_, i) => `# Box ${i}\n\nBox ${i} holds ${i} screws.`).join(
    '\n\n',
  )
  const { body } = await client.request('POST', `/agents/${agentId}/sources`, {
    type: 'text',
    name: 'T',
    content,
  })
  await until('the third batch', () => models.requests.length === 3)
  models.embedding.isDown = true
  may.resolve()

  const look = async (question: string) =>
    (await client.request('POST', `/agents/${agentId}/retrieval-test`, { question })).body
  for (const question of ['What warranty does the lamp have?', 'How long is the warranty of the lamp?']) {
    const { passages, vectorProblem, embedding } = await look(question)
    assert.match(passages[0].text, /eleven years/)
    assert.equal(vectorProblem, 'Searched by words: the embedding server did not answer.')
    assert.equal(embedding, null)
  }
  const run = { message: 'How many years of warranty does a lamp have?', stream: false }
  const { id: messageId } = (await client.request('POST', `/agents/${agentId}/playground/runs`, run)).body
    .data
  const made = (await client.request('GET', `/agents/${agentId}/playground/runs/${messageId}`)).body.data
  assert.equal(made.vectorProblem, 'Searched by words: the embedding server did not answer.')
  const asked = embedded().filter((text) => text.includes('?'))
  assert.ok(asked.length <= 6, 'at most two questions are sent, each once more, and none is waited for')

  const stored = await vectorsOfSource(body.id)
  assert.ok(stored > 0 && stored < 60, String(stored))
  models.requests.length = 0
  models.embedding.isDown = false
  await trained(service, body.id)
  assert.equal(await vectorsOfSource(body.id), 60)
  const again = embedded().filter((text) => text.includes('screws'))
  assert.deepEqual([again.length, new Set(again).size], [60 - stored, 60 - stored])
  await until(
    'vectors in the search',
    async () => (await look('Which box has seven screws?')).vectorProblem === null,
  )
})

test('what is embedded is counted by day, agent and kind', async () => {
  models.embedding.tokensPerText = 9
  const id = await add('The chair has four legs.')
  await ask('How many legs does the chair have?')
  models.embedding.tokensPerText = null
  await ask('And what is it made of, please, my dear agent?')
  const run = { message: 'What has four legs in this house?', stream: false }
  const { id: messageId } = (await client.request('POST', `/agents/${agentId}/playground/runs`, run)).body
    .data
  const made = (await client.request('GET', `/agents/${agentId}/playground/runs/${messageId}`)).body.data
  assert.deepEqual(made.embedding, { model: 'embed', texts: 1, tokens: 10, estimated: 10, dollars: null })
  assert.equal(await vectorsOfSource(id), 1)
  const { passages, questions } = await until('the counts', async () => {
    const { embeddings } = (await client.request('GET', '/usage')).body
    const of = (wanted: string) => embeddings.find(({ kind }: { kind: string }) => kind === wanted)
    const found = { passages: of('passages'), questions: of('questions') }
    const told = [found.passages, found.questions].every((one) => one?.tokens >= one?.estimated + 9)
    return told && found.passages.texts >= 64 && found.questions.estimated > 9 && found
  })
  assert.deepEqual(
    [passages.agentId, passages.agentName, passages.model, passages.dollars],
    [agentId, 'Agent', 'embed', null],
  )
  assert.equal(questions.dollars, null)
})
