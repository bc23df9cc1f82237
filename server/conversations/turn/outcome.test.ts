import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type ModelServer, startModelServer } from '../../../test/fakes/model-server.ts'
import { readStream } from '../../../test/read-stream.ts'
import { type Client, type Service, startService } from '../../../test/start.ts'
import { trained } from '../../../test/until.ts'
import { providers } from '../../ai/catalogue/catalogue.ts'
import { findUnanswered } from '../insights/unanswered/find-unanswered.ts'
import { reportOf } from '../prompt/outcome-report.ts'

let service: Service
let client: Client
let models: ModelServer
let folder: string
const QUESTION = 'How long is the warranty of the Halo lamp?'
const agents = new Map<string, string>()

before(async () => {
  models = await startModelServer()
  folder = await mkdtemp(join(tmpdir(), 'outcome-'))
  const file = join(folder, 'models.json')
  const entries = providers.map((provider) => ({
    id: provider,
    provider,
    name:
      provider === 'anthropic'
        ? 'claude-haiku-5-5'
        : provider === 'google'
          ? 'gemini-3.5-flash-lite'
          : 'fake',
    baseUrl: `${models.url}/${provider === 'google' ? 'v1beta' : 'v1'}`,
    apiKey: 'sk-test-key',
  }))
  await writeFile(file, JSON.stringify({ models: entries }))
  service = await startService({ MODELS_FILE: file })
  client = await service.account()
  const source = { type: 'text', name: 'Warranty', content: 'The Halo lamp has a warranty of five years.' }
  for (const provider of providers) {
    const { id } = (await client.request('POST', '/agents', { name: provider, model: provider })).body
    agents.set(provider, id)
    await trained(service, (await client.request('POST', `/agents/${id}/sources`, source)).body.id)
  }
})
after(async () => {
  await service.close()
  await models.close()
  await rm(folder, { recursive: true, force: true })
})

/** Splits a text into tokens of a few characters. */
const inTokens = (text: string): string[] => text.match(/[\s\S]{1,3}/g) ?? []

const say = async (provider: string, body: object) =>
  (await client.request('POST', `/agents/${agents.get(provider)}/chat`, { stream: false, ...body })).body.data

