import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type ModelServer, startModelServer } from '../../../test/fakes/model-server.ts'
import { type Client, type Service, startService } from '../../../test/start.ts'

/** Models that think, and refuse a request without what they thought before a call. */
const THINKING = {
  'openai-compatible': 'deepseek-reasoner',
  'openai-responses': 'gpt-5.4',
  anthropic: 'claude-sonnet-5-5',
  google: 'gemini-3.8-pro',
}
type Provider = keyof typeof THINKING
const providers = Object.keys(THINKING) as Provider[]

let strict: ModelServer
/** The types of OpenAI itself do not know the reasoning that other servers send. */
let lenient: ModelServer
let service: Service
let client: Client
let folder: string

before(async () => {
  strict = await startModelServer({ isStrict: true })
  lenient = await startModelServer({ isStrict: 'rules' })
  folder = await mkdtemp(join(tmpdir(), 'thinking-wires-'))
  const file = join(folder, 'models.json')
  const models = providers.map((provider) => ({
    id: provider,
    provider,
    name: THINKING[provider],
    reasoning: 'high',
    searches: false,
    baseUrl: `${serverOf(provider).url}/${provider === 'google' ? 'v1beta' : 'v1'}`,
    apiKey: 'k',
  }))
  await writeFile(file, JSON.stringify({ models }))
  service = await startService({ MODELS_FILE: file })
  client = await service.account()
})
after(async () => {
  await service.close()
  await strict.close()
  await lenient.close()
  await rm(folder, { recursive: true })
})

const serverOf = (provider: Provider): ModelServer => (provider === 'openai-compatible' ? lenient : strict)

for (const provider of providers)
  test(`${provider}: what was thought goes back within a turn, after an action of the application and in the next turn`, async () => {
    const server = serverOf(provider)
    const { id } = (await client.request('POST', '/agents', { name: provider, model: provider })).body
    const properties = { place: { type: 'string' } }
    for (const action of [
      { type: 'collect-leads', name: 'note_person', description: 'Notes who asks' },
      {
        type: 'client',
        name: 'show_map',
        description: 'Shows the way',
        inputs: { type: 'object', properties },
      },
    ])
      assert.equal((await client.request('POST', `/agents/${id}/actions`, action)).status, 201)
    const chat = async (body: object) => {
      const { data } = (await client.request('POST', `/agents/${id}/chat`, { stream: false, ...body })).body
      assert.deepEqual(server.refusals, [])
      return data
    }
    const lead = { name: 'Ann', email: 'ann@example.com' }
    server.queue.push(
      { reasoning: 'Note it first.', toolCalls: [{ id: 'call_1', name: 'note_person', input: lead }] },
      {
        reasoning: 'Now the map.',
        toolCalls: [{ id: 'call_2', name: 'show_map', input: { place: 'Oslo' } }],
      },
    )
    const { metadata, parts } = await chat({ message: 'I am Ann. Where are you?' })
    assert.equal(metadata.finishReason, 'tool-calls')
    const { conversationId } = metadata
    const { toolCallId } = parts.find(({ type }: { type: string }) => type === 'tool-call')
    const path = `/agents/${id}/conversations/${conversationId}`
    await client.request('POST', `${path}/tool-result`, { toolCallId, output: { shown: true } })
    server.queue.push({ reasoning: 'It is shown.', tokens: ['There it is.'] })
    await chat({ conversationId })
    server.queue.push({ tokens: ['You are welcome.'] })
    await chat({ conversationId, message: 'Thanks' })
    const last = JSON.stringify(
      server.requests.findLast(({ body }) => /Thanks/.test(JSON.stringify(body)))!.body,
    )
    for (const sign of provider === 'google' ? ['sealed'] : ['Note it first.', 'Now the map.'])
      assert.ok(last.includes(sign), sign)
    const reasoning = (messages: { metadata?: { reasoning?: string } }[]) =>
      messages.map((message) => message.metadata?.reasoning ?? null)
    const exported = `/agents/${id}/conversations/export?conversationId=${conversationId}`
    assert.deepEqual(reasoning((await client.request('GET', exported)).body.data[0].messages), [
      null,
      'Note it first.\n\nNow the map.\n\nIt is shown.',
      null,
      null,
    ])
    // Applications may show what these return to customers.
    const shown = (await client.request('GET', `${path}/messages?includeServerActions=true`)).body.data
    assert.deepEqual(reasoning(shown), [null, null, null, null])
  })
