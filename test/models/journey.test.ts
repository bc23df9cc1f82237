import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { providers } from '../../server/ai/catalogue/catalogue.ts'
import { type ModelServer, startModelServer } from '../fakes/model-server.ts'
import type { ModelRequest, Reply } from '../fakes/reply.ts'
import { startService } from '../start.ts'
import { entriesOf, journey } from './journey.ts'
import { defaultModel, type Reachable } from './reachable-models.ts'

/** The journey of `npm run test:models` with models that do as they are asked, on servers that check every request. */
let strict: ModelServer
/** The types of OpenAI itself do not know the reasoning that other servers send. */
let lenient: ModelServer
let folder: string

const LENGTH = {
  chat: 'length',
  responses: 'max_output_tokens',
  anthropic: 'max_tokens',
  google: 'MAX_TOKENS',
}
const NAMES: Record<Reachable['provider'], string> = {
  openai: 'gpt-4o',
  'openai-responses': defaultModel('openai'),
  anthropic: defaultModel('anthropic'),
  google: defaultModel('google'),
  'openai-compatible': 'local',
}

before(async () => {
  strict = await startModelServer({ isStrict: true })
  lenient = await startModelServer({ isStrict: 'rules' })
  for (const server of [strict, lenient]) server.otherwise(obedient)
  folder = await mkdtemp(join(tmpdir(), 'journeys-'))
})
after(async () => {
  await strict.close()
  await lenient.close()
  await rm(folder, { recursive: true })
})

const WISHES = ['note_person', 'show_map', 'a story', 'Which colour', 'password', 'warranty of']
const PERSON = { id: 'call_1', name: 'note_person', input: { name: 'Ann Berg', email: 'ann@example.com' } }
const MAP = { id: 'call_2', name: 'show_map', input: { place: 'Oslo' } }

/** Answers the customer's last message, calling an action at most once. */
function obedient({ wire, body }: ModelRequest): Reply {
  const talk = JSON.stringify(body.messages ?? body.input ?? body.contents)
  const wish = WISHES.toSorted((a, b) => talk.lastIndexOf(b) - talk.lastIndexOf(a))[0] ?? ''
  const done = Math.max(talk.lastIndexOf('success'), talk.lastIndexOf('shown'))
  if (done > talk.lastIndexOf(wish)) return { tokens: ['It is done.'] }
  switch (wish) {
    case 'note_person':
      return { ...(body.model === NAMES.openai ? {} : { reasoning: 'I note her.' }), toolCalls: [PERSON] }
    case 'show_map':
      return { toolCalls: [MAP] }
    case 'a story':
      return { tokens: ['Once upon a time'], finishReason: LENGTH[wire as keyof typeof LENGTH] }
    case 'Which colour':
      return { tokens: [/iVBOR|\/9j\/|UklGR/.test(talk) ? 'Red.' : 'I see nothing.'] }
    case 'password':
      return { tokens: ['I cannot help with that.'] }
    default:
      return { tokens: ['Five years [1].'] }
  }
}

const thinking = new Set<Reachable['provider']>([
  'openai-responses',
  'anthropic',
  'google',
  'openai-compatible',
])

for (const provider of providers)
  test(`a journey with ${provider}`, async () => {
    const server = provider === 'openai-compatible' ? lenient : strict
    const model = {
      id: provider,
      provider,
      name: NAMES[provider],
      baseUrl: `${server.url}/${provider === 'google' ? 'v1beta' : 'v1'}`,
      apiKey: 'k',
      more: { vision: provider !== 'openai-compatible', searches: false },
    }
    const file = join(folder, `${provider}.json`)
    await writeFile(file, JSON.stringify({ models: entriesOf(model) }))
    const service = await startService({ MODELS_FILE: file, ALLOWED_PRIVATE_HOSTS: '127.0.0.1' })
    const found = await journey(service, await service.account(), model)
    await service.close()
    assert.deepEqual(server.refusals, [])
    assert.deepEqual(
      found.filter(({ result }) => result === 'fails'),
      [],
    )
    const results = Object.fromEntries(found.map(({ step, result }) => [step, result]))
    assert.deepEqual(
      results,
      {
        'answer with a citation': 'works',
        'tool loop': 'works',
        'client action over a reload': 'works',
        refusal: 'works',
        injection: 'works',
        length: 'works',
        'reasoning kept': thinking.has(provider) ? 'works' : 'not tried',
        image: provider === 'openai-compatible' ? 'not tried' : 'works',
        fallback: 'works',
        // The servers here have no cache.
        caching: 'otherwise',
      },
      JSON.stringify(found, null, 1),
    )
  })
