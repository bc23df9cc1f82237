import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type ModelServer, startModelServer } from '../../../test/fakes/model-server.ts'
import { type Client, type Service, startService } from '../../../test/start.ts'
import { refreshDays } from '../insights/days/refresh-days.ts'

let service: Service
let client: Client
let models: ModelServer
let agentId: string

before(async () => {
  models = await startModelServer()
  service = await startService(models.settings)
  client = await service.account()
  agentId = (await client.request('POST', '/agents', { name: 'Lumi' })).body.id
  const forbiddenTopics = [
    { topic: 'Legal\nadvice', say: 'Please ask your lawyer.', escalate: true },
    { topic: 'Other shops', say: null, escalate: false },
  ]
  const path = `/agents/${agentId}/guardrails`
  assert.equal((await client.request('PUT', path, { forbiddenTopics })).status, 200)
  const action = { name: 'ask_people', type: 'escalate', description: 'Asks a person.', enabled: true }
  assert.equal((await client.request('POST', `/agents/${agentId}/actions`, action)).status, 201)
})
after(async () => {
  await service.close()
  await models.close()
})

async function say(...tokens: string[]) {
  models.queue.push({ tokens })
  const chat = { message: 'Can I sue them?', stream: false }
  const { data } = (await client.request('POST', `/agents/${agentId}/chat`, chat)).body
  const at = `/agents/${agentId}/conversations/${data.metadata.conversationId}`
  const { messages } = (await client.request('GET', at)).body.data
  const { data: explained } = (await client.request('GET', `${at}/messages/${data.id}/explanation`)).body
  return { text: data.parts[0].text, shown: messages[1].metadata, explained }
}

test('the model reads the topics in the words of the owner', async () => {
  await say('Hello.')
  const asked = JSON.stringify(models.requests.find((one) => JSON.stringify(one).includes('Can I sue')))
  assert.match(asked, /1\. Legal advice\. Say[^:]*: Please ask your lawyer\. Then call ask_people\./)
  assert.match(asked, /2\. Other shops\./)
})

for (const [report, topic, outcome] of [
  ['<answer-outcome>refused 1</answer-outcome>', 'Legal\nadvice', 'refused'],
  ['<answer-outcome>refused 2</answer-outcome>', 'Other shops', 'refused'],
  ['refused 2', 'Other shops', 'refused'],
  ['{"answer-outcome": "refused 2"}', 'Other shops', 'refused'],
  // Without a call, nobody was told; the topic was reported all the same.
  ['<answer-outcome>handed_over 2</answer-outcome>', 'Other shops', null],
  ['<answer-outcome>refused</answer-outcome>', undefined, 'refused'],
  ['<answer-outcome>refused 3</answer-outcome>', undefined, 'refused'],
  ['<answer-outcome>refused 0</answer-outcome>', undefined, 'refused'],
  ['<answer-outcome>not_found 1</answer-outcome>', undefined, 'not_found'],
] as const)
  test(`what is reported as ${report} shows ${topic ?? 'no topic'}, to the team alone`, async () => {
    const { text, shown, explained } = await say('I cannot help ', 'with that.\n', ...report)
    assert.equal(text, 'I cannot help with that.')
    assert.deepEqual([shown.forbiddenTopic, shown.outcome], [topic, outcome])
    assert.deepEqual([explained.forbiddenTopic, explained.outcome], [topic, outcome])
  })

test('insights count the answers about each topic', async () => {
  await refreshDays(service.ctx.db, { impatient: true })
  const { body } = await client.request('GET', `/agents/${agentId}/insights`)
  assert.deepEqual(body.totals.forbiddenTopics, [
    { topic: 'Other shops', answers: 4 },
    { topic: 'Legal\nadvice', answers: 1 },
  ])
})
