import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type ModelServer, startModelServer } from '../../../test/fakes/model-server.ts'
import { streamModel } from '../calls/call-model.ts'
import type { CallOptions } from '../calls/model-call.ts'
import { createModels } from '../models.ts'
import { CatalogueError, parseCatalogue } from './catalogue.ts'

const none = { baseUrl: null, apiKey: null, model: null, embeddingModel: null }
let server: ModelServer

before(async () => {
  server = await startModelServer({ isStrict: true })
})
after(() => server.close())

/** Sends a question to a model with these settings, and returns the body that the provider accepted. */
async function sent(provider: string, name: string, settings: object = {}, more: Partial<CallOptions> = {}) {
  const baseUrl = `${server.url}/${provider === 'google' ? 'v1beta' : 'v1'}`
  const file = { models: [{ id: 'm', provider, name, baseUrl, apiKey: 'k', ...settings }] }
  const models = createModels({ catalogue: parseCatalogue(file, none, {}), builtin: {} as never })
  const model = models.resolve('m')!
  const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Hello' }] }]
  const { maxOutputTokens } = model.entry
  const options = { prompt, temperature: 0, maxOutputTokens, ...more }
  for await (const _ of streamModel(model, options, { signal: AbortSignal.timeout(9_000) }));
  await models.close()
  return server.requests.at(-1)!.body
}

const tool: CallOptions['tools'] = [
  { type: 'function', name: 'show', inputSchema: { type: 'object', properties: {} } },
]

test('each provider is told in its own terms how much to think, and refuses nothing', async () => {
  server.refusals.length = 0
  for (const [reasoning, effort] of [
    ['off', 'none'],
    ['low', 'low'],
    ['high', 'high'],
  ]) {
    assert.equal((await sent('openai-responses', 'gpt-5.4', { reasoning })).reasoning.effort, effort)
    assert.equal((await sent('openai', 'gpt-5.4', { reasoning })).reasoning_effort, effort)
    const claude = await sent('anthropic', 'claude-haiku-5-5', { reasoning })
    assert.equal(claude.thinking.type, effort === 'none' ? 'disabled' : 'adaptive')
    assert.equal(claude.output_config?.effort, effort === 'none' ? undefined : effort)
    const gemini = await sent('google', 'gemini-3.5-flash-lite', { reasoning })
    const { thinkingLevel, includeThoughts = false } = gemini.generationConfig.thinkingConfig
    assert.deepEqual(
      [thinkingLevel, includeThoughts],
      effort === 'none' ? ['minimal', false] : [effort, true],
    )
  }
  // These cannot be kept from thinking, so they are told to think as little as they can.
  assert.equal((await sent('anthropic', 'claude-opus-5-5', { reasoning: 'off' })).thinking?.type, undefined)
  const budget = 4_096
  const claude = await sent('anthropic', 'claude-sonnet-4-5', { reasoning: budget, temperature: false })
  assert.deepEqual(claude.thinking, { type: 'enabled', budget_tokens: budget })
  assert.ok(claude.max_tokens > budget)
  const gemini = await sent('google', 'gemini-2.5-flash', { reasoning: budget })
  assert.equal(gemini.generationConfig.thinkingConfig.thinkingBudget, budget)
  // A server of open models hears it in the two ways that they know; the types of OpenAI know one.
  const own = await sent('openai-compatible', 'qwen3', { reasoning: 'low' })
  assert.equal(own.reasoning_effort, 'low')
  assert.deepEqual(server.refusals, [])
  const off = await sent('openai-compatible', 'qwen3', { reasoning: 'off' })
  assert.deepEqual([off.reasoning_effort, off.chat_template_kwargs], ['none', undefined])
  assert.match(server.refusals.join(), /chat_template_kwargs/)
})

test('a model that thinks can be made to call a tool', async () => {
  server.refusals.length = 0
  const forced = { tools: tool, toolChoice: { type: 'tool' as const, toolName: 'show' } }
  for (const name of ['claude-sonnet-4-6', 'claude-opus-5-5', 'claude-sonnet-5-5'])
    for (const reasoning of [undefined, 'high'])
      await sent('anthropic', name, { temperature: false, ...(reasoning ? { reasoning } : {}) }, forced)
  await sent('openai-responses', 'gpt-5.4', { reasoning: 'high' }, forced)
  await sent('google', 'gemini-3.8-pro', { reasoning: 'high' }, forced)
  assert.deepEqual(server.refusals, [])
})

test('the temperature, and the name of the length, are those of the entry', async () => {
  const plain = await sent('openai-compatible', 'local')
  assert.deepEqual([plain.temperature, plain.max_tokens], [0, 2_000])
  const other = await sent('openai-compatible', 'local', {
    temperature: false,
    maxTokensField: 'max_completion_tokens',
  })
  assert.deepEqual(
    [other.temperature, other.max_tokens, other.max_completion_tokens],
    [undefined, undefined, 2_000],
  )
  const gemini = await sent('google', 'gemini-3.5-flash-lite', { temperature: true })
  assert.equal(gemini.generationConfig.temperature, 0)
})

test('what is known of a family is the default, also that reasoning takes room from the answer', () => {
  const entry = (provider: string, name: string, more: object = {}) =>
    parseCatalogue({ models: [{ id: 'm', provider, name, ...more }] }, none, {}).entries[1]!
  const claude = entry('anthropic', 'claude-sonnet-5-5')
  assert.deepEqual(
    [claude.contextTokens, claude.vision, claude.canThink, claude.searches, claude.maxOutputTokens],
    [1_000_000, true, true, true, 16_000],
  )
  const haiku = entry('anthropic', 'claude-haiku-5-5')
  assert.deepEqual([haiku.searches, haiku.maxOutputTokens, haiku.prices?.output], [false, 2_000, 0.5])
  const prices = { input: 1, cached: 0.1, output: 2 }
  const own = entry('openai-compatible', 'claude-sonnet-5-5', { baseUrl: 'http://127.0.0.1:1/v1', prices })
  assert.deepEqual(
    [own.contextTokens, own.vision, own.canThink, own.searches, own.prices],
    [32_000, false, false, false, prices],
  )
})

test('settings that contradict each other, or name no model, are refused with all that is wrong', () => {
  const models = [
    { id: 'a', provider: 'openai', reasoning: 4_096, maxTokensField: 'max_tokens', fallbacks: ['a', 'gone'] },
    { id: 'b', provider: 'anthropic', reasoning: 'tags' },
  ]
  try {
    parseCatalogue({ models, small: 'tiny' }, none, {})
    assert.fail('it is accepted')
  } catch (error) {
    assert.ok(error instanceof CatalogueError)
    assert.equal(error.problems.length, 6)
    for (const word of ['tiny', 'itself', '"gone"', 'low, medium or high', 'maxTokensField', 'tags'])
      assert.match(error.message, new RegExp(word))
  }
})
