import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, describe, test } from 'node:test'
import { type ModelServer, startModelServer } from '../../../test/fakes/model-server.ts'
import { refusalOf } from '../../../test/fakes/strict-wires.ts'
import { type Client, type Service, startService } from '../../../test/start.ts'
import { trained } from '../../../test/until.ts'
import { providers } from '../catalogue/catalogue.ts'

const QUESTION = 'How long is the warranty of the Halo lamp?'
/** How each provider says that it refuses to answer. */
const REFUSED = {
  openai: 'content_filter',
  'openai-compatible': 'content_filter',
  'openai-responses': null,
  anthropic: 'refusal',
  google: 'SAFETY',
}

/** Names by which the providers' packages know what a model takes: Claude's newer models take no temperature. */
const NAMES = {
  openai: 'fake',
  'openai-compatible': 'fake',
  'openai-responses': 'gpt-6-luna',
  anthropic: 'claude-haiku-5-5',
  google: 'gemini-3.5-flash-lite',
}

let server: ModelServer
let service: Service
let client: Client
let folder: string
const agents = new Map<string, string>()

before(async () => {
  server = await startModelServer({ isStrict: true })
  folder = await mkdtemp(join(tmpdir(), 'strict-wires-'))
  const file = join(folder, 'models.json')
  const models = providers.map((provider) => ({
    id: provider,
    provider,
    name: NAMES[provider],
    baseUrl: `${server.url}/${provider === 'google' ? 'v1beta' : 'v1'}`,
    apiKey: 'sk-test-key',
  }))
  await writeFile(file, JSON.stringify({ models }))
  service = await startService({ MODELS_FILE: file })
  client = await service.account()
  for (const provider of providers) {
    const { id } = (await client.request('POST', '/agents', { name: provider, model: provider })).body
    agents.set(provider, id)
    const source = { type: 'text', name: 'Warranty', content: 'The Halo lamp has a warranty of five years.' }
    const added = await client.request('POST', `/agents/${id}/sources`, source)
    await trained(service, added.body.id)
    for (const action of [
      { type: 'collect-leads', name: 'note_person', description: 'Notes who asks' },
      {
        type: 'client',
        name: 'show_map',
        description: 'Shows the way',
        inputs: {
          type: 'object',
          properties: { place: { type: 'string', minLength: 1 } },
          required: ['place'],
        },
      },
    ]) {
      const made = await client.request('POST', `/agents/${id}/actions`, action)
      assert.equal(made.status, 201, JSON.stringify(made.body))
    }
  }
})
after(async () => {
  await service.close()
  await server.close()
  await rm(folder, { recursive: true })
})
beforeEach(() => {
  server.queue.length = 0
  server.refusals.length = 0
})

for (const provider of providers) {
  describe(provider, () => {
    const chat = async (body: object = {}) => {
      const sent = { message: QUESTION, stream: false, ...body }
      const answer = await client.request('POST', `/agents/${agents.get(provider)}/chat`, sent)
      assert.deepEqual(server.refusals, [], 'requests are what the provider publishes')
      return answer
    }
    const textOf = ({ body }: Awaited<ReturnType<typeof chat>>): string =>
      body.data.parts.map(({ text = '' }: { text?: string }) => text).join('')

    test('an answer with a citation', async () => {
      server.queue.push({ tokens: ['Five years', ' [1].'] })
      const answer = await chat()
      assert.match(textOf(answer), /^Five years \[1\]\.$/)
      assert.equal(answer.body.data.metadata.sources[0].name, 'Warranty')
    })

    test('reasoning before the answer', async () => {
      server.queue.push({ reasoning: 'A plan for it.', tokens: ['Five years [1].'] })
      assert.equal(textOf(await chat()), 'Five years [1].')
    })

    test('a loop with a tool that runs here', async () => {
      server.queue.push(
        {
          // Servers that send `reasoning_content` want it back, which the types of OpenAI itself do not know.
          ...(provider === 'openai-compatible' ? {} : { reasoning: 'Note it first.' }),
          tokens: ['One moment.'],
          toolCalls: [
            { id: 'call_1', name: 'note_person', input: { name: 'Ann', email: 'ann@example.com' } },
          ],
        },
        { tokens: ['Noted.'] },
      )
      const before = server.requests.length
      assert.match(textOf(await chat()), /Noted\.$/)
      const loop = server.requests.slice(before).map(({ body }) => JSON.stringify(body))
      assert.ok(loop.some((body) => body.includes('ann@example.com') && body.includes('success')))
    })

    test('an action of the application, and what follows', async () => {
      server.queue.push({ toolCalls: [{ id: 'call_2', name: 'show_map', input: { place: 'Oslo' } }] })
      const { data } = (await chat()).body
      assert.equal(data.metadata.finishReason, 'tool-calls')
      const { conversationId } = data.metadata
      const { toolCallId } = data.parts.find(({ type }: { type: string }) => type === 'tool-call')
      const path = `/agents/${agents.get(provider)}/conversations/${conversationId}/tool-result`
      const given = await client.request('POST', path, { toolCallId, output: { shown: true } })
      assert.ok(given.status < 300, JSON.stringify(given.body))
      server.queue.push({ tokens: ['There it is.'] })
      assert.equal(textOf(await chat({ message: undefined, conversationId })), 'There it is.')
    })

    test('a refusal, nothing at all, and a rate limit that passes', async () => {
      const finishReason = REFUSED[provider]
      if (finishReason) {
        server.queue.push({ finishReason }, { finishReason })
        assert.equal(textOf(await chat()), '')
      }
      server.queue.push({}, {})
      assert.equal(textOf(await chat()), '')
      server.queue.push({ status: 429, retryAfter: 0 }, { tokens: ['Five years.'] })
      assert.equal(textOf(await chat()), 'Five years.')
    })
  })
}

test('a field that the provider does not know is refused', () => {
  const wires = new Map(server.requests.map((request) => [request.wire, request.body]))
  for (const wire of ['chat', 'responses', 'anthropic', 'google'] as const) {
    const body = wires.get(wire)
    assert.equal(refusalOf({ wire, body }), null)
    assert.match(refusalOf({ wire, body: { ...body, unheardOf: 1 } }) ?? '', /unheardOf/)
  }
})
