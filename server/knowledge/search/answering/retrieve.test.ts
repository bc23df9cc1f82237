import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { type ModelServer, startModelServer } from '../../../../test/fakes/model-server.ts'
import type { Reply } from '../../../../test/fakes/reply.ts'
import { readStream } from '../../../../test/read-stream.ts'
import { reconcileByHand } from '../../../../test/reconcile-by-hand.ts'
import { type Client, type Service, startService } from '../../../../test/start.ts'
import { trained } from '../../../../test/until.ts'
import { visitorOf } from '../../../../test/visitor.ts'

let folder: string
let models: ModelServer
let service: Service
let client: Client
let agentId: string

before(async () => {
  models = await startModelServer()
  folder = await mkdtemp(join(tmpdir(), 'parley-catalogue-'))
  const provider = { baseUrl: `${models.url}/v1` }
  const catalogue = {
    models: [
      { ...provider, id: 'fake-model', provider: 'openai-compatible', credits: 5 },
      { id: 'away', provider: 'openai-compatible', baseUrl: 'http://127.0.0.1:1/v1', credits: 5 },
      { id: 'cheap', provider: 'openai-compatible', baseUrl: 'http://127.0.0.1:1/v1', credits: 0 },
    ],
    reranker: { ...provider, name: 'judge', timeout: 400 },
  }
  await writeFile(join(folder, 'models.json'), JSON.stringify(catalogue))
  service = await startService({
    MODELS_FILE: join(folder, 'models.json'),
    LOG_LEVEL: 'silent',
    BUILTIN_FALLBACK: '1',
  })
  client = await service.account()
  agentId = (await client.request('POST', '/agents', { name: 'Agent' })).body.id
  await train({ type: 'text', name: 'Lamp', content: 'The desk lamp weighs two kilograms.' })
  await train({ type: 'text', name: 'Ladder', content: 'The ladder and the lamp rail weigh nine kilograms.' })
  await train({ type: 'qna', name: 'Return', questions: ['Can I return a lamp?'], answer: 'Within a month.' })
})
after(async () => {
  await service.close()
  await models.close()
  await rm(folder, { recursive: true })
})

async function train(source: object): Promise<void> {
  const { id } = (await client.request('POST', `/agents/${agentId}/sources`, source)).body
  await trained(service, id)
}

/** Returns the first words of the passages that the model was given, best first. */
async function given(message: string): Promise<string[]> {
  const before = models.requests.length
  const { status } = await client.request('POST', `/agents/${agentId}/chat`, { stream: false, message })
  assert.equal(status, 200)
  const { body } = models.requests
    .slice(before)
    .find(({ body: sent }) => /<passage/.test(JSON.stringify(sent)))!
  const passages = [...body.messages.at(-1).content.matchAll(/<passage [^>]*>\n(.*)\n/g)]
  return passages.map(([, text]) => text).reverse()
}
const reranked = () => models.requests.filter(({ wire }) => wire === 'rerank')
/** The scores of a reranker in log odds, by document. */
const results = (...scores: number[]): string =>
  JSON.stringify({ results: scores.map((relevance_score, index) => ({ index, relevance_score })) })

const QUESTION = 'How much does the desk lamp weigh?'

test('the reranker orders the passages, and changes nothing else', async () => {
  models.reranks.push({ body: results(0, 0, 0) })
  const plain = await given(QUESTION)
  assert.match(plain[0]!, /desk lamp weighs two/)
  const { query, documents } = reranked().at(-1)!.body
  assert.equal(query, QUESTION)
  assert.deepEqual(documents.length, plain.length)
  models.reranks.push({ body: results(-9, 9, -8) })
  assert.deepEqual((await given(QUESTION))[0], plain[1])

  const tested = async (scores: number[]) => {
    models.reranks.push({ body: results(...scores) })
    return (await client.request('POST', `/agents/${agentId}/retrieval-test`, { question: QUESTION })).body
  }
  const [agrees, disagrees] = [await tested([3, -6, -7]), await tested([-9, 4, -8])]
  assert.match(agrees.passages[0].text, /desk lamp weighs two/)
  assert.match(disagrees.passages[0].text, /ladder/)
  assert.equal(agrees.confidence, disagrees.confidence)
})

test('a run of evaluations does not wait for a reranker that has failed', async () => {
  const path = `/agents/${agentId}/evaluations`
  for (const question of ['How heavy is the ladder?', 'What does the lamp rail weigh?'])
    await client.request('POST', path, { question })
  const before = reranked().length
  models.reranks.push({ status: 500 })
  assert.ok((await client.request('POST', `${path}/run`)).body.results.length >= 2)
  assert.equal(reranked().length, before + 1)
})

test('whenever the reranker fails, the answer uses the order of the search', async () => {
  models.reranks.push({ body: results(0, 0, 0) })
  const plain = await given(QUESTION)
  for (const reply of [
    { status: 500 },
    { status: 404 },
    { body: '<html>' },
    { body: '{"results":[{"index":7000,"relevance_score":1}]}' },
    { body: '{"results":[{"index":1,"relevance_score":null}]}' },
    { firstDelayMs: 30_000 },
  ]) {
    models.reranks.push(reply)
    assert.deepEqual(await given(QUESTION), plain, JSON.stringify(reply))
  }
})

test('a message without words is not searched', async () => {
  const before = reranked().length
  for (const message of ['👍', '???', '[photo.jpg]']) {
    await client.request('POST', `/agents/${agentId}/chat`, { stream: false, message })
    assert.doesNotMatch(JSON.stringify(models.requests.at(-1)!.body), /<passage/, message)
  }
  assert.equal(reranked().length, before)
})

