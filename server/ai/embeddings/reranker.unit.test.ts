import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { inspect } from 'node:util'
import { type ModelServer, startModelServer } from '../../../test/fakes/model-server.ts'
import type { RerankerEntry } from '../catalogue/catalogue.ts'
import { ModelFailure, type ModelFailureKind } from '../failures/model-failure.ts'
import { createModels, type Models } from '../models.ts'
import type { Reranker } from './reranker.ts'

let server: ModelServer
const opened: Models[] = []

before(async () => {
  server = await startModelServer()
})
after(async () => {
  for (const models of opened) await models.close()
  await server.close()
})

function rerankerWith(entry: Partial<RerankerEntry> = {}): Reranker {
  const reranker = {
    name: 'judge',
    baseUrl: `${server.url}/v1/`,
    apiKey: 'key-abcdef',
    timeout: 60_000,
    ...entry,
  }
  const catalogue = { entries: [], auto: '', embedding: null, formerEmbedding: null, reranker }
  const models = createModels({ catalogue, builtin: {} as never })
  opened.push(models)
  return models.reranker!
}

const documents = ['The ladder weighs nine kilograms.', 'Nothing.', 'The lamp weighs two kilograms.']
const question = 'What weighs the lamp?'
const judge = (reranker: Reranker, signal = new AbortController().signal) =>
  reranker.judge(question, documents, { signal })
const failsAs = (kind: ModelFailureKind) => (error: unknown) => {
  assert.ok(error instanceof ModelFailure)
  assert.equal(error.kind, kind)
  assert.doesNotMatch(inspect(error), /key-abcdef/)
  return true
}

test('the reranker gets all documents and the key, and its scores are returned in the order of the documents', async () => {
  assert.deepEqual(await judge(rerankerWith()), [0.5, 0, 0.75])
  const { wire, body, headers } = server.requests.at(-1)!
  assert.equal(wire, 'rerank')
  assert.deepEqual(body, { model: 'judge', query: question, documents, top_n: 3 })
  assert.equal(headers.authorization, 'Bearer key-abcdef')
})

test('each of the documented APIs is asked and read as its provider says', async () => {
  const body = '[{"index":2,"score":0.9},{"index":0,"score":0.1},{"index":1,"score":0.2}]'
  server.reranks.push({ body })
  assert.deepEqual(await judge(rerankerWith({ api: 'tei' })), [0.1, 0.2, 0.9])
  assert.deepEqual(server.requests.at(-1)?.body, { query: question, texts: documents, truncate: true })

  const data = '{"index":2,"relevance_score":0.8},{"index":0,"relevance_score":0.3}'
  server.reranks.push({ body: `{"object":"list","data":[${data}],"usage":{"total_tokens":26}}` })
  assert.deepEqual(await judge(rerankerWith({ api: 'voyage' })), [0.3, 0.3, 0.8])
  assert.deepEqual(server.requests.at(-1)?.body, { model: 'judge', query: question, documents })

  // A response in the format of another API is an error.
  for (const [api, other] of [
    ['cohere', body],
    ['cohere', `{"data":[${data}]}`],
    ['voyage', `{"results":[${data}]}`],
    ['tei', `{"results":[${data}]}`],
    ['tei', `[${data}]`],
  ] as const) {
    server.reranks.push({ body: other })
    await assert.rejects(judge(rerankerWith({ api })), failsAs('invalid_response'), `${api}: ${other}`)
  }
})

test('documents that the server leaves out get its lowest score', async () => {
  server.reranks.push({
    body: '{"results":[{"index":1,"relevance_score":-4.5,"document":{"text":"x"}},{"index":2,"relevance_score":-6}]}',
  })
  assert.deepEqual(await judge(rerankerWith()), [-6, -4.5, -6])
})

test('an invalid answer is a failure, and nothing is retried', async () => {
  const bodies = [
    'not JSON',
    'null',
    '{}',
    '{"results":[]}',
    '{"results":[null]}',
    '{"results":[{"index":3,"relevance_score":1}]}',
    '{"results":[{"index":-1,"relevance_score":1}]}',
    '{"results":[{"index":"0","relevance_score":1}]}',
    '{"results":[{"index":0,"relevance_score":1},{"index":0,"relevance_score":2}]}',
    '{"results":[{"index":0,"relevance_score":"high"}]}',
    '{"results":[{"index":0,"relevance_score":NaN}]}',
    '{"results":[{"index":0,"relevance_score":1e999}]}',
    '{"results":[{"index":0}]}',
  ]
  const reranker = rerankerWith()
  for (const body of bodies) {
    const before = server.requests.length
    server.reranks.push({ body })
    await assert.rejects(judge(reranker), failsAs('invalid_response'), body)
    assert.equal(server.requests.length - before, 1)
  }
})

test('errors of the server are failures without the key in them', async () => {
  const reranker = rerankerWith()
  server.reranks.push(
    { status: 401, body: '{"error":"wrong key key-abcdef"}' },
    { status: 500 },
    { status: 429 },
  )
  await assert.rejects(judge(reranker), failsAs('rejected'))
  await assert.rejects(judge(reranker), failsAs('unavailable'))
  await assert.rejects(judge(reranker), failsAs('rate_limited'))
  await assert.rejects(judge(rerankerWith({ baseUrl: 'http://127.0.0.1:1/v1' })), failsAs('unavailable'))
})

test('a slow server is given up, and an abort ends the request', async () => {
  const before = server.requests.length
  server.reranks.push({ firstDelayMs: 600_000 })
  await assert.rejects(judge(rerankerWith({ timeout: 30 })), failsAs('timeout'))
  // On a slow machine it may be given up before it was sent.
  if (server.requests.length > before) await server.requests.at(-1)!.aborted
  server.reranks.length = 0

  server.reranks.push({ firstDelayMs: 600_000 })
  const controller = new AbortController()
  const sent = server.requests.length
  const stopped = assert.rejects(
    judge(rerankerWith({ timeout: 600_000 }), controller.signal),
    failsAs('aborted'),
  )
  while (server.requests.length === sent) await new Promise((resolve) => setTimeout(resolve, 5))
  controller.abort()
  await stopped
  await server.requests.at(-1)!.aborted
})
