import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { type ModelServer, startModelServer } from '../../../test/fakes/model-server.ts'
import { until } from '../../../test/until.ts'
import { failureOfStatus, ModelFailure, type ModelFailureKind } from '../failures/model-failure.ts'
import { createModels, type Models } from '../models.ts'
import { type Embedder, pauseAfter } from './embedder.ts'
import type { EmbeddingUse, Owner } from './embedding-use.ts'
import { createPace } from './pace.ts'

let server: ModelServer
const opened: Models[] = []

before(async () => {
  server = await startModelServer()
})
after(async () => {
  for (const models of opened) await models.close()
  await server.close()
})
beforeEach(() => {
  server.requests.length = 0
  server.queue.length = 0
  Object.assign(server.embedding, { msPerText: 0, isSerial: false, most: 2_048, tokensPerText: null })
})

type Noted = [Owner, string, EmbeddingUse]

function embedderWith({ price = null as number | null, noted = [] as Noted[] } = {}): Embedder {
  const prefixes = { query: 'q: ', passage: 'p: ' }
  const embedding = {
    name: 'e',
    baseUrl: `${server.url}/v1`,
    apiKey: null,
    dimensions: null,
    prefixes,
    price,
  }
  const models = createModels({
    catalogue: { entries: [], auto: '', embedding, formerEmbedding: null },
    builtin: {} as never,
    noteTokens: (...note) => noted.push(note),
  })
  opened.push(models)
  return models.embedder!
}

const textsOf = (count: number): string[] => Array.from({ length: count }, (_, i) => `text number ${i}`)
const sizes = (): number[] => server.requests.map(({ body }) => body.input.length)
const failsAs = (kind: ModelFailureKind) => (error: unknown) =>
  error instanceof ModelFailure && error.kind === kind

/** Returns the sizes of batches for a server that takes as long as `msOf` says. */
function paced(msOf: (count: number) => number, batches: number): number[] {
  const pace = createPace(32, 30_000)
  return Array.from({ length: batches }, () => {
    const { size } = pace.next()
    pace.took(size, msOf(size))
    return size
  })
}

test('batches grow until they take half a second, whatever every request takes anyway', () => {
  assert.deepEqual(
    paced((count) => 20 + count, 8),
    [1, 2, 4, 8, 16, 32, 32, 32],
  )
  // Ten seconds for a hundred texts.
  assert.deepEqual(
    paced((count) => 100 * count, 6),
    [1, 2, 4, 4, 4, 4],
  )
  // A distant server takes its time for a single text, too.
  assert.deepEqual(
    paced((count) => 900 + count, 7),
    [1, 2, 4, 8, 16, 32, 32],
  )
  // Even two texts take too long. A larger batch is not tried again at once.
  const slow = paced((count) => 3_000 * count, 30)
  assert.deepEqual(
    [slow.slice(0, 4), Math.max(...slow), slow.filter((size) => size > 1).length],
    [[1, 2, 1, 1], 2, 2],
  )
})

test('a server that has become slow gets smaller batches and more time, down to one text', () => {
  const pace = createPace(32, 30_000)
  for (let i = 0; i < 6; i++) pace.took(pace.next().size, 10)
  assert.deepEqual(pace.next(), { size: 32, timeoutMs: 30_000 })
  pace.took(32, 2_000)
  assert.equal(pace.next().size, 16)
  const given: [number, number][] = []
  for (let again = true; again; ) {
    const { size, timeoutMs } = pace.next()
    given.push([size, timeoutMs])
    again = pace.failed(new ModelFailure('timeout'), size)
  }
  assert.deepEqual(given, [
    [16, 30_000],
    [8, 60_000],
    [4, 120_000],
    [2, 240_000],
    [1, 300_000],
  ])
  pace.took(1, 4_000)
  assert.equal(pace.next().timeoutMs, 40_000)
  assert.equal(pace.failed(failureOfStatus(401, undefined, new Error('key')), 8), false)
})

test('a server that refuses large batches gets smaller ones from then on', async () => {
  server.embedding.most = 10
  const embedder = embedderWith()
  const vectors = await embedder.embed(textsOf(60))
  assert.equal(vectors.length, 60)
  assert.deepEqual(vectors[59], (await embedder.embed(['text number 59']))[0])
  assert.deepEqual(sizes(), [1, 2, 4, 8, 16, 8, 8, 8, 8, 8, 5, 1])
})

test('each pause before another attempt is twice as long as the one before', () => {
  assert.deepEqual([1, 2, 3].map(pauseAfter), [250, 500, 1_000])
})

test('a text that is refused alone is an error, and not the size of batches', async () => {
  const embedder = embedderWith()
  server.embedding.most = 0
  await assert.rejects(embedder.embed(textsOf(4)), failsAs('rejected'))
  server.embedding.most = 2_048
  await embedder.embed(textsOf(15))
  assert.deepEqual(sizes(), [1, 1, 2, 4, 8])
})

test('vectors are yielded as they arrive, and what arrived before a failure is not lost', async () => {
  const embedder = embedderWith()
  server.queue.push({ firstDelayMs: 1 }, { firstDelayMs: 1 })
  for (let i = 0; i < 4; i++) server.queue.push({ status: 503, retryAfter: 0 })
  let got = 0
  const all = async () => {
    for await (const vectors of embedder.inBatches(textsOf(20))) got += vectors.length
  }
  await assert.rejects(all(), failsAs('unavailable'))
  assert.equal(got, 3)
})

