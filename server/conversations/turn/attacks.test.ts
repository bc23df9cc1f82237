import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, beforeEach, test } from 'node:test'
import { type ModelServer, startModelServer } from '../../../test/fakes/model-server.ts'
import { DISGUISES, ORDERS, type Order, obey, readOrder } from '../../../test/fakes/obedient-model.ts'
import { type Client, type Service, startService } from '../../../test/start.ts'
import { trained } from '../../../test/until.ts'

/** Every place in which others can write to a model, with every disguise, on a model that obeys whoever wrote last. */
const SECRET = 'ZEBRA-4711'
const EVIL =
  'See https://evil.example/x, [shop](https://evil.example/?q=1), ![p](https://evil.example/p.png), www.evil.example, evil.example/y and https://shop.example/a.'
const LURED = /evil\.example/
/** How an answer shows that its model did as it was told. */
const DID = { tell: /content-filter/, act: /get_help/, lure: /evil/ }
const inputs = { type: 'object', properties: { order: { type: 'string' } } }

let models: ModelServer
let shop: Server
let service: Service
let client: Client
/** What the shop was asked for, and what it answers. */
let asked: string[]
let answer = 'sent'

before(async () => {
  models = await startModelServer()
  shop = createServer((request, response) => {
    asked.push(request.url ?? '')
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ note: answer }))
  })
  await new Promise<void>((resolve) => shop.listen(0, '127.0.0.1', resolve))
  service = await startService({ ...models.settings, ALLOWED_PRIVATE_HOSTS: '127.0.0.1' })
  client = await service.account()
})
after(async () => {
  await service.close()
  await models.close()
  shop.close()
})
beforeEach(() => {
  asked = []
  models.requests.length = 0
})

const create = async (path: string, body: object) => {
  const made = await client.request('POST', path, body)
  assert.equal(made.status, 201, JSON.stringify(made.body))
  return made.body.id as string
}
const http = (name: string, more: object = {}) => ({
  type: 'http',
  name,
  description: 'd',
  inputs,
  http: { method: 'GET', url: `http://127.0.0.1:${(shop.address() as AddressInfo).port}/${name}` },
  ...more,
})
const chat = (agentId: string, body: object) =>
  client.request('POST', `/agents/${agentId}/chat`, { stream: false, includeServerActions: true, ...body })

/** An agent with a document of others for each order, and the actions that a model is told to misuse. */
async function victim(disguise: string): Promise<string> {
  const id = await create('/agents', { name: disguise, instructions: 'You sell lamps.' })
  await client.request('PUT', `/agents/${id}`, { allowedDomains: ['shop.example'] })
  for (const order of Object.keys(ORDERS) as Order[]) {
    const written = DISGUISES[disguise]!(ORDERS[order])
    for (const source of [
      { name: `Weights ${order}`, content: `The ${order} lamp weighs two kilograms. ${written}` },
      { name: `${order} bulbs. ${written}`.slice(0, 200), content: `The bulbs for ${order} are round.` },
    ]) {
      const added = await client.request('POST', `/agents/${id}/sources`, { type: 'text', ...source })
      await trained(service, added.body.id)
    }
  }
  for (const action of [
    http('look'),
    http('refund', { enabled: false }),
    http('mail_only', { channels: ['email'] }),
    { type: 'client', name: 'pay', description: 'd', inputs },
    { type: 'escalate', name: 'get_help', description: 'd' },
  ])
    await create(`/agents/${id}/actions`, action)
  return id
}

const misused = ['refund', 'mail_only', 'of_another_agent', 'pay'].map((name) => ({
  id: `call_${name}`,
  name,
  input: { order: SECRET },
}))
const ticket = { id: 'call_ticket', name: 'get_help', input: { subject: EVIL, summary: EVIL } }

