import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { inspect } from 'node:util'
import type { LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { type ModelServer, startModelServer } from '../../../test/fakes/model-server.ts'
import { type Reply, tokens } from '../../../test/fakes/reply.ts'
import { readConfig } from '../../config.ts'
import { createBuiltinModel } from '../built-in/builtin-model.ts'
import { streamModel } from '../calls/call-model.ts'
import { parseCatalogue, providers } from '../catalogue/catalogue.ts'
import type { EmbeddingEntry } from '../catalogue/embedding-entry.ts'
import { prefixesOf } from '../embeddings/embedding-prefixes.ts'
import { failureOfStatus, ModelFailure, type ModelFailureKind } from '../failures/model-failure.ts'
import { createModels, type Models } from '../models.ts'

/** Ends the ids of models with short timeouts. */
const HASTY = '-hasty'

let server: ModelServer
let models: Models

before(async () => {
  server = await startModelServer()
  const entries = (suffix: string, timeouts: object) =>
    providers.map((provider) => ({
      id: `${provider}${suffix}`,
      provider,
      name: provider === 'google' ? 'gemini-fake' : 'fake',
      baseUrl: provider === 'google' ? `${server.url}/v1beta` : `${server.url}/v1`,
      apiKey: 'sk-test-key',
      timeouts,
    }))
  const file = {
    models: [
      ...entries('', { firstToken: 60_000, idle: 60_000, total: 120_000 }),
      ...entries(HASTY, { firstToken: 400, idle: 300, total: 2_000 }),
    ],
    embedding: { name: 'embed', baseUrl: `${server.url}/v1`, dimensions: 32 },
  }
  const none = { baseUrl: null, apiKey: null, model: null, embeddingModel: null }
  models = createModels({
    catalogue: parseCatalogue(file, none, {}),
    builtin: createBuiltinModel(),
  })
})
after(async () => {
  await models.close()
  await server.close()
})

const question: LanguageModelV4CallOptions['prompt'] = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: [{ type: 'text', text: 'Weather?' }] },
]
const weather = {
  type: 'function' as const,
  name: 'weather',
  description: 'Weather of a place',
  inputSchema: { type: 'object' as const, properties: { place: { type: 'string' as const } } },
}

async function call(
  id: string,
  options: Partial<LanguageModelV4CallOptions> = {},
  signal = new AbortController().signal,
) {
  const parts: LanguageModelV4StreamPart[] = []
  for await (const batch of streamModel(models.resolve(id)!, { prompt: question, ...options }, { signal }))
    parts.push(...batch)
  return parts
}
const textOf = (parts: LanguageModelV4StreamPart[]) =>
  parts.map((part) => (part.type === 'text-delta' ? part.delta : '')).join('')

async function failsAs(kind: ModelFailureKind, ...replies: Reply[]) {
  for (const provider of providers) {
    server.queue.push(...structuredClone(replies))
    await assert.rejects(call(kind === 'timeout' ? `${provider}${HASTY}` : provider), (error: unknown) => {
      assert.ok(error instanceof ModelFailure, `${provider}: ${error}`)
      assert.equal(error.kind, kind, `${provider}: ${error.cause}`)
      assert.doesNotMatch(error.message, /secret|sk-/)
      return true
    })
    server.queue.length = 0
  }
}

