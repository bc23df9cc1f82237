import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, describe, test } from 'node:test'
import { type ModelServer, startModelServer } from '../../../test/fakes/model-server.ts'
import { NEVER, type Reply } from '../../../test/fakes/reply.ts'
import { type Client, type Service, startService } from '../../../test/start.ts'
import { standInsFor } from './ask-model.ts'

/** The replies of each model, in order; the last one is repeated. */
const replies = new Map<string, Reply[]>()
let server: ModelServer
let service: Service
let client: Client
let folder: string
let agentId: string

before(async () => {
  server = await startModelServer()
  server.otherwise(({ body }) => {
    const own = replies.get(body.model) ?? []
    return (own.length > 1 ? own.shift() : own[0]) ?? { tokens: ['A title'] }
  })
  folder = await mkdtemp(join(tmpdir(), 'stand-ins-'))
  const file = join(folder, 'models.json')
  const model = (id: string, more: object = {}) => ({
    id,
    provider: 'openai-compatible',
    baseUrl: `${server.url}/v1`,
    ...more,
  })
  const models = [
    model('first', { credits: 2, fallbacks: ['second', 'third'] }),
    model('slow', { credits: 2, fallbacks: ['second'], timeouts: { firstToken: 300, idle: 300 } }),
    model('second', { credits: 5 }),
    model('third', { credits: 1 }),
    model('alone', { credits: 2 }),
    model('titles'),
  ]
  await writeFile(file, JSON.stringify({ models }))
  service = await startService({ MODELS_FILE: file })
  client = await service.account()
  agentId = await agentWith(client, 'first')
})
after(async () => {
  await service.close()
  await server.close()
  await rm(folder, { recursive: true })
})
beforeEach(() => {
  replies.clear()
  server.requests.length = 0
})

async function agentWith(owner: Client, model: string): Promise<string> {
  const made = await owner.request('POST', '/agents', { name: model, model })
  assert.equal(made.status, 201, JSON.stringify(made.body))
  return made.body.id
}

async function used(owner: Client): Promise<number> {
  return (await owner.request('GET', '/me')).body.credits.used
}

/** Asks a question, and returns what the customer sees, who answered, and what it cost. */
async function ask(given: Record<string, Reply[]>, { of = agentId, by = client } = {}) {
  for (const [name, own] of Object.entries(given)) replies.set(name, own)
  const before = await used(by)
  const { status, body } = await by.request('POST', `/agents/${of}/chat`, { message: 'Hi?', stream: false })
  const parts: { text?: string }[] = body.data?.parts ?? []
  const asked = server.requests.filter(({ body: sent }) => !/Write a title/.test(JSON.stringify(sent)))
  return {
    status,
    text: parts.map(({ text = '' }) => text).join(''),
    code: body.error?.code ?? null,
    model: body.data?.metadata.model ?? null,
    finishReason: body.data?.metadata.finishReason ?? null,
    told: body.data?.metadata.usage.credits ?? null,
    paid: (await used(by)) - before,
    asked: asked.map(({ body: sent }) => sent.model).join(' '),
    bodies: asked.map(({ body: sent }) => sent),
    conversationId: body.data?.metadata.conversationId,
  }
}

const OK = [{ tokens: ['Hello.'] }]

