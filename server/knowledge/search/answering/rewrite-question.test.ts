import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type ModelServer, startModelServer } from '../../../../test/fakes/model-server.ts'
import { type Client, type Service, startService } from '../../../../test/start.ts'
import { trained } from '../../../../test/until.ts'

let models: ModelServer
let service: Service
let client: Client
let agentId: string

before(async () => {
  models = await startModelServer()
  service = await startService({
    OPENAI_BASE_URL: `${models.url}/v1`,
    OPENAI_API_KEY: 'sk-test',
    OPENAI_MODEL: 'fake-model',
  })
  client = await service.account()
  agentId = (await client.request('POST', '/agents', { name: 'Agent' })).body.id
  const facts = ['The desk lamp weighs two kilograms.', 'The ladder weighs nine kilograms.']
  for (const [i, content] of facts.entries()) {
    const source = { type: 'text', name: `Fact ${i}`, content }
    const { id } = (await client.request('POST', `/agents/${agentId}/sources`, source)).body
    await trained(service, id)
  }
})
after(async () => {
  await service.close()
  await models.close()
})

const REWRITE = 'Rewrite the last question'
const asked = () => models.requests.filter(({ body }) => JSON.stringify(body).includes(REWRITE))
let requestsBefore = 0
const say = async (message: string, conversationId?: string) => {
  requestsBefore = models.requests.length
  const question = { stream: false, message, conversationId }
  return (await client.request('POST', `/agents/${agentId}/chat`, question)).body.data
}

/** Returns the first passage that the model was given with the last question. */
function firstPassage(): string {
  const sent = models.requests.slice(requestsBefore)
  const { body } = sent.find(({ body: one }) => /<passage/.test(JSON.stringify(one)))!
  return /<passage number="1"[^>]*>\n(.*)\n/.exec(body.messages.at(-1).content)?.[1] ?? ''
}

test('the model completes a follow-up question, for the search only, and it costs nothing', async () => {
  models.otherwise(({ body }) =>
    JSON.stringify(body).includes(REWRITE)
      ? { tokens: ['How much does', ' the ladder weigh?'] }
      : { tokens: ['Nine.'] },
  )
  const first = await say('Do you have ladders?')
  assert.equal(asked().length, 0, 'the first question of a talk stands alone')
  const { conversationId } = first.metadata
  const second = await say('And how heavy is it?', conversationId)
  assert.equal(asked().length, 1)
  assert.match(JSON.stringify(asked()[0]!.body), /customer[^:]*:[^:]*Do you have ladders\?/)
  assert.match(firstPassage(), /ladder weighs nine/)
  assert.deepEqual(second.metadata.usage, { credits: 1 })
  const { body } = await client.request('GET', `/agents/${agentId}/conversations/${conversationId}/messages`)
  const texts = JSON.stringify(body.data)
  assert.match(texts, /And how heavy is it\?/)
  assert.doesNotMatch(texts, /How much does the ladder weigh/)

  await say('Please tell me the exact weight of your desk lamp in kilograms', conversationId)
  assert.equal(asked().length, 1, 'a whole question is searched as it is')
})

test('a wrong rewrite does not take away what the customer’s own words find', async () => {
  for (let i = 0; i < 10; i++) {
    const source = {
      type: 'text',
      name: `Stairs ${i}`,
      content: `Stairs number ${i} are made of oak.`,
    }
    await trained(service, (await client.request('POST', `/agents/${agentId}/sources`, source)).body.id)
  }
  models.otherwise(({ body }) =>
    JSON.stringify(body).includes(REWRITE)
      ? { tokens: ['What are the stairs made of, oak?'] }
      : { tokens: ['Two.'] },
  )
  const { conversationId } = (await say('Do you have ladders?')).metadata
  await say('And the desk lamp?', conversationId)
  const { body } = models.requests.findLast(({ body: one }) => /<passage/.test(JSON.stringify(one)))!
  assert.match(body.messages.at(-1).content, /desk lamp weighs two/)
  assert.match(body.messages.at(-1).content, /made of oak/)
})

test('when rewriting fails or returns nonsense, the question is used unchanged', async () => {
  const { conversationId } = (await say('What is the weight of the desk lamp?')).metadata
  models.otherwise(({ body }) =>
    JSON.stringify(body).includes(REWRITE) ? { status: 400 } : { tokens: ['Two.'] },
  )
  assert.equal((await say('And how much exactly?', conversationId)).parts[0].text, 'Two.')
  assert.match(firstPassage(), /desk lamp weighs two/)
  models.otherwise(({ body }) =>
    JSON.stringify(body).includes(REWRITE)
      ? { tokens: ['How heavy is the ladder? '.repeat(20)] }
      : { tokens: ['Two.'] },
  )
  const again = (await say('What is the weight of the desk lamp?')).metadata
  await say('And how much, please?', again.conversationId)
  assert.match(firstPassage(), /desk lamp weighs two/)
})

test('without a model, a follow-up is searched together with the question before', async () => {
  await client.request('PUT', `/agents/${agentId}`, { model: 'builtin' })
  const first = await say('How much does the desk lamp weigh?')
  assert.match(first.parts[0].text, /The desk lamp weighs two kilograms\. \[1\]/)
  const { conversationId } = first.metadata
  const second = await say('And the ladder?', conversationId)
  assert.match(second.parts[0].text, /The ladder weighs nine kilograms/)
  const third = await say('And in kilograms?', conversationId)
  assert.match(third.parts[0].text, /The ladder weighs nine kilograms/)
  const thanks = await say('Thanks!', conversationId)
  assert.equal(thanks.parts[0].text, 'Hello! What would you like to know?')
  assert.deepEqual([thanks.metadata.outcome, thanks.metadata.sources], [null, []])
})
