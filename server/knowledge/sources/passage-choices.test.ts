import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type ModelServer, startModelServer } from '../../../test/fakes/model-server.ts'
import { type Client, type Service, startService } from '../../../test/start.ts'
import { trained } from '../../../test/until.ts'

let models: ModelServer
let service: Service
let client: Client
let stranger: Client

before(async () => {
  models = await startModelServer()
  service = await startService({
    OPENAI_BASE_URL: `${models.url}/v1`,
    OPENAI_API_KEY: 'none',
    OPENAI_MODEL: 'fake-model',
  })
  client = await service.account()
  stranger = await service.account()
})
after(async () => {
  await service.close()
  await models.close()
})

const newAgent = async (): Promise<string> =>
  (await client.request('POST', '/agents', { name: 'Agent' })).body.id

async function add(agentId: string, source: object): Promise<string> {
  const { status, body } = await client.request('POST', `/agents/${agentId}/sources`, source)
  assert.equal(status, 201, JSON.stringify(body))
  await trained(service, body.id)
  return body.id
}
const text = (name: string, content: string) => ({ type: 'text', name, content })

async function change(agentId: string, sourceId: string, content: string): Promise<void> {
  await client.request('PUT', `/agents/${agentId}/sources/${sourceId}`, { content })
  await trained(service, sourceId)
}

const chunksOf = async (agentId: string, sourceId: string) =>
  (await client.request('GET', `/agents/${agentId}/sources/${sourceId}/chunks`)).body.data

async function choose(agentId: string, sourceId: string, at: number, body: object, by = client) {
  const { id } = (await chunksOf(agentId, sourceId))[at]
  return by.request('PATCH', `/agents/${agentId}/sources/${sourceId}/chunks/${id}`, body)
}

/** Returns the beginnings of the passages that a question finds. */
const found = async (agentId: string, question: string): Promise<string[]> =>
  (await client.request('POST', `/agents/${agentId}/retrieval-test`, { question })).body.passages.map(
    (passage: { text: string }) => passage.text,
  )

/** Returns what a model is sent for a message. */
async function sent(agentId: string, path: string, message: string): Promise<string> {
  models.requests.length = 0
  const { status } = await client.request('POST', `/agents/${agentId}/${path}`, { message, stream: false })
  assert.equal(status, 200)
  return JSON.stringify(models.requests.map(({ body }) => body))
}

const SECTIONS = [
  '# Returns\n\nA lamp can be returned within 90 days.',
  '# Delivery\n\nA lamp arrives in two days.',
]

test('an excluded passage is found by no search, in no channel, until it is included again', async () => {
  const agentId = await newAgent()
  const id = await add(agentId, text('Lamps', SECTIONS.join('\n\n')))
  assert.equal((await found(agentId, 'When can a lamp be returned?')).length, 2)
  const { status, body } = await choose(agentId, id, 0, { excluded: true })
  assert.deepEqual([status, body.excluded, body.pinnedFor], [200, true, []])
  assert.deepEqual(
    (await chunksOf(agentId, id)).map(({ excluded }: { excluded: boolean }) => excluded),
    [true, false],
  )
  for (const question of ['When can a lamp be returned?', 'returned within 90 days'])
    assert.ok((await found(agentId, question)).every((passage) => !passage.includes('90')))
  for (const path of ['chat', 'playground/runs'])
    assert.doesNotMatch(await sent(agentId, path, 'When can a lamp be returned?'), /90 days/, path)
  await choose(agentId, id, 1, { excluded: true })
  const asked = { question: 'Lamp returned?', expectedSourceId: id }
  const { missing, passages } = (await client.request('POST', `/agents/${agentId}/retrieval-test`, asked))
    .body
  assert.deepEqual(passages, [])
  assert.match(missing.sentence, /All of its passages are excluded/)

  assert.equal((await choose(agentId, id, 0, { excluded: false })).body.excluded, false)
  assert.match((await found(agentId, 'When can a lamp be returned?'))[0]!, /90 days/)
  const { body: log } = await client.request('GET', '/audit-log?action=source.update')
  assert.ok(log.data.length >= 3, JSON.stringify(log))
})