for (const provider of providers)
  test(`${provider}: the model reports the outcome, and nobody reads the report`, async () => {
    models.queue.push({ tokens: inTokens(`Five years [1].\n${reportOf('answered')}`) })
    const response = await client.raw('POST', `/agents/${agents.get(provider)}/chat`, {
      body: JSON.stringify({ message: QUESTION }),
      headers: { 'content-type': 'application/json' },
    })
    const { events, text } = await readStream(response)
    assert.equal(text.trimEnd(), 'Five years [1].')
    assert.doesNotMatch(JSON.stringify(events), /outcome>|tool-/)
    assert.equal(events.filter(({ event }) => event === 'start-step').length, 1)
    const { data } = events.find(({ event }) => event === 'finish') ?? {}
    const { conversationId } =
      (data as { messageMetadata?: { conversationId?: string } }).messageMetadata ?? {}
    assert.ok(conversationId)
    const path = `/agents/${agents.get(provider)}/conversations/${conversationId}/messages`
    const stored = (await client.request('GET', path)).body.data.at(-1)
    assert.deepEqual(stored.parts, [{ type: 'text', text: 'Five years [1].' }])
    assert.equal(stored.metadata.outcome, 'answered')
    // The prompt of the next turn contains the answer with its report.
    models.queue.push({ tokens: inTokens(`I do not know.\n${reportOf('not_found')}`) })
    const next = await say(provider, { message: 'And of the bulb?', conversationId })
    assert.deepEqual(
      [next.parts.at(-1).text.trimEnd(), next.metadata.outcome],
      ['I do not know.', 'not_found'],
    )
    const asked = models.requests.findLast(({ body }) => JSON.stringify(body).includes('And of the bulb?'))
    assert.match(JSON.stringify(asked?.body), /Five years[^"]*<answer-outcome>answered/)
  })

test('an answer is only answered if it names a source or a call succeeded', async () => {
  const outcomeOf = async (text: string) => {
    models.queue.push({ tokens: inTokens(text) })
    return (await say('openai-compatible', { message: QUESTION })).metadata.outcome
  }
  assert.equal(await outcomeOf(`Five years.\n${reportOf('answered')}`), null)
  assert.equal(await outcomeOf(`Five years [7].\n${reportOf('partly')}`), null)
  assert.equal(await outcomeOf(`Five years [1].\n${reportOf('partly')}`), 'partly')
  assert.equal(await outcomeOf(`I pass you on.\n${reportOf('handed_over')}`), null)
  assert.equal(await outcomeOf(`No.\n${reportOf('refused')}`), 'refused')
  assert.equal(await outcomeOf('Five years [1].'), null)
  assert.equal(await outcomeOf('Five years [1].\n<answer-outc'), null)
})

test('a person is offered when nothing was found and the agent may escalate, and a call hands over', async () => {
  const provider = 'anthropic'
  const escalate = { name: 'ask_team', type: 'escalate', description: 'When a person is wanted' }
  const added = await client.request('POST', `/agents/${agents.get(provider)}/actions`, escalate)
  assert.equal(added.status, 201)
  models.queue.push({ tokens: inTokens(`I do not know.\n${reportOf('not_found')}`) })
  const { metadata } = await say(provider, { message: 'Do you sell sofas?' })
  assert.deepEqual([metadata.outcome, metadata.offer], ['not_found', 'person'])
  const input = { subject: 'Sofas', summary: 'The customer wants a sofa.' }
  models.queue.push(
    { toolCalls: [{ id: 'call-1', name: 'ask_team', input }] },
    { tokens: inTokens(`I passed it on.\n${reportOf('handed_over')}`) },
  )
  const over = await say(provider, { message: 'A person, please' })
  assert.deepEqual([over.metadata.outcome, over.metadata.offer], ['handed_over', undefined])
})

test('what a model reports decides whether a question was left open', () => {
  const row = (role: 'user' | 'assistant', text: string, metadata: object | null = null) => ({
    id: text,
    role,
    parts: [{ type: 'text' as const, text }],
    metadata,
    created_at: new Date(0),
  })
  const open = (metadata: object) =>
    // biome-ignore lint/suspicious/noExplicitAny: a row has more columns than are read
    findUnanswered([row('user', 'Do you sell sofas?'), row('assistant', 'Hm', metadata)] as any).length
  assert.equal(open({ score: 0.9, outcome: 'not_found', model: 'm', sources: [{}] }), 1)
  assert.equal(open({ score: 0.9, outcome: 'partly', model: 'm' }), 1)
  assert.equal(open({ score: 0, outcome: 'refused', model: 'm' }), 0)
  assert.equal(open({ score: 0, outcome: 'answered', model: 'm' }), 0)
})

test('values that the model was not given are marked at the message, and nothing of the answer changes', async () => {
  const text = 'The Halo lamp has a warranty of 7 years [1]. Write to help@elsewhere.example.'
  models.queue.push({ tokens: inTokens(text) })
  const { parts, metadata } = await say('openai-compatible', { message: QUESTION })
  assert.equal(parts.at(-1).text, text)
  const ungrounded = [
    { kind: 'email', text: 'help@elsewhere.example' },
    { kind: 'number', text: '7' },
  ]
  assert.deepEqual(metadata.ungrounded, ungrounded)
  const path = `/agents/${agents.get('openai-compatible')}/conversations/${metadata.conversationId}/messages`
  assert.deepEqual((await client.request('GET', path)).body.data.at(-1).metadata.ungrounded, ungrounded)
  // What the customer wrote is given, and what was marked before is not.
  const next = async (answer: string, message: string) => {
    models.queue.push({ tokens: inTokens(answer) })
    const { conversationId } = metadata
    return (await say('openai-compatible', { message, conversationId })).metadata.ungrounded
  }
  assert.equal(await next('Order 4711 is on its way.', 'Where is order 4711?'), undefined)
  assert.deepEqual(await next('As I said, 7 years.', 'How long?'), [{ kind: 'number', text: '7' }])
})
