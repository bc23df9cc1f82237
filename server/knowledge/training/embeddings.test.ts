import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'kysely'
import { type ModelServer, startModelServer } from '../../../test/fakes/model-server.ts'
import { type Client, type Service, startService } from '../../../test/start.ts'
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
