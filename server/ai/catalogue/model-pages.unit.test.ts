import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { type ModelServer, startModelServer } from '../../../test/fakes/model-server.ts'
import { createModels, type Models } from '../models.ts'
import { parseCatalogue } from './catalogue.ts'
import { probeModels } from './probe-models.ts'

const KEYS = {
  OPENAI_API_KEY: 'k',
  ANTHROPIC_API_KEY: 'k',
  GOOGLE_API_KEY: 'k',
  COHERE_API_KEY: 'k',
  PROVIDER_KEY: 'k',
}
const PAGES = ['ollama', 'llama-cpp', 'hosted'].map((name) => `models-${name}.md`)

let server: ModelServer
const opened: Models[] = []

before(async () => {
  server = await startModelServer()
})
after(async () => {
  for (const models of opened) await models.close()
  await server.close()
})

const pageOf = (name: string): string =>
  readFileSync(new URL(`../../../docs/operations/${name}`, import.meta.url), 'utf8')
const blocksOf = (page: string, language: string): string[] =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(([, block]) => block!)
/** Puts our own server in the place of those on the page. */
const here = (text: string): string => text.replace(/https?:\/\/[\w.:-]+\/v\d\b/g, `${server.url}/v1`)

const BASES = { anthropic: '/v1', google: '/v1beta', 'openai-responses': '/v1' }

/** Asks everything of a catalogue, as the doctor does; returns what was asked. */
async function askAll(...settings: Parameters<typeof parseCatalogue>): Promise<string[]> {
  const parsed = parseCatalogue(...settings)
  // Our own server also stands in for the providers' own addresses.
  const entries = parsed.entries.map((entry) =>
    entry.provider in BASES && (entry.baseUrl === null || entry.baseUrl.includes('openai.com'))
      ? { ...entry, baseUrl: server.url + BASES[entry.provider as keyof typeof BASES] }
      : entry,
  )
  const embedding = parsed.embedding && { ...parsed.embedding, baseUrl: `${server.url}/v1` }
  const catalogue = { ...parsed, entries, embedding }
  const models = createModels({ catalogue, builtin: {} as never })
  opened.push(models)
  const findings = await probeModels(catalogue, models, async () => null)
  for (const { ok, sentence } of findings) assert.ok(ok, sentence)
  return findings.map(({ what }) => what)
}

test('the settings of every page lead to a model, embeddings and a reranker that answer', async () => {
  for (const name of PAGES) {
    const files = blocksOf(pageOf(name), 'json')
    assert.equal(files.length, 1, name)
    const file = JSON.parse(here(files[0]!))
    const asked = await askAll(file, { baseUrl: null, apiKey: null, model: null, embeddingModel: null }, KEYS)
    assert.deepEqual([...new Set(asked)], ['model', 'embeddings', 'reranker'], name)
  }
})

test('the variables of every page lead to a model and embeddings that answer', async () => {
  const lines = [...PAGES, 'models.md'].flatMap((name) =>
    blocksOf(pageOf(name), 'sh').flatMap((block) =>
      block.split('\n').filter((line) => /OPENAI_.* npm start$/.test(line)),
    ),
  )
  assert.equal(lines.length, 4)
  for (const line of lines) {
    const set = Object.fromEntries(
      [...here(line).matchAll(/([A-Z_]+)=(\S+)/g)].map(([, key, value]) => [key, value]),
    )
    const variables = {
      baseUrl: set.OPENAI_BASE_URL ?? null,
      apiKey: set.OPENAI_API_KEY ? 'k' : null,
      model: set.OPENAI_MODEL!,
      embeddingModel: set.EMBEDDING_MODEL!,
    }
    assert.deepEqual(await askAll(null, variables, {}), ['model', 'embeddings'], line)
  }
})

test('a model of OpenAI itself is asked through the API that its newest models answer tools with', async () => {
  server.otherwise(({ wire, body }) =>
    wire === 'chat' || 'max_tokens' in body
      ? { status: 400, errorMessage: 'Use the Responses API.' }
      : { tokens: ['yes'] },
  )
  const own = 'https://api.openai.com/v1'
  const keyAlone = { baseUrl: null, apiKey: 'sk-1', model: null, embeddingModel: null }
  const starts: Parameters<typeof parseCatalogue>[1][] = [
    keyAlone,
    { ...keyAlone, model: 'gpt-5.4-mini' },
    { ...keyAlone, model: 'gpt-5.4-mini', baseUrl: own },
  ]
  for (const start of starts) assert.deepEqual(await askAll(null, start, {}), ['model', 'embeddings'])
  const models = [{ id: 'gpt-5.4-mini', provider: 'openai-compatible', baseUrl: own }]
  await askAll({ models }, { ...keyAlone, apiKey: null }, {})
  for (const { wire, body } of server.requests.slice(-4))
    assert.deepEqual([wire, body.store], ['responses', false])
  server.otherwise(() => ({ tokens: ['yes'] }))
  const elsewhere = { ...keyAlone, model: 'gpt-5.4-mini', baseUrl: `${server.url}/v1` }
  await askAll(null, elsewhere, {})
  assert.equal(server.requests.at(-1)!.wire, 'chat')
})

test('the requests of every page are understood', async () => {
  for (const name of PAGES) {
    const requests = blocksOf(pageOf(name), 'sh').filter((block) => block.startsWith('curl'))
    assert.ok(requests.length > 0, name)
    for (const block of requests) {
      const before = server.requests.length
      const { stdout } = await promisify(execFile)('sh', ['-e', '-c', here(block)], {
        env: { ...process.env, ...KEYS },
      })
      const sent = server.requests.slice(before)
      assert.equal(sent.length, block.match(/^curl/gm)!.length, block)
      for (const { wire, body } of sent) {
        if (wire === 'rerank')
          assert.deepEqual([typeof body.query, body.documents.length, body.top_n], ['string', 2, 2])
        if (wire === 'embeddings') assert.equal(body.input.length, 1)
        if (wire === 'chat') assert.equal(body.messages.length, 1)
      }
      assert.notEqual(stdout, '')
    }
  }
})
