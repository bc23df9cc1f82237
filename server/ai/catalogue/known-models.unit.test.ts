import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { startModelServer } from '../../../test/fakes/model-server.ts'
import { type Reply, tokens } from '../../../test/fakes/reply.ts'
import { streamModel } from '../calls/call-model.ts'
import { createModels } from '../models.ts'
import { DEFAULT_MODEL, parseCatalogue } from './catalogue.ts'
import { KNOWN_MODELS, SOURCES_READ } from './known-models.ts'
import { reachServers } from './reach-servers.ts'

const PAGES = new URL('../../../docs/operations/', import.meta.url)
const pages = readdirSync(PAGES)
  .filter((name) => /^(models.*|running)\.md$/.test(name))
  .map((name) => readFileSync(new URL(name, PAGES), 'utf8'))
const none = { baseUrl: null, apiKey: null, model: null, embeddingModel: null }
const A_YEAR = 366 * 86_400_000

test('every row has a source, and what the defaults and the pages recommend is there for another year', () => {
  for (const { id, source, withdrawn } of KNOWN_MODELS) {
    assert.match(source, /^https:\/\/|^@ai-sdk\//, id)
    assert.ok(withdrawn === null || !Number.isNaN(Date.parse(withdrawn)), id)
  }
  const known = new Map(KNOWN_MODELS.map((model) => [model.id, model]))
  const named = pages.flatMap((page) =>
    [
      ...page.matchAll(/"(?:model|name|id)": "([^"]+)"|(?:OPENAI|EMBEDDING)_MODEL=(\S+)|ollama pull (\S+)/g),
    ].map(([, inJson, variable, pulled]) => inJson ?? variable ?? pulled!),
  )
  // What the pages tell readers to replace, or what is their own name of a model.
  const own = /^(a-model|an-embedding-model|local|embeddings|reranker|auto|fast|gpt|claude|gemini)$/
  const ids = [DEFAULT_MODEL, ...named.filter((name) => !own.test(name))]
  assert.ok(ids.length > 15)
  for (const id of ids) {
    const model = known.get(id)
    assert.ok(model, `${id} is not in known-models.ts`)
    const left = model.withdrawn === null ? A_YEAR : Date.parse(model.withdrawn) - Date.parse(SOURCES_READ)
    assert.ok(left >= A_YEAR, `${id} is withdrawn on ${model.withdrawn}`)
  }
})

test('the table of the page on hosted models is that of the rows with prices or dates', () => {
  const page = pages.find((text) => text.startsWith('# Hosted providers'))!
  const rows = [...page.matchAll(/^\| `([^`]+)` \| ([^|]+) \| ([^|]+) \|$/gm)].map(([, ...cells]) => cells)
  const expected = KNOWN_MODELS.filter(({ prices, withdrawn }) => prices || withdrawn).map((model) => [
    model.id,
    model.prices ? `${model.prices.input} and ${model.prices.output}` : '–',
    model.withdrawn ?? '–',
  ])
  assert.deepEqual(rows, expected)
})

test("the start names the day on which the provider's list, or this version, says that a model is withdrawn", async () => {
  const listed = [
    { id: 'gpt-6-luna', shutdown_date: '2028-01-14' },
    { id: 'kept', shutdown_date: null },
  ]
  const server = createServer((_, response) => void response.end(JSON.stringify({ data: listed })))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  const said = (...names: string[]) => saidOf('openai-responses', ...names)
  const saidOf = async (provider: string, ...names: string[]) => {
    const models = names.map((name) => ({ id: name, name, provider, baseUrl }))
    return (await reachServers(parseCatalogue({ models }, none, {}), null)).filter(
      ({ what }) => what === 'model',
    )
  }
  const [listedOne, ...rest] = await said('gpt-6-luna', 'gpt-5', 'unheard-of')
  assert.equal(listedOne?.ok, false)
  assert.match(listedOne!.sentence, /gpt-6-luna.* withdrawn by its provider on 2028-01-14/)
  assert.deepEqual(
    rest.map(({ name, ok }) => [name, ok]),
    [['gpt-5', false]],
  )
  assert.match(rest[0]!.sentence, /2026-12-11.*gpt-6\.1-sol/)
  assert.equal((await said('kept'))[0]?.ok, true)
  // A gateway may call another model by the same name, but the day in its own list counts.
  assert.deepEqual(
    (await saidOf('openai-compatible', 'gpt-6-luna', 'gpt-5')).map(({ name, ok }) => [name, ok]),
    [['gpt-6-luna', false]],
  )
  assert.equal((await saidOf('anthropic', 'gpt-5', 'gpt-5-mini')).length, 1)
  server.closeAllConnections()
  server.close()
})

test('models are asked as their providers advise: Gemini 3 without the default temperature, thinking only where it must', async () => {
  const server = await startModelServer()
  server.otherwise((): Reply => ({ tokens: tokens(1) }))
  const sent = async (provider: string, name: string, temperature: number) => {
    const baseUrl = `${server.url}/${provider === 'google' ? 'v1beta' : 'v1'}`
    const catalogue = parseCatalogue(
      { models: [{ id: 'm', provider, name, baseUrl, apiKey: 'k' }] },
      none,
      {},
    )
    const models = createModels({ catalogue, builtin: {} as never })
    const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Hello' }] }]
    const options = { prompt, temperature, maxOutputTokens: 100 }
    for await (const _ of streamModel(models.resolve('m')!, options, { signal: AbortSignal.timeout(9_000) }));
    await models.close()
    return server.requests.at(-1)!.body
  }
  assert.equal((await sent('google', 'gemini-3.5-flash-lite', 0)).generationConfig.temperature, undefined)
  assert.equal((await sent('google', 'gemini-3.5-flash-lite', 0.4)).generationConfig.temperature, 0.4)
  assert.equal((await sent('google', 'gemini-2.5-flash', 0)).generationConfig.temperature, 0)
  assert.deepEqual((await sent('openai-responses', 'gpt-6-luna', 0)).reasoning, { effort: 'none' })
  assert.deepEqual((await sent('anthropic', 'claude-haiku-5-5', 0)).thinking, { type: 'disabled' })
  assert.equal((await sent('openai-responses', 'gpt-5', 0)).reasoning, undefined)
  await server.close()
})
