import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider'
import { type ModelServer, startModelServer } from '../../../test/fakes/model-server.ts'
import type { Reply } from '../../../test/fakes/reply.ts'
import { parseCatalogue, providers } from '../catalogue/catalogue.ts'
import { probeModels } from '../catalogue/probe-models.ts'
import { ModelFailure } from '../failures/model-failure.ts'
import { createModels, type Models } from '../models.ts'
import { streamModel } from './call-model.ts'

const TOOL: LanguageModelV4FunctionTool = {
  type: 'function',
  name: 'order',
  description: 'Finds an order by its format',
  inputSchema: {
    type: 'object',
    properties: {
      format: { type: 'string', description: 'The format of the order', minLength: 1 },
      email: { type: 'string', format: 'email' },
    },
    required: ['format'],
    additionalProperties: false,
  },
}
/** The names of settings in the bodies of each provider. */
const LENGTHS = ['max_tokens', 'max_completion_tokens', 'max_output_tokens', 'maxOutputTokens']

let server: ModelServer
let models: Models

before(async () => {
  server = await startModelServer()
})
after(() => server.close())
beforeEach(() => {
  server.requests.length = 0
  server.otherwise(() => ({ tokens: ['yes'] }))
})

const catalogue = () =>
  parseCatalogue(
    {
      models: providers.map((provider) => ({
        id: provider,
        provider,
        name: provider === 'google' ? 'gemini-2-fake' : 'fake',
        baseUrl: `${server.url}/${provider === 'google' ? 'v1beta' : 'v1'}`,
        apiKey: 'k',
      })),
    },
    { baseUrl: null, apiKey: null, model: null, embeddingModel: null },
    {},
  )
beforeEach(() => {
  models = createModels({ catalogue: catalogue(), builtin: {} as never })
  return () => models.close()
})

async function call(id: string): Promise<string> {
  let text = ''
  const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Do you work?' }] }]
  const options = { prompt, temperature: 0, maxOutputTokens: 100, tools: [TOOL] }
  for await (const parts of streamModel(models.resolve(id)!, options, { signal: AbortSignal.timeout(9_000) }))
    for (const part of parts) if (part.type === 'text-delta') text += part.delta
  return text
}
const refusal = (errorMessage: string): Reply => ({ status: 400, errorMessage })
/** Every name in a body, at any depth, and none of its values. */
const namesIn = (body: unknown): string[] =>
  typeof body === 'object' && body !== null
    ? Object.entries(body).flatMap(([name, value]) => [name, ...namesIn(value)])
    : []
const lastNames = (): string[] => namesIn(server.requests.at(-1)!.body)

test('a setting that a server refuses is left out, before the first word and of later requests', async () => {
  for (const provider of providers) {
    server.requests.length = 0
    server.otherwise(({ body }) =>
      namesIn(body).includes('temperature')
        ? refusal("Unsupported value: 'temperature' does not support 0 with this model.")
        : { tokens: ['yes'] },
    )
    assert.equal(await call(provider), 'yes', provider)
    assert.equal(server.requests.length, 2, provider)
    assert.ok(
      lastNames().some((name) => LENGTHS.includes(name)),
      `${provider} is still told the length`,
    )
    assert.equal(await call(provider), 'yes')
    assert.equal(server.requests.length, 3, `${provider} is not asked with it again`)
  }
})

test('the length is sent under the name that the server asks for, and doctor says what is different', async () => {
  server.otherwise(({ body }) => {
    if ('max_tokens' in body)
      return refusal("'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.")
    return 'temperature' in body ? refusal('Invalid temperature: only 1 is allowed.') : { tokens: ['yes'] }
  })
  assert.equal(await call('openai-compatible'), 'yes')
  assert.equal(server.requests.at(-1)!.body.max_completion_tokens, 100)
  assert.equal(server.requests.length, 3)
  const { entries, auto } = catalogue()
  const one = {
    entries: entries.filter(({ id }) => id === 'openai-compatible'),
    auto,
    embedding: null,
    formerEmbedding: null,
  }
  const fresh = createModels({ catalogue: one, builtin: {} as never })
  const [finding] = await probeModels(one, fresh, async () => null)
  await fresh.close()
  assert.equal(finding?.ok, true)
  assert.match(finding!.sentence, /answers with max_completion_tokens for max_tokens and without temperature/)
})

test('a keyword of a schema is left out, but not the input of that name', async () => {
  for (const provider of providers) {
    server.otherwise(({ body }) =>
      JSON.stringify(body.tools).includes('"format":"email"')
        ? refusal(
            "Invalid schema for function 'order': In context=('properties', 'email'), 'format' is not permitted.",
          )
        : { tokens: ['yes'] },
    )
    assert.equal(await call(provider), 'yes', provider)
    const sent = JSON.stringify(server.requests.at(-1)!.body.tools)
    for (const kept of [
      '"format":{"type":"string"',
      'The format of the order',
      'Finds an order',
      'additionalProp',
    ])
      assert.ok(sent.includes(kept), `${provider} ${kept}`)
  }
})

test('a refusal that names nothing is final, and two are enough', async () => {
  for (const provider of providers) {
    server.requests.length = 0
    server.otherwise(() => refusal('This account may not use the model.'))
    await assert.rejects(call(provider), (error: unknown) => (error as ModelFailure).kind === 'rejected')
    assert.equal(server.requests.length, 1, provider)
  }
  server.requests.length = 0
  const always = ['temperature', 'max_tokens', 'tool_choice', 'stream_options']
  server.otherwise(({ body }) => refusal(`Unknown: '${always.find((name) => name in body)}'`))
  await assert.rejects(call('openai-compatible'), ModelFailure)
  assert.equal(server.requests.length, 3)
})

test('what was left out in vain is sent again by the next call', async () => {
  server.otherwise(() => refusal('The temperature of our data centre is too high.'))
  await assert.rejects(call('openai-compatible'), ModelFailure)
  server.otherwise(() => ({ tokens: ['yes'] }))
  await call('openai-compatible')
  assert.equal(server.requests.at(-1)!.body.temperature, 0)
})

test('a prompt that is too long is not a matter of the length of the answer', async () => {
  server.otherwise(() =>
    refusal("'max_tokens' is too large: 100. This model's maximum context length is 4096 tokens."),
  )
  await assert.rejects(call('openai-compatible'), ModelFailure)
  assert.equal(server.requests.length, 1)
})