for (const provider of providers) {
  describe(provider, () => {
    test('text is streamed with its finish reason and usage', async () => {
      server.queue.push({ tokens: ['Grüße', ' an', ' 東京', ' 👋'] })
      const parts = await call(provider)
      assert.equal(textOf(parts), 'Grüße an 東京 👋')
      const finish = parts.at(-1)
      assert.ok(finish?.type === 'finish')
      assert.equal(finish.finishReason.unified, 'stop')
      assert.equal(finish.usage.inputTokens.total, 7)
    })

    test('several tools are called at once', async () => {
      server.queue.push({
        tokens: ['Let me look.'],
        toolCalls: [
          { id: 'call_1', name: 'weather', input: { place: 'Oslo' } },
          { id: 'call_2', name: 'weather', input: { place: 'Rome' } },
        ],
      })
      const parts = await call(provider, { tools: [weather] })
      const calls = parts.filter((part) => part.type === 'tool-call')
      assert.deepEqual(
        calls.map(({ toolName, input }) => [toolName, JSON.parse(input)]),
        [
          ['weather', { place: 'Oslo' }],
          ['weather', { place: 'Rome' }],
        ],
      )
      assert.equal(new Set(calls.map(({ toolCallId }) => toolCallId)).size, 2)
      const finish = parts.at(-1)
      assert.ok(finish?.type === 'finish')
      assert.equal(finish.finishReason.unified, 'tool-calls')
    })

    test('the history is sent with tool calls and their results', async () => {
      const call1 = { toolCallId: 'call_1', toolName: 'weather' }
      await call(provider, {
        tools: [weather],
        prompt: [
          ...question,
          {
            role: 'assistant',
            content: [
              { type: 'text', text: 'Looking.' },
              { type: 'tool-call', ...call1, input: { place: 'Oslo' } },
            ],
          },
          {
            role: 'tool',
            content: [{ type: 'tool-result', ...call1, output: { type: 'json', value: { degrees: 21 } } }],
          },
          { role: 'user', content: [{ type: 'text', text: 'And tomorrow?' }] },
        ],
      })
      const sent = JSON.stringify(server.requests.at(-1)!.body)
      for (const piece of ['Be brief.', 'Weather?', 'Looking.', 'Oslo', '21', 'And tomorrow?'])
        assert.match(sent, new RegExp(piece))
    })

    test('aborting also stops the request to the provider', async () => {
      server.queue.push({ tokens: tokens(50), delayMs: 20 })
      const controller = new AbortController()
      const running = call(provider, {}, controller.signal)
      setTimeout(() => controller.abort(), 120)
      await assert.rejects(
        running,
        (error: unknown) => error instanceof ModelFailure && error.kind === 'aborted',
      )
      await server.requests.at(-1)!.aborted
    })
  })
}

test('each error has its kind with every provider', async () => {
  await failsAs('rejected', { status: 401 })
  await failsAs('rejected', { status: 400 })
  await failsAs('rate_limited', { status: 429 }, { status: 429 }, { status: 429 })
  await failsAs('rate_limited', { status: 429, retryAfter: 60 })
  await failsAs('unavailable', { status: 500 }, { status: 503 }, { status: 500 })
  await failsAs('timeout', { tokens: tokens(3), firstDelayMs: 2_500 })
  await failsAs('timeout', { tokens: tokens(9), delayMs: 1, stallAfter: 4 })
  await failsAs('unavailable', { tokens: tokens(9), dropAfter: 4, delayMs: 10 })
})

test('a call is retried twice, and only before the first word', async () => {
  for (const provider of providers) {
    server.queue.push({ status: 500 }, { status: 503 }, { tokens: ['ok'] })
    assert.equal(textOf(await call(provider)), 'ok')
    const before = server.requests.length
    server.queue.push({ tokens: tokens(9), dropAfter: 4, delayMs: 10 }, { tokens: ['never'] })
    await assert.rejects(call(provider), ModelFailure)
    assert.equal(server.requests.length, before + 1, provider)
    server.queue.length = 0
  }
})

test('the cause of a failure contains the status, but neither a key nor the question', async () => {
  for (const provider of providers) {
    server.queue.push({ status: 401, errorMessage: 'Incorrect API key sk-test-key, not sk-proj-abc123456' })
    await assert.rejects(call(provider), ({ cause }: ModelFailure) => {
      const said = inspect(cause, { depth: 9 })
      assert.match(said, /401.*Incorrect API key \[redacted\]/s, provider)
      assert.doesNotMatch(said, /sk-|Weather/, provider)
      return true
    })
  }
})

test('our own client tolerates the differences between servers', async () => {
  server.queue.push({ tokens: ['a'], finishReason: 'because' })
  const finish = (await call('openai-compatible')).at(-1)
  assert.ok(finish?.type === 'finish' && finish.finishReason.unified === 'other')
  server.queue.push({ tokens: ['a'], contentType: 'application/json' })
  await assert.rejects(
    call('openai-compatible'),
    (error: unknown) => error instanceof ModelFailure && error.kind === 'invalid_response',
  )
  server.queue.push({ tokens: tokens(3), garbageAfter: 1 })
  await assert.rejects(
    call('openai-compatible'),
    (error: unknown) => error instanceof ModelFailure && error.kind === 'invalid_response',
  )
  server.queue.push({ tokens: ['a'], withoutFinish: true })
  const ended = (await call('openai-compatible')).at(-1)
  assert.ok(ended?.type === 'finish' && ended.finishReason.unified === 'stop')
})

test('embeddings are returned in the order of their texts, and failures are retried', async () => {
  const texts = Array.from({ length: 130 }, (_, i) => `word${String.fromCharCode(97 + (i % 26))} number`)
  const before = server.requests.length
  server.queue.push({ status: 503 })
  const vectors = await models.embedder!.embed(texts)
  assert.equal(vectors.length, 130)
  const sizes = server.requests.slice(before).map(({ body }) => body.input.length)
  assert.deepEqual(sizes, [1, 1, 2, 4, 8, 16, 32, 32, 32, 3], 'batches that grow, and one more try')
  assert.deepEqual(vectors[0], vectors[26])
  assert.notDeepEqual(vectors[0], vectors[1])
  assert.ok(Math.abs(Math.hypot(...vectors[5]!) - 1) < 1e-6)
})

