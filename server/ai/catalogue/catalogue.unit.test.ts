import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CatalogueError, parseCatalogue } from './catalogue.ts'

const none = { baseUrl: null, apiKey: null, model: null, embeddingModel: null }

test('without any configuration, there is the built-in responder', () => {
  const { entries, auto, embedding } = parseCatalogue(null, none, {})
  assert.deepEqual(
    entries.map(({ id }) => id),
    ['builtin'],
  )
  assert.equal(auto, 'builtin')
  assert.equal(embedding, null)
})

test('the variables add a model and make auto choose it', () => {
  const { entries, auto, embedding } = parseCatalogue(
    null,
    { baseUrl: 'http://127.0.0.1:1/v1', apiKey: null, model: 'm', embeddingModel: 'e' },
    {},
  )
  assert.equal(auto, 'm')
  assert.deepEqual(entries.map(({ id, provider, credits }) => [id, provider, credits])[1], [
    'm',
    'openai-compatible',
    1,
  ])
  assert.ok(embedding && 'baseUrl' in embedding)
  assert.equal(embedding.baseUrl, 'http://127.0.0.1:1/v1')
})

test('a key alone selects a model of OpenAI, and a server without a model is rejected', () => {
  const { entries, auto } = parseCatalogue(null, { ...none, apiKey: 'sk-1' }, {})
  assert.deepEqual(
    entries.slice(1).map(({ provider, baseUrl, apiKey }) => [provider, baseUrl, apiKey]),
    [['openai-responses', null, 'sk-1']],
  )
  assert.equal(auto, entries[1]?.id)
  const beside = { ...none, apiKey: 'sk-1' }
  assert.equal(parseCatalogue(null, { ...beside, embeddingModel: 'e' }, {}).entries.length, 1)
  assert.equal(parseCatalogue({ models: [] }, beside, {}).entries.length, 1)
  assert.throws(
    () => parseCatalogue(null, { ...none, baseUrl: 'http://127.0.0.1:1/v1' }, {}),
    /without OPENAI_MODEL/,
  )
})

test("auto is the file's choice, otherwise that of the variables, otherwise the first model", () => {
  const models = [
    { id: 'a', provider: 'anthropic' },
    { id: 'b', provider: 'google' },
  ]
  assert.equal(parseCatalogue({ models }, none, {}).auto, 'a')
  assert.equal(parseCatalogue({ models }, { ...none, model: 'm' }, {}).auto, 'm')
  assert.equal(parseCatalogue({ models, auto: 'b' }, { ...none, model: 'm' }, {}).auto, 'b')
  assert.equal(parseCatalogue({ models, auto: 'builtin' }, none, {}).auto, 'builtin')
})

test('a reranker gets its key like the models, and has two seconds by default', () => {
  const reranker = { name: 'r', baseUrl: 'http://127.0.0.1:1/v1', apiKeyEnv: 'RERANK_KEY' }
  const of = (entry: object) =>
    parseCatalogue({ models: [], reranker: entry }, none, { RERANK_KEY: 'k' }).reranker
  assert.deepEqual([of(reranker)?.apiKey, of(reranker)?.timeout], ['k', 2_000])
  assert.equal(of({ ...reranker, timeout: 300 })?.timeout, 300)
  assert.equal(parseCatalogue(null, none, {}).reranker, null)
  assert.throws(() => of({ ...reranker, timeout: 60_000 }), CatalogueError)
  assert.throws(() => of({ ...reranker, apiKeyEnv: 'NOT_SET' }), /reranker takes its key from NOT_SET/)
})

test('every problem is reported', () => {
  const problemsOf = (file: unknown): string[] => {
    try {
      parseCatalogue(file, none, {})
    } catch (error) {
      assert.ok(error instanceof CatalogueError)
      return error.problems
    }
    return []
  }
  assert.match(problemsOf([]).join(), /object/)
  const shape = problemsOf({ models: [{ id: '', provider: 'acme', price: 1, credits: 0.5 }], more: 1 }).join(
    '\n',
  )
  for (const piece of [
    'models.0.id',
    'models.0.provider',
    'anthropic',
    '"price"',
    'models.0.credits',
    '"more"',
  ]) {
    assert.ok(shape.includes(piece), `${piece} in ${shape}`)
  }
  const meaning = problemsOf({
    auto: 'gone',
    models: [
      { id: 'x', provider: 'openai', apiKeyEnv: 'NOT_SET' },
      { id: 'x', provider: 'google' },
    ],
  }).join('\n')
  for (const piece of ['NOT_SET', 'used twice', '"gone"']) assert.ok(meaning.includes(piece), piece)
})
