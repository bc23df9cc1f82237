import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Client, type Service, startService } from '../../../test/start.ts'
import { trained } from '../../../test/until.ts'
import { accountOf } from '../../accounts/records/accounts.ts'
import { changeAnswer } from '../../knowledge/sources/qna-source.ts'
import { requireSource } from '../../knowledge/sources/queries.ts'
import type { Db } from '../../platform/db/database.ts'
import { transact } from '../../platform/db/statements/transact.ts'

let service: Service
let client: Client
let agentId: string

before(async () => {
  service = await startService()
  client = await service.account()
  agentId = (await client.request('POST', '/agents', { name: 'Agent' })).body.id
  const manual =
    'The warranty of the desk lamp is eleven years. Warranty claims for a desk lamp go to the shop.'
  const source = { type: 'text', name: 'Manual', content: manual }
  await live((await client.request('POST', `/agents/${agentId}/sources`, source)).body.id)
})
after(() => service.close())

const live = (id: string) => trained(service, id)

const ask = async (message: string, conversationId?: string) =>
  (await client.request('POST', `/agents/${agentId}/chat`, { stream: false, message, conversationId })).body
    .data

type Answer = Awaited<ReturnType<typeof ask>>
const correct = (answer: Answer, body: object, owner = client) =>
  owner.request(
    'POST',
    `/agents/${agentId}/conversations/${answer.metadata.conversationId}/messages/${answer.id}/correction`,
    body,
  )

const QUESTION = 'How long is the warranty of the desk lamp?'

test('the right answer becomes a source linked to the message, and wins when the same is asked again', async () => {
  const wrong = await ask(QUESTION)
  assert.match(wrong.parts[0].text, /eleven years/)
  const { status, body } = await correct(wrong, { answer: 'Since March it is twelve years.' })
  assert.equal(status, 201)
  assert.deepEqual([body.type, body.name], ['qna', QUESTION])
  assert.deepEqual(body.metadata, { conversationId: wrong.metadata.conversationId, messageId: wrong.id })
  await live(body.id)
  const again = await ask('how long is the WARRANTY of the desk lamp')
  assert.equal(again.parts[0].text, 'Since March it is twelve years. [1]')
  assert.deepEqual(
    again.metadata.sources.map(({ id }: { id: string }) => id),
    [body.id],
  )

  const second = await correct(wrong, {
    answer: 'It is thirteen years.',
    question: 'Lamp: how long covered?',
  })
  assert.deepEqual([second.status, second.body.id, second.body.status], [201, body.id, 'updated'])
  await live(body.id)
  assert.equal((await ask('Lamp, how long covered?')).parts[0].text, 'It is thirteen years. [1]')
  const same = await correct(wrong, { answer: 'It is thirteen years.' })
  assert.equal(same.body.status, 'trained')

  await client.request('DELETE', `/agents/${agentId}/sources/${body.id}`)
  assert.match((await ask(QUESTION)).parts[0].text, /eleven years/, 'gone at once')
})

test('a corrected question takes precedence over several similar ones', async () => {
  const wrong = await ask('Which sizes are there?')
  const answer = 'Both.'
  const { id } = (await correct(wrong, { answer })).body
  const path = `/agents/${agentId}/sources/${id}`
  await client.request('PUT', path, { questions: ['Small', 'large?'] })
  await live(id)
  const same = await correct(wrong, { answer })
  assert.equal(same.body.status, 'trained')
  const changed = await correct(wrong, { answer, question: 'Small,large?' })
  assert.equal(changed.body.status, 'updated')
  const { content } = await requireSource(service.ctx.db, {
    accountId: client.accountId,
    agentId,
    sourceId: id,
  })
  assert.deepEqual(content, { questions: ['Small,large?'], answer })
})

test('two concurrent corrections create one source', async () => {
  const wrong = await ask('What does the lamp weigh?')
  const both = await Promise.all([
    correct(wrong, { answer: 'Two kilos.' }),
    correct(wrong, { answer: 'Two kilos.' }),
  ])
  assert.deepEqual(
    both.map(({ status }) => status),
    [201, 201],
  )
  assert.equal(both[0]!.body.id, both[1]!.body.id)
})

test('messages that cannot be corrected are rejected with the reason', async () => {
  const answer = await ask(QUESTION)
  const { userMessageId } = answer.metadata
  const user = await correct({ ...answer, id: userMessageId }, { answer: 'x' })
  assert.equal(user.body.error.code, 'RESOURCE_MESSAGE_NOT_ASSISTANT')
  const unknown = await correct({ ...answer, id: answer.metadata.conversationId }, { answer: 'x' })
  assert.equal(unknown.body.error.code, 'RESOURCE_MESSAGE_NOT_FOUND')
  const blank = await correct(answer, { answer: '  ' })
  assert.equal(blank.body.error.code, 'VALIDATION_INVALID_BODY')
  const stranger = await service.account()
  assert.equal((await correct(answer, { answer: 'x' }, stranger)).body.error.code, 'AGENT_NOT_FOUND')

  const long = await ask(`Tell me of lamps. ${'Really everything. '.repeat(80)}`)
  const refused = await correct(long, { answer: 'x' })
  assert.match(refused.body.error.details.question, /too long/)
  assert.equal((await correct(long, { answer: 'x', question: 'What of lamps?' })).status, 201)
})

test('a correction that a roll back has left out is live once the new text is read, and the former one never is', async () => {
  const wrong = await ask('Who repairs the desk lamp?')
  const { id } = (await correct(wrong, { answer: 'The shop repairs it.' })).body
  await live(id)
  const agent = `/agents/${agentId}`
  await client.request('PUT', `${agent}/draft`, { sources: [{ id, isIncluded: false }] })
  const { version } = (await client.request('GET', `${agent}/draft/changes`)).body
  assert.equal((await client.request('POST', `${agent}/draft/publish`, { version })).status, 200)
  const stateIn = async (db: Db) => {
    const row = await requireSource(db, { accountId: client.accountId, agentId, sourceId: id })
    return { isLeftOut: row.left_out, isLive: row.live_version !== null }
  }
  const { ctx } = service
  const account = await accountOf(ctx.db, client.accountId)
  const change = async (db: Db, answer: string, plan = account.plan) => {
    const source = await requireSource(db, { accountId: client.accountId, agentId, sourceId: id })
    return changeAnswer({ ...ctx, db }, { ...account, plan }, agentId, source, { answer })
  }
  await assert.rejects(change(ctx.db, 'x'.repeat(2_000_000), 'free'), { code: 'SOURCE_SIZE_LIMIT_EXCEEDED' })
  assert.deepEqual(await stateIn(ctx.db), { isLeftOut: true, isLive: true })
  await transact(ctx.db, async (trx) => {
    await change(trx, 'The workshop repairs it.')
    assert.deepEqual(await stateIn(trx), { isLeftOut: false, isLive: false })
  })
  await live(id)
  assert.match((await ask('Who repairs the desk lamp?')).parts[0].text, /workshop/)
})