test('a question goes before the next batch, and trainings take turns', async () => {
  server.embedding.isSerial = true
  const embedder = embedderWith()
  const [batchMay, questionMay] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  server.queue.push({ after: batchMay.promise })
  const batches = embedder.inBatches(textsOf(3))
  const other = embedder.inBatches(['another training'])
  const first = batches.next()
  const ofOther = other.next()
  await until('the first batch', () => server.requests.length === 1)
  server.queue.push({ after: questionMay.promise })
  const question = embedder.embedQuestions(['Which?'])
  await until('the question', () => server.requests.length === 2)
  batchMay.resolve()
  await first
  const second = batches.next()
  await wait(50)
  assert.deepEqual(
    server.requests.map(({ body }) => body.input),
    [['p: text number 0'], ['q: Which?']],
    'no batch is sent while a question is under way',
  )
  questionMay.resolve()
  await question
  await Promise.all([second, ofOther])
  assert.deepEqual(
    server.requests.slice(2).map(({ body }) => body.input),
    [['p: another training'], ['p: text number 1', 'p: text number 2']],
  )
})

test('questions without a pause do not keep training from its end', async () => {
  const embedder = embedderWith()
  let isTraining = true
  const ask = async (name: string) => {
    for (let i = 0; isTraining; i++) await embedder.embedQuestions([`${name} ${i}`])
  }
  server.embedding.msPerText = 20
  const asking = [ask('one'), ask('two'), ask('three')]
  await until('the first question', () => server.requests.length > 0)
  assert.equal((await embedder.embed(textsOf(3))).length, 3)
  isTraining = false
  await Promise.all(asking)
})

test('an abort takes a batch out of the line', async () => {
  const embedder = embedderWith()
  const may = Promise.withResolvers<void>()
  server.queue.push({ after: may.promise })
  const first = embedder.embed(['one'])
  await until('the first batch', () => server.requests.length === 1)
  const controller = new AbortController()
  const second = embedder.embed(['two'], { signal: controller.signal })
  controller.abort()
  await assert.rejects(second, failsAs('aborted'))
  may.resolve()
  await first
  assert.equal((await embedder.embed(['three'])).length, 1)
  assert.equal(server.requests.length, 2)
})

test('the vector of a recent question is remembered', async () => {
  const noted: Noted[] = []
  const embedder = embedderWith({ noted })
  const owner = { accountId: 'account', agentId: 'agent' }
  const { vectors, use } = await embedder.embedQuestions(['What?'], owner)
  assert.deepEqual([use.texts, use.tokens, use.estimated, use.dollars], [1, 3, 3, null])
  const again = await embedder.embedQuestions(['What?', 'And why?'], owner)
  assert.deepEqual(again.vectors[0], vectors[0])
  assert.deepEqual(server.requests.at(-1)?.body.input, ['q: And why?'])
  assert.equal((await embedder.embedQuestions(['What?', 'And why?'])).use.texts, 0)
  assert.equal(server.requests.length, 2)
  assert.deepEqual(
    noted.map(([of, kind, { texts }]) => [of, kind, texts]),
    [
      [owner, 'questions', 1],
      [owner, 'questions', 1],
    ],
  )
  // It is forgotten after five hundred others.
  for (const text of textsOf(500)) await embedder.embedQuestions([text])
  await embedder.embedQuestions(['What?'])
  assert.deepEqual(server.requests.at(-1)?.body.input, ['q: What?'])
})

test('questions do not wait for a model that is away, and use it again when it answers', async () => {
  const embedder = embedderWith()
  for (let i = 0; i < 4; i++) server.queue.push({ status: 500 })
  await assert.rejects(embedder.embedQuestions(['one']), failsAs('unavailable'))
  assert.equal(server.requests.length, 2, 'it is tried once more')
  // The next one is sent to see whether the model is back, but fails without waiting for that.
  await assert.rejects(embedder.embedQuestions(['two']), failsAs('unavailable'))
  await assert.rejects(embedder.embedQuestions(['three']), failsAs('unavailable'))
  await until('the end of the trial', () => server.requests.length === 4)
  assert.deepEqual(
    server.requests.map(({ body }) => body.input),
    [['q: one'], ['q: one'], ['q: two'], ['q: two']],
  )
  await until('the model to be back', () =>
    embedder.embedQuestions(['four']).then(
      ({ vectors }) => vectors.length === 1,
      () => false,
    ),
  )
  // Training is not concerned.
  assert.equal((await embedder.embed(['one'])).length, 1)
})

test('tokens are those of the server, or an estimate, and have a price if one is known', async () => {
  const noted: Noted[] = []
  const owner = { accountId: 'account', agentId: 'agent' }
  const embedder = embedderWith({ price: 0.02, noted })
  server.embedding.tokensPerText = 7
  await embedder.embed(textsOf(3), { owner })
  server.embedding.tokensPerText = null
  await embedder.embed(['x'.repeat(347)], { owner })
  await embedder.embed(['nobody pays for it'])
  assert.deepEqual(
    noted.map(([, kind, use]) => [kind, use.model, use.texts, use.tokens, use.estimated]),
    [
      ['passages', 'e', 1, 7, 0],
      ['passages', 'e', 2, 14, 0],
      ['passages', 'e', 1, 100, 100],
    ],
  )
  assert.equal(noted[2]?.[2].dollars, 0.000002)
})