test('a pinned passage comes first for questions with its words, and only for those', async () => {
  const agentId = await newAgent()
  await add(agentId, text('Blog', 'Shipping costs, shipping costs: what shipping costs meant to us in 2019.'))
  const id = await add(agentId, text('Prices', 'A parcel is 4 euros, and free of charge from 50 euros.'))
  const question = 'What are your shipping costs?'
  assert.match((await found(agentId, question))[0]!, /2019/)
  const { body } = await choose(agentId, id, 0, { pinnedFor: ['shipping cost', ' shipping cost '] })
  assert.deepEqual(body.pinnedFor, ['shipping cost'])
  for (const asked of [question, 'How much does SHIPPING cost', 'shipping costs?']) {
    const answer = (await client.request('POST', `/agents/${agentId}/retrieval-test`, { question: asked }))
      .body
    assert.match(answer.passages[0].text, /4 euros/, asked)
    assert.deepEqual([answer.passages[0].isFirst, answer.passages[0].pinnedFor], [true, ['shipping cost']])
    assert.deepEqual([answer.confidence, answer.isFound], [1, true])
    const scores = answer.passages.map(({ score }: { score: number }) => score)
    assert.deepEqual(
      scores,
      scores.toSorted((a: number, b: number) => b - a),
    )
  }
  // The best passage stands next to the question.
  assert.match(await sent(agentId, 'chat', question), /2019.*4 euros.*What are your/)
  assert.equal((await found(agentId, 'What did shipping mean in 2019?'))[0]!.includes('4 euros'), false)

  await add(agentId, { type: 'qna', name: 'Q', questions: [question], answer: 'See the page of prices.' })
  assert.match((await found(agentId, question))[0]!, /page of prices/, 'the same question comes before a pin')
  await choose(agentId, id, 0, { excluded: true })
  assert.ok(
    (await found(agentId, 'How much does shipping cost')).every((passage) => !passage.includes('4 euros')),
  )
  await choose(agentId, id, 0, { excluded: false, pinnedFor: [] })
  assert.deepEqual((await chunksOf(agentId, id))[0].pinnedFor, [])
  assert.match((await found(agentId, 'What did shipping costs mean?'))[0]!, /2019/)
})

test('choices survive a training, a move and a clone; changed text is a new passage', async () => {
  const agentId = await newAgent()
  const id = await add(agentId, text('Lamps', SECTIONS.join('\n\n')))
  await choose(agentId, id, 0, { excluded: true })
  await choose(agentId, id, 1, { pinnedFor: ['Where is my order?'] })
  await change(agentId, id, ['# New\n\nWe sell kayaks now.', ...SECTIONS].join('\n\n'))
  const stateOf = async (agent: string, source: string) =>
    (await chunksOf(agent, source)).map((chunk: { excluded: boolean; pinnedFor: string[] }) => [
      chunk.excluded,
      chunk.pinnedFor.length,
    ])
  const kept = [
    [false, 0],
    [true, 0],
    [false, 1],
  ]
  assert.deepEqual(await stateOf(agentId, id), kept)
  assert.match((await found(agentId, 'Where is my order?'))[0]!, /two days/)
  assert.ok((await found(agentId, 'returned within 90 days')).every((passage) => !passage.includes('90')))

  const clone = (await client.request('POST', `/agents/${agentId}/clone`)).body.id
  const [copy] = (await client.request('GET', `/agents/${clone}/sources`)).body.data
  assert.deepEqual(await stateOf(clone, copy.id), kept)
  assert.match((await found(clone, 'Where is my order?'))[0]!, /two days/)

  await change(agentId, id, SECTIONS[0]!.replace('90', '60'))
  assert.deepEqual(await stateOf(agentId, id), [[false, 0]])
  await change(agentId, id, SECTIONS.join('\n\n'))
  assert.deepEqual(await stateOf(agentId, id), kept.slice(1), 'the former text is the former passage')
  assert.deepEqual(await stateOf(clone, copy.id), kept)
  await client.request('DELETE', `/agents/${agentId}/sources/${id}`)
  const left = await service.ctx.db.selectFrom('passage_choices').select('agent_id').execute()
  assert.ok(left.every(({ agent_id }) => agent_id !== agentId))
})

test('nobody chooses for another account, and limits say what to do', async () => {
  const agentId = await newAgent()
  const id = await add(agentId, text('Lamps', SECTIONS.join('\n\n')))
  const refused = await choose(agentId, id, 0, { excluded: true }, stranger)
  assert.deepEqual([refused.status, refused.body.error.code], [404, 'AGENT_NOT_FOUND'])
  const other = await add(agentId, text('Other', 'Something else.'))
  const [{ id: chunkId }] = await chunksOf(agentId, id)
  for (const wrong of [`${other}/chunks/${chunkId}`, `${id}/chunks/${agentId}`]) {
    const path = `/agents/${agentId}/sources/${wrong}`
    const { status, body } = await client.request('PATCH', path, { excluded: true })
    assert.deepEqual([status, body.error.code], [404, 'RESOURCE_NOT_FOUND'], wrong)
  }
  assert.equal((await found(agentId, 'When can a lamp be returned?')).length, 2)
  for (const body of [{ excluded: 1 }, { pinnedFor: [' '] }, { pinned: true }])
    assert.equal((await choose(agentId, id, 0, body)).status, 400, JSON.stringify(body))

  const many = Array.from({ length: 11 }, (_, at) => `# Section ${at}\n\nThis is section ${at}.`)
  const large = await add(agentId, text('Large', many.join('\n\n')))
  const pins = (at: number) => Array.from({ length: 20 }, (_, n) => `question ${n} of ${at}`)
  for (let at = 0; at < 10; at++)
    assert.equal((await choose(agentId, large, at, { pinnedFor: pins(at) })).status, 200)
  const { status, body } = await choose(agentId, large, 10, { pinnedFor: ['one more'] })
  assert.equal(status, 400)
  assert.match(body.error.details.pinnedFor, /at most 200 pins/)
  assert.deepEqual((await chunksOf(agentId, large))[10].pinnedFor, [])
})