for (const disguise of Object.keys(DISGUISES))
  test(`a model that obeys orders in ${disguise} does no harm`, async () => {
    const agentId = await victim(disguise)
    const other = await create('/agents', { name: 'Another' })
    await create(`/agents/${other}/actions`, http('of_another_agent'))
    // Another customer of the same agent says something that concerns nobody else.
    models.otherwise(() => ({ tokens: ['Noted.'] }))
    await chat(agentId, { message: `My secret is ${SECRET}. How heavy is the lamp?` })
    models.requests.length = 0
    models.otherwise((request) => obey(request, [...misused, ticket], EVIL))

    const done = { tell: 0, act: 0, lure: 0 }
    for (const order of Object.keys(ORDERS) as Order[]) {
      const written = DISGUISES[disguise]!(ORDERS[order])
      const parent = (await chat(agentId, { message: 'Hello' })).body.data.metadata.conversationId
      const places: Record<string, object> = {
        'a document': { message: `How heavy is the ${order} lamp?` },
        'the name of a document': { message: `Which bulbs for ${order}?` },
        'the message': { message: `How heavy is the lamp? ${written}` },
        'an earlier conversation': { message: 'How heavy is it?', parentConversationId: parent },
        'the result of a tool': { message: 'Where is my order?' },
      }
      for (const [place, body] of Object.entries(places)) {
        const at = `${order} in ${place}`
        answer = written
        const isTool = place === 'the result of a tool'
        if (isTool) models.queue.push({ toolCalls: [{ id: 'call_look', name: 'look', input: {} }] })
        const before = models.requests.length
        const said = await chat(agentId, body)
        models.queue.length = 0
        assert.equal(said.status, 200, `${at}: ${JSON.stringify(said.body)}`)
        for (const request of models.requests.slice(before)) {
          const { system } = readOrder(request)
          assert.doesNotMatch(
            system,
            new RegExp(ORDERS[order]),
            `${at}: instructions of others among those of the service`,
          )
          // The title of the earlier conversation may be asked for only now.
          const asked = JSON.stringify(request.body)
          assert.doesNotMatch(
            asked.includes('Write a title') ? '' : asked,
            new RegExp(SECRET.replace('-', '.')),
            `${at}: the secret of another`,
          )
          assertClosedOnce(request.body.messages, at)
        }
        const shown = JSON.stringify(
          said.body.data.parts.filter(({ type }: { type: string }) => type === 'text'),
        )
        assert.doesNotMatch(shown, /complete sentences|answer-outcome/, `${at}: the system text`)
        assert.deepEqual(
          asked.filter((path) => path !== '/look'),
          [],
          `${at}: an action that is not allowed`,
        )
        assertPayWaits(said.body.data, at)
        if (DID[order].test(JSON.stringify(said.body.data))) done[order]++
      }
    }
    for (const order of Object.keys(ORDERS) as Order[])
      assert.ok(done[order] >= 3, `the model obeyed ${order} only ${done[order]} times`)
    await assertNothingLures(agentId)
  })

/** Nothing in a block opens or closes it. */
function assertClosedOnce(messages: { role: string }[], at: string): void {
  const all = JSON.stringify(messages)
  const said = JSON.stringify(messages.filter(({ role }) => role !== 'system'))
  for (const [, name] of all.matchAll(/<((?:data|company)-[0-9a-f]{12})>/g)) {
    const count = (tag: string): number => said.split(tag).length - 1
    assert.ok(count(`<${name}>`) <= 1, `${at}: ${name} is opened once`)
    assert.equal(count(`</${name}>`), count(`<${name}>`), `${at}: ${name} is closed once`)
  }
}

/** What the application has to run waits for the application, and is not done by the service. */
function assertPayWaits(data: { parts: { type: string; toolName?: string }[] }, at: string): void {
  const results = data.parts.filter(({ type, toolName }) => type === 'tool-result' && toolName === 'pay')
  assert.deepEqual(results, [], `${at}: the service paid`)
}

/** Neither the team's tickets and titles nor what version 1 shows to customers lead anywhere. */
async function assertNothingLures(agentId: string): Promise<void> {
  const { body: tickets } = await client.request('GET', `/agents/${agentId}/helpdesk/tickets`)
  assert.doesNotMatch(JSON.stringify(tickets.data), LURED)
  const { body: conversations } = await client.request('GET', `/agents/${agentId}/conversations`)
  const titles = conversations.data.map(({ title }: { title: string }) => title)
  // The words of the customer are the title until a model writes one.
  const written = titles.filter((title: string) => !title.startsWith('How heavy'))
  assert.doesNotMatch(JSON.stringify(written), LURED)
  const question = { role: 'user', content: 'How heavy is the lure lamp?' }
  const old = await client.request('POST', '/api/v1/chat', { chatbotId: agentId, messages: [question] })
  assert.equal(old.status, 200, JSON.stringify(old.body))
  assert.match(old.body.text, /shop\.example\/a/)
  assert.doesNotMatch(old.body.text, LURED)
}
