import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Client, type Service, startService } from '../../../test/start.ts'
import { trained } from '../../../test/until.ts'
import { commands } from '../../admin/commands.ts'
import { answerFinder } from './holds-answer.ts'

let service: Service
let client: Client
let agentId: string
let lamps: string
let doors: string

before(async () => {
  service = await startService()
  client = await service.account()
  agentId = (await client.request('POST', '/agents', { name: 'Agent' })).body.id
  lamps = await add('Lamps', 'The desk lamp has a warranty of eleven years. Its bulb can be replaced.')
  doors = await add('Doors', 'The garage door is opened with the grey button on the left wall.')
})
after(() => service.close())

async function add(name: string, content: string): Promise<string> {
  const source = { type: 'text', name, content }
  const { id } = (await client.request('POST', `/agents/${agentId}/sources`, source)).body
  await trained(service, id)
  return id
}

const evaluations = (method: string, path = '', body?: unknown, owner = client) =>
  owner.request(method, `/agents/${agentId}/evaluations${path}`, body)

test('questions are added, listed, changed and deleted', async () => {
  const added = await evaluations('POST', '', { question: 'How is it?', expectedSourceId: lamps })
  assert.equal(added.status, 201)
  assert.deepEqual([added.body.expectedSourceId, added.body.expectedAnswer], [lamps, null])
  const { id } = added.body
  const changed = await evaluations('PUT', `/${id}`, {
    expectedSourceId: null,
    expectedAnswer: 'Eleven years',
  })
  assert.deepEqual(
    [changed.body.question, changed.body.expectedSourceId, changed.body.expectedAnswer],
    ['How is it?', null, 'Eleven years'],
  )
  const listed = await evaluations('GET')
  assert.deepEqual(listed.body.data, [changed.body])
  assert.equal(listed.body.pagination.total, 1)
  assert.deepEqual((await evaluations('DELETE', `/${id}`)).body, { success: true })
  assert.equal((await evaluations('DELETE', `/${id}`)).body.error.code, 'RESOURCE_NOT_FOUND')
  assert.equal((await evaluations('PUT', `/${id}`, { question: 'x' })).body.error.code, 'RESOURCE_NOT_FOUND')
})

test('a source of another agent cannot be expected', async () => {
  const other = (await client.request('POST', '/agents', { name: 'Other' })).body.id
  const { status, body } = await client.request('POST', `/agents/${other}/evaluations`, {
    question: 'How long?',
    expectedSourceId: lamps,
  })
  assert.equal(status, 400)
  assert.deepEqual(body.error.details, { expectedSourceId: 'The agent has no source with this id.' })
})

test('a run counts what is found, answered and declined; the command prints the same', async () => {
  const none = await evaluations('POST', '/run')
  assert.deepEqual([none.body.questions, none.body.recallAt1, none.body.declined], [0, null, null])

  await evaluations('POST', '', {
    question: 'How long is the warranty of the desk lamp?',
    expectedSourceId: lamps,
  })
  await evaluations('POST', '', {
    question: 'With which button is the garage door opened?',
    expectedAnswer: 'Press the grey button on the left wall.',
  })
  await evaluations('POST', '', {
    question: 'How long is the warranty of the lamp?',
    expectedSourceId: doors,
  })
  await evaluations('POST', '', { question: 'Who won the chess championship?' })
  const { body } = await evaluations('POST', '/run')
  assert.deepEqual(
    [body.questions, body.answerable, body.unanswerable, body.answered, body.declined],
    [4, 3, 1, 1, 1],
  )
  assert.equal(body.recallAt1, 2 / 3)
  assert.deepEqual(
    body.results.map(({ isAnswered, place }: { isAnswered: boolean; place: number | null }) => [
      isAnswered,
      place,
    ]),
    [
      [true, 1],
      [true, 1],
      [true, body.results[2].place],
      [false, null],
    ],
  )
  assert.notEqual(body.results[2].place, 1)
  assert.equal(body.results[0].sources[0].name, 'Lamps')

  const evaluate = commands.find(({ name }) => name === 'evaluate')!
  const { db, knowledge, models } = service.ctx
  const operations = { db, openKnowledge: () => knowledge, openModels: () => ({ models }) }
  const input = { values: { agent: agentId }, positionals: [] }
  const result = await evaluate.run(operations as never, input)
  assert.deepEqual(result, body)
  assert.match(evaluate.print(result), /3 answerable questions: recall@1 67 %.*answered 100 %/)
  await assert.rejects(
    evaluate.run(operations as never, { values: { agent: 'nobody' }, positionals: [] }),
    /There is no agent nobody/,
  )
})

test('questions are grouped in sets, and runs of a set are kept', async () => {
  const sets = (method: string, path = '', body?: unknown) =>
    client.request(method, `/agents/${agentId}/evaluation-sets${path}`, body)
  const set = (await sets('POST', '', { name: 'Doors' })).body
  assert.deepEqual([set.name, set.questions], ['Doors', 0])
  assert.equal((await sets('POST', '', { name: 'Doors' })).body.error.code, 'RESOURCE_DUPLICATE')
  const question = 'Which colour has the button of the cellar door?'
  const expectedAnswer = 'The button of the cellar door is violet.'
  const added = (await evaluations('POST', '', { question, expectedAnswer, setId: set.id })).body
  assert.equal(added.setId, set.id)
  assert.deepEqual((await evaluations('GET', `?setId=${set.id}`)).body.data, [added])
  const wrong = await evaluations('POST', '', { question, setId: agentId })
  assert.deepEqual(Object.keys(wrong.body.error.details), ['setId'])

  const runs = (method: string, path = '', body?: unknown) =>
    client.request(method, `/agents/${agentId}/evaluation-runs${path}`, body)
  const first = (await runs('POST', '', { setId: set.id, note: 'Before' })).body
  assert.deepEqual([first.questions, first.recallAt1, first.results[0].place], [1, 0, null])
  await add('Cellar', expectedAnswer)
  const second = (await runs('POST', '', { setId: set.id, note: 'After' })).body
  assert.deepEqual([second.recallAt1, second.results[0].place], [1, 1])
  const listed = (await runs('GET')).body
  assert.deepEqual(
    listed.data.map(({ note, setName, recallAt1 }: Record<string, unknown>) => [note, setName, recallAt1]),
    [
      ['After', 'Doors', 1],
      ['Before', 'Doors', 0],
    ],
  )
  assert.deepEqual((await runs('GET', `/${first.id}`)).body, first)

  assert.equal((await sets('PUT', `/${set.id}`, { name: 'All doors' })).body.questions, 1)
  assert.deepEqual((await sets('DELETE', `/${set.id}`)).body, { success: true })
  assert.deepEqual((await sets('GET')).body.data, [])
  const left = (await evaluations('GET')).body.data.find(({ id }: { id: string }) => id === added.id)
  assert.equal(left.setId, null)
  assert.equal((await runs('POST', '', { setId: set.id })).body.error.code, 'RESOURCE_NOT_FOUND')
})

test('an answer is recognised in other forms of its words, but not as part of them', () => {
  const holds = answerFinder('You can cancel within fourteen days for free.')
  assert.ok(holds('Cancelling is free for fourteen days, at any time of day.'))
  assert.ok(!holds('Delivery takes fourteen days.'))
  assert.ok(!answerFinder('!?')('Anything.'))
})