test('a stored question that is identical needs no reranker', async () => {
  const before = reranked().length
  assert.equal((await given('Can I return a lamp?'))[0], 'Can I return a lamp?')
  assert.equal(reranked().length, before)
})

test('stopping an answer ends the request to the reranker', async () => {
  const path = `/agents/${agentId}/chat`
  const { body } = await client.request('POST', path, { stream: false, message: 'Which ladder?' })
  const { conversationId } = body.data.metadata
  const before = reranked().length
  models.reranks.push({ firstDelayMs: 30_000 })
  const answer = client.request('POST', path, { stream: false, message: QUESTION, conversationId })
  while (reranked().length === before) await wait(5)
  await client.request('POST', `/agents/${agentId}/conversations/${conversationId}/stop`, {})
  await reranked().at(-1)!.aborted
  await answer
})

test('the built-in responder replaces a provider that fails before its first word, at its own price', async () => {
  const used = async (): Promise<number> => (await client.request('GET', '/me')).body.credits.used
  const ask = (model?: string) => {
    const message = { message: QUESTION }
    return model === undefined
      ? client.request('POST', `/agents/${agentId}/chat`, { stream: false, ...message })
      : client
          .request('PUT', `/agents/${agentId}`, { model })
          .then(() => client.request('POST', `/agents/${agentId}/chat`, { stream: false, ...message }))
  }
  const faults: [string, Reply[]][] = [
    ['500', [{ status: 500 }, { status: 500 }, { status: 500 }]],
    ['401', [{ status: 401 }]],
    [
      'dropped',
      [
        { tokens: ['One'], dropAfter: 0 },
        { tokens: ['One'], dropAfter: 0 },
        { tokens: ['One'], dropAfter: 0 },
      ],
    ],
    [
      'garbage',
      [
        { tokens: ['One'], garbageAfter: 0 },
        { tokens: ['One'], garbageAfter: 0 },
        { tokens: ['One'], garbageAfter: 0 },
      ],
    ],
  ]
  for (const [name, replies] of faults) {
    const before = await used()
    models.queue.push(...replies)
    const { status, body } = await ask()
    assert.equal(status, 200, name)
    const { metadata, parts } = body.data
    assert.match(parts[0].text, /The desk lamp weighs two kilograms\. \[1\]/, name)
    assert.deepEqual([metadata.model, metadata.usage], ['builtin', { credits: 1 }], name)
    assert.equal(await used(), before + 1, name)
    models.queue.length = 0
  }

  // After the first word, no other model takes over, and the answer costs the full price.
  const before = await used()
  const shown = Promise.withResolvers<void>()
  models.queue.push({
    tokens: ['Half', ' a', ' word'],
    dropAfter: 2,
    beforeToken: (index) => (index === 1 ? shown.promise : Promise.resolve()),
  })
  const response = await client.raw('POST', `/agents/${agentId}/chat`, {
    body: JSON.stringify({ message: QUESTION }),
    headers: { 'content-type': 'application/json' },
  })
  const [watched, read] = response.body!.tee()
  const reader = watched.getReader()
  for (let text = ''; !text.includes('Half'); ) text += Buffer.from((await reader.read()).value!).toString()
  shown.resolve()
  const broken = await readStream(new Response(read, response))
  assert.match(broken.text, /^Half/)
  assert.doesNotMatch(broken.text, /two kilograms/)
  assert.ok(broken.events.some(({ event }) => event === 'error'))
  assert.equal(await used(), before + 5)

  const dead = await ask('away')
  assert.deepEqual([dead.body.data.metadata.model, dead.body.data.metadata.usage.credits], ['builtin', 1])
  const { conversationId } = dead.body.data.metadata
  const { data } = (await client.request('GET', `/agents/${agentId}/conversations/${conversationId}`)).body
  assert.equal(data.messages.at(-1).metadata.model, 'builtin')
  const streamed = await readStream(
    await client.raw('POST', `/agents/${agentId}/chat`, {
      body: JSON.stringify({ message: QUESTION }),
      headers: { 'content-type': 'application/json' },
    }),
  )
  assert.match(streamed.text, /two kilograms/)
  for (const { event, data } of streamed.events) {
    if (event !== 'message-metadata' && event !== 'finish') continue
    const { messageMetadata } = data as { messageMetadata: { model?: string; usage: object } }
    assert.deepEqual([messageMetadata.model, messageMetadata.usage], ['builtin', { credits: 1 }], event)
  }
  await client.request('PUT', `/agents/${agentId}`, { visibility: 'public' })
  const visitor = visitorOf(service, agentId)
  const written = await visitor.write(QUESTION)
  assert.match((await readStream(await visitor.follow(written.conversationId))).text, /two kilograms/)

  // An answer costs what its model costs, also when the chosen one would have been cheaper.
  const atCheap = await used()
  const cheap = await ask('cheap')
  assert.deepEqual([cheap.body.data.metadata.model, cheap.body.data.metadata.usage.credits], ['builtin', 1])
  assert.equal(await used(), atCheap + 1)
  assert.deepEqual(await reconcileByHand(service.ctx.db), { ledger: 'equal', reserved: 0 })
  const ofFirstVersion = await client.request('POST', '/api/v1/chat', {
    chatbotId: agentId,
    messages: [{ role: 'user', content: QUESTION }],
  })
  assert.match(ofFirstVersion.body.text, /two kilograms/)
})