describe('a model that fails before its first word is replaced by its fallbacks in order, at their price', () => {
  const failures: [string, Reply[], RegExp][] = [
    ['refuses the request', [{ status: 400 }], /^first second$/],
    ['is overloaded, which is tried again', [{ status: 503 }], /^(first ){2,3}second$/],
    ['is rate limited for a moment', [{ status: 429, retryAfter: 0 }], /^(first ){2,3}second$/],
    ['is rate limited for long', [{ status: 429, retryAfter: 60 }], /^first second$/],
    ['answers without a word, twice', [{}], /^first first second$/],
    ['ends in its reasoning, twice', [{ reasoning: 'Hm', finishReason: 'length' }], /^first first second$/],
  ]
  for (const [what, own, asked] of failures)
    test(`it ${what}`, async () => {
      const seen = await ask({ first: own, second: OK })
      assert.match(seen.asked, asked)
      assert.deepEqual(
        [seen.status, seen.text, seen.model, seen.told, seen.paid],
        [200, 'Hello.', 'second', 5, 5],
      )
    })

  test('it does not begin in time, or thinks and then says nothing more', async () => {
    const of = await agentWith(client, 'slow')
    for (const slow of [{ after: NEVER }, { reasoning: 'Hm', tokens: ['x'], stallAfter: 0 }]) {
      server.requests.length = 0
      const seen = await ask({ slow: [slow], second: OK }, { of })
      assert.deepEqual([seen.text, seen.model, seen.paid, seen.asked], ['Hello.', 'second', 5, 'slow second'])
    }
  })

  test('the next one is asked when a fallback fails as well', async () => {
    const seen = await ask({ first: [{ status: 400 }], second: [{ status: 401 }], third: OK })
    assert.deepEqual([seen.text, seen.model, seen.told, seen.paid], ['Hello.', 'third', 1, 1])
    const path = `/agents/${agentId}/conversations/${seen.conversationId}/messages`
    const stored = (await client.request('GET', path)).body.data
    assert.equal(stored.at(-1).metadata.model, 'third')
  })

  test('when all fail, the error is told and nothing is paid', async () => {
    const seen = await ask({
      first: [{ status: 400 }],
      second: [{ status: 400 }],
      third: [{ status: 400 }],
    })
    assert.deepEqual([seen.status, seen.code, seen.paid], [502, 'CHAT_PROVIDER_ERROR', 0])
  })
})

test('what has been shown is never replaced', async () => {
  const seen = await ask({ first: [{ tokens: ['Hello', ' there'], garbageAfter: 1 }], second: OK })
  assert.equal(seen.asked, 'first')
  assert.deepEqual([seen.text, seen.finishReason, seen.model], ['Hello', 'error', null])
})

test('what a provider refuses to say is not asked elsewhere, and not paid', async () => {
  const seen = await ask({ first: [{ finishReason: 'content_filter' }], second: OK })
  assert.deepEqual([seen.text, seen.paid, /second/.test(seen.asked)], ['', 0, false])
})

test('an answer that ended in its reasoning is asked again with more room, once, and is paid only with words', async () => {
  const of = await agentWith(client, 'alone')
  const cut = { reasoning: 'Hm', finishReason: 'length' }
  const seen = await ask({ alone: [cut, ...OK] }, { of })
  assert.deepEqual([seen.text, seen.paid, seen.asked], ['Hello.', 2, 'alone alone'])
  assert.deepEqual(
    seen.bodies.map(({ max_tokens }) => max_tokens),
    [2_000, 4_000],
  )
  server.requests.length = 0
  const silent = await ask({ alone: [cut] }, { of })
  assert.deepEqual([silent.text, silent.paid, silent.asked], ['', 0, 'alone alone'])
})

test('a fallback for which there are no credits is passed over', async () => {
  const of = await agentWith(client, 'first')
  await client.request('PUT', `/agents/${of}`, { creditLimit: 3 })
  const seen = await ask({ first: [{ status: 400 }], second: OK, third: [{ tokens: ['Cheap.'] }] }, { of })
  assert.deepEqual([seen.text, seen.model, seen.paid, seen.asked], ['Cheap.', 'third', 1, 'first third'])
})

test('a fallback that the plan does not include is none', () => {
  const first = service.ctx.models.resolve('first')!
  const idsFor = (plan: string) =>
    standInsFor(service.ctx, { account: { id: client.accountId, plan } }, first).map(({ entry }) => entry.id)
  assert.deepEqual(idsFor('unlimited'), ['second', 'third'])
  assert.deepEqual(idsFor('free'), [])
})

test('another model continues after calls that nobody sees, without what only the first one can read', async () => {
  const of = await agentWith(client, 'first')
  const procedure = { name: 'Late order', trigger: 'An order is late', steps: ['Say sorry.'] }
  const made = await client.request('POST', `/agents/${of}/procedures`, procedure)
  assert.equal(made.status, 201, JSON.stringify(made.body))
  await client.request('PUT', `/agents/${of}/procedures/${made.body.id}`, { enabled: true })
  const call = { id: 'call_1', name: 'start_procedure', input: { name: 'Late order' } }
  const seen = await ask(
    { first: [{ reasoning: 'My secret', toolCalls: [call] }, { status: 400 }], second: OK },
    { of },
  )
  assert.deepEqual([seen.text, seen.model, seen.asked], ['Hello.', 'second', 'first first second'])
  const [, first, second] = seen.bodies.map((sent) => JSON.stringify(sent))
  assert.match(first!, /My secret/)
  assert.doesNotMatch(second!, /My secret/)
  assert.match(second!, /start_procedure/)
})