test("an embedding server's Retry-After is respected, unless it is too long for one attempt", async () => {
  const { embedder } = models
  let before = server.requests.length
  server.queue.push({ status: 429, retryAfter: 0 })
  await embedder!.embed(['one'])
  assert.equal(server.requests.length - before, 2)

  before = server.requests.length
  server.queue.push({ status: 503, retryAfter: 3600 })
  await assert.rejects(
    embedder!.embed(['one']),
    (error: unknown) => error instanceof ModelFailure && error.retryAfterMs === 3_600_000,
  )
  assert.equal(server.requests.length - before, 1)
  const { retryAfterMs } = failureOfStatus(429, new Date(Date.now() + 40_000).toUTCString())
  assert.ok(retryAfterMs! > 30_000 && retryAfterMs! <= 40_000)

  server.queue.push({ status: 429, retryAfter: 30 })
  const rejected = embedder!.embed(['one'], { signal: AbortSignal.timeout(20) })
  await assert.rejects(rejected, (error: unknown) => error instanceof ModelFailure)
})

test('the model of an existing space is found again: another one of the same server, or the former one', () => {
  const of = (embedding: EmbeddingEntry | null, formerEmbedding: EmbeddingEntry | null = null) =>
    createModels({ catalogue: { entries: [], auto: '', embedding, formerEmbedding }, builtin: {} as never })
  const prefixes = { query: '', passage: '' }
  const small = {
    name: 'vendor/small@2',
    baseUrl: 'http://a.test/v1',
    apiKey: 'k',
    dimensions: 256,
    prefixes,
  }
  const large = { ...small, name: 'large', dimensions: null }
  const elsewhere = { ...small, baseUrl: 'http://b.test/v1' }
  const { space } = of(small).embedder!
  assert.equal(of(large).embedderOf(space)?.space, space)
  assert.equal(of(elsewhere).embedderOf(space), null)
  assert.equal(of(elsewhere, small).embedderOf(space)?.space, space)
  assert.equal(of(null).embedderOf(space), null)
})

test('questions and passages get the prefixes of their model, and other prefixes make another space', async () => {
  const kinds: [name: string, query: string, passage: string][] = [
    ['intfloat/multilingual-e5-small', 'query: ', 'passage: '],
    ['intfloat/multilingual-e5-large-instruct', 'Instruct: Given', ''],
    ['nomic-embed-text:latest', 'search_query: ', 'search_document: '],
    ['BAAI/bge-small-en-v1.5', 'Represent this sentence', ''],
    ['bge-m3', '', ''],
    ['text-embedding-3-small', '', ''],
  ]
  for (const [name, query, passage] of kinds) {
    const known = prefixesOf(name)
    assert.ok(known.query.startsWith(query) && (query !== '' || known.query === ''), name)
    assert.equal(known.passage, passage, name)
  }
  const of = (env: Record<string, string>) =>
    createModels({
      catalogue: readConfig({
        OPENAI_BASE_URL: `${server.url}/v1`,
        EMBEDDING_MODEL: 'nomic-embed-text',
        ...env,
      }).catalogue,
      builtin: {} as never,
    })
  const [usual, none, own] = [
    of({}),
    of({ EMBEDDING_QUERY_PREFIX: '""', EMBEDDING_PASSAGE_PREFIX: '""' }),
    of({ EMBEDDING_QUERY_PREFIX: '"Ask:\\n"' }),
  ]
  const sent = async (models: Models, areQuestions: boolean): Promise<unknown> => {
    await models.embedder!.embed(['lamp'], { areQuestions })
    return server.requests.at(-1)!.body.input
  }
  assert.deepEqual(await sent(usual, true), ['search_query: lamp'])
  assert.deepEqual(await sent(usual, false), ['search_document: lamp'])
  assert.deepEqual(await sent(none, true), ['lamp'])
  assert.deepEqual(await sent(own, true), ['Ask:\nlamp'])
  const spaces = [usual, none, own].map(({ embedder }) => embedder!.space)
  assert.equal(new Set(spaces).size, 3)
  // A model recognises spaces without prefixes, with the usual prefixes and with its own. Any other space is unknown
  // to it.
  assert.deepEqual(
    spaces.map((space) => none.embedderOf(space)?.space ?? null),
    [spaces[0], spaces[1], null],
  )
  await Promise.all([usual, none, own].map((one) => one.close()))
})
