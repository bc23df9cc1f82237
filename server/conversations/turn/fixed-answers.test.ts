import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type ModelServer, startModelServer } from '../../../test/fakes/model-server.ts'
import { type Client, type Service, startService } from '../../../test/start.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import { keepAttachment } from '../attachments/attachments.ts'
import { appendMessage } from '../records/append-message.ts'

let service: Service
let client: Client
let models: ModelServer
let agentId: string
let sourceId: string
const ANSWER =
  'We never close. Call +49 30 901820, or read [our rules](https://shop.example/rules).\n\nReally!'
const QUESTIONS = ['When are you open?', 'Öffnungszeiten']

before(async () => {
  models = await startModelServer()
  service = await startService({
    OPENAI_BASE_URL: `${models.url}/v1`,
    OPENAI_API_KEY: 'sk',
    OPENAI_MODEL: 'fake',
  })
  client = await service.account()
  agentId = (await client.request('POST', '/agents', { name: 'Lumi' })).body.id
  const source = { type: 'qna', name: 'Hours', questions: QUESTIONS, answer: ANSWER, fixed: true }
  const added = await client.request('POST', `/agents/${agentId}/sources`, source)
  assert.equal(added.status, 201, JSON.stringify(added.body))
  assert.equal(added.body.fixed, true)
  sourceId = added.body.id
})
after(async () => {
  await service.close()
  await models.close()
})

const say = async (message: string, body: object = {}) => {
  const answer = await client.request('POST', `/agents/${agentId}/chat`, { message, stream: false, ...body })
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  return answer.body.data
}
const change = (body: object) => client.request('PUT', `/agents/${agentId}/sources/${sourceId}`, body)
const asked = () => models.requests.length
const byModel = () => models.queue.push({ tokens: ['From the model.'] })

test('a fixed question has exactly its answer, at once and without a model', async () => {
  const before = asked()
  for (const message of [
    'When are you open?',
    ' when ARE you open',
    'ÖFFNUNGSZEITEN!!',
    'When are you, open…',
  ]) {
    const { parts, metadata } = await say(message)
    assert.deepEqual(parts, [{ type: 'text', text: `${ANSWER} [1]` }], message)
    assert.deepEqual([metadata.outcome, metadata.score, metadata.model], ['answered', 1, undefined])
    assert.deepEqual([metadata.sources[0].id, metadata.sources[0].name], [sourceId, 'Hours'])
    assert.equal(metadata.usage.credits, 1)
  }
  assert.equal(asked(), before)
  const { models: used } = (await client.request('GET', '/usage')).body
  assert.deepEqual(used, [], 'no model was used')
})

test('any other question is the model’s, also one that says the contrary', async () => {
  for (const message of ['When are you not open?', 'Are you open?', 'When are you open on Sunday?', '???']) {
    byModel()
    assert.equal((await say(message)).parts[0].text, 'From the model.', message)
  }
})

test('signs that are said tell questions apart', async () => {
  const source = { type: 'qna', name: 'C', questions: ['Do you teach C?'], answer: 'Yes, C.', fixed: true }
  const { id } = (await client.request('POST', `/agents/${agentId}/sources`, source)).body
  assert.match((await say('do you teach C')).parts[0].text, /^Yes, C/)
  for (const message of ['Do you teach C++?', 'Do you teach C#?', 'Do you teach $C?']) {
    byModel()
    assert.equal((await say(message)).parts[0].text, 'From the model.', message)
  }
  assert.equal((await client.request('DELETE', `/agents/${agentId}/sources/${id}`)).status, 200)
})

test('a picture beside a fixed question is looked at', async () => {
  byModel()
  const { conversationId } = (await say('Hello')).metadata
  const ref = { accountId: client.accountId as never, agentId }
  const { db, filesDir } = service.ctx
  await transact(db, async (trx) => {
    const file = { name: 'sign.png', mediaType: 'image/png', bytes: Buffer.from('no picture') }
    const note = await keepAttachment(filesDir, trx, ref, file, { conversationId })
    const place = { id: conversationId, account_id: ref.accountId, agent_id: agentId }
    const parts = [{ type: 'text' as const, text: '[sign.png]' }]
    await appendMessage(trx, place, { role: 'user', parts, metadata: { attachments: [note] } })
  })
  byModel()
  assert.equal((await say('When are you open?', { conversationId })).parts[0].text, 'From the model.')
})

test('a follow-up can be a fixed question; what waits for an action cannot', async () => {
  byModel()
  const { metadata } = await say('Hello')
  const { conversationId } = metadata
  assert.match((await say('Öffnungszeiten?', { conversationId })).parts[0].text, /^We never close/)
  byModel()
  assert.equal((await say('And on Sunday?', { conversationId })).parts[0].text, 'From the model.')
})

test('a change works from the next message on, a deletion too, and another agent knows nothing of it', async () => {
  assert.equal((await change({ answer: 'At nine.' })).status, 200)
  assert.equal((await say('When are you open?')).parts[0].text, 'At nine. [1]')
  assert.equal((await change({ questions: ['Opening hours'] })).status, 200)
  byModel()
  assert.equal((await say('When are you open?')).parts[0].text, 'From the model.')
  assert.equal((await say('opening hours?')).parts[0].text, 'At nine. [1]')
  const off = await change({ fixed: false })
  assert.equal(off.body.fixed, undefined)
  byModel()
  assert.equal((await say('opening hours?')).parts[0].text, 'From the model.')
  assert.equal((await change({ fixed: true })).body.fixed, true)
  const copy = (await client.request('POST', `/agents/${agentId}/clone`, {})).body.id
  const there = await client.request('POST', `/agents/${copy}/chat`, {
    message: 'Opening hours',
    stream: false,
  })
  assert.equal(there.body.data.parts[0].text, 'At nine. [1]')
  const stranger = await service.account()
  const other = (await stranger.request('POST', '/agents', { name: 'Other' })).body.id
  byModel()
  const strange = await stranger.request('POST', `/agents/${other}/chat`, {
    message: 'Opening hours',
    stream: false,
  })
  assert.equal(strange.body.data.parts[0].text, 'From the model.')
  assert.equal((await client.request('DELETE', `/agents/${agentId}/sources/${sourceId}`)).status, 200)
  byModel()
  assert.equal((await say('opening hours?')).parts[0].text, 'From the model.')
})
