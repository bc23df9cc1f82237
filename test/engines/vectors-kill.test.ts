import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { type ModelServer, startModelServer } from '../fakes/model-server.ts'
import { NEVER } from '../fakes/reply.ts'
import { newKey } from '../new-key.ts'
import { type Home, newHome, type Running, spawnService } from '../spawn-service.ts'
import { clientOf } from '../start.ts'

let home: Home
let server: ModelServer

before(async () => {
  home = await newHome()
  server = await startModelServer()
})
after(async () => {
  await server.close()
  await home.remove()
})

const SECTIONS = 80
const content = Array.from(
  { length: SECTIONS },
  (_, i) => `# Lamp ${i}\n\nThis one weighs ${i} kilograms.`,
).join('\n\n')

const start = (model: string): Promise<Running> =>
  spawnService({ ...home.env, OPENAI_BASE_URL: `${server.url}/v1`, EMBEDDING_MODEL: model })
const embedded = (model: string): string[] =>
  server.requests.filter(({ body }) => body.model === model).flatMap(({ body }) => body.input)

test('building vectors for a new model continues after a kill', async () => {
  const key = await newKey(home)
  let running = await start('old')
  let client = clientOf(running.url, key)
  const agentId = (await client.request('POST', '/agents', { name: 'Agent' })).body.id
  const source = { type: 'text', name: 'Lamps', content }
  const { id } = (await client.request('POST', `/agents/${agentId}/sources`, source)).body
  while ((await client.request('GET', `/agents/${agentId}/sources/${id}`)).body.status !== 'trained')
    await wait(250)
  await running.kill('SIGTERM')
  assert.equal(embedded('old').length, SECTIONS)

  // The process is killed while it waits for a batch in the middle.
  server.queue.push(...Array.from({ length: 6 }, () => ({ firstDelayMs: 1 })), { after: NEVER })
  running = await start('new')
  while (server.queue.length > 0) await wait(20)
  const lost = server.requests.at(-1)?.body.input.length
  await running.kill('SIGKILL')

  running = await start('new')
  client = clientOf(running.url, key)
  const ask = async (message: string) =>
    (await client.request('POST', `/agents/${agentId}/chat`, { message, stream: false })).status
  for (let question = 0; !embedded('new').includes(`How heavy is lamp ${question}?`); ) {
    question++
    assert.equal(await ask(`How heavy is lamp ${question}?`), 200)
    await wait(200)
  }
  const chunks = embedded('new').filter((text) => text.startsWith('Lamp '))
  assert.equal(new Set(chunks).size, SECTIONS)
  // Only the batch that was in progress is sent again.
  assert.equal(chunks.length, SECTIONS + lost)
  await running.kill('SIGTERM')
})
