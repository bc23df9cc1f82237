import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Client, type Service, startService } from '../../../../test/start.ts'
import { trained } from '../../../../test/until.ts'
import { markDeleted } from '../../../knowledge/sources/delete-source.ts'
import { requireSource } from '../../../knowledge/sources/queries.ts'
import { newId } from '../../../platform/db/ids.ts'
import { json } from '../../../platform/db/statements/json.ts'
import { lookNow } from '../analysis/for-tests.ts'
import { refreshDays } from '../days/refresh-days.ts'

let service: Service
let client: Client
let agentId: string

before(async () => {
  service = await startService()
  client = await service.account()
  agentId = (await client.request('POST', '/agents', { name: 'Agent' })).body.id
})
after(() => service.close())

const live = (id: string) => trained(service, id)

type Group = { id: string; question: string; count: number; [more: string]: unknown }
const path = () => `/agents/${agentId}/insights/unanswered`
const groups = async (query = ''): Promise<Group[]> =>
  (await client.request('GET', `${path()}${query}`)).body.data
const ask = async (message: string, conversationId?: string) =>
  (await client.request('POST', `/agents/${agentId}/chat`, { stream: false, message, conversationId })).body
    .data

test('equal questions that the agent declined are grouped, most frequent first', async () => {
  for (const question of ['Do you sell gift cards?', 'Hello!', 'ok', 'do you sell: GIFT CARDS'])
    await ask(question)
  await ask('Where can I park my bicycle?')
  await lookNow(service.ctx, agentId)
  const [cards, parking, ...others] = await groups()
  assert.deepEqual(others, [])
  assert.deepEqual([cards?.question, cards?.count, cards?.status], ['Do you sell gift cards?', 2, 'open'])
  assert.deepEqual(
    [parking?.question, parking?.count, parking?.suggestedAnswer],
    ['Where can I park my bicycle?', 1, null],
  )
  const examples = cards?.examples as { question: string; conversationId: string }[]
  assert.deepEqual(
    examples.map(({ question }) => question),
    ['do you sell: GIFT CARDS', 'Do you sell gift cards?'],
  )
  const first = (await client.request('GET', `${path()}?limit=1`)).body
  assert.deepEqual([first.pagination.total, first.pagination.hasMore], [2, true])
  const second = (await client.request('GET', `${path()}?limit=1&cursor=${first.pagination.cursor}`)).body
  assert.deepEqual([second.data[0].id, second.pagination.cursor], [parking?.id, null])
  const wrong = await client.request(
    'GET',
    `${path()}?limit=1&status=dismissed&cursor=${first.pagination.cursor}`,
  )
  assert.equal(wrong.body.error.code, 'VALIDATION_INVALID_CURSOR')
})

test('an answer becomes a source that wins, a second one updates it, and an unanswered repetition reopens the group', async () => {
  const [cards] = await groups()
  const answer = (body: object) => client.request('POST', `${path()}/${cards?.id}/answer`, body)
  const both = await Promise.all([
    answer({ answer: 'Yes, from 10 euros.' }),
    answer({ answer: 'Yes, from 10 euros.' }),
  ])
  assert.deepEqual(
    both.map(({ status }) => status),
    [201, 201],
  )
  assert.equal(both[0]?.body.id, both[1]?.body.id, 'one source')
  const { id } = both[0]!.body
  await live(id)
  assert.equal((await ask('do you sell GIFT CARDS')).parts[0].text, 'Yes, from 10 euros. [1]')
  const changed = await answer({ answer: 'Yes, from 20 euros.', question: 'Do you sell gift cards?' })
  assert.deepEqual([changed.status, changed.body.id], [201, id])
  const [done] = await groups('?status=answered')
  assert.deepEqual([done?.id, done?.sourceId], [cards?.id, id])
  assert.ok(!(await groups()).some((group) => group.id === cards?.id))
  await lookNow(service.ctx, agentId)
  assert.equal((await groups('?status=answered')).length, 1)

  await client.request('DELETE', `/agents/${agentId}/sources/${id}`)
  const vain = await ask('Do you sell gift cards?')
  assert.deepEqual(vain.metadata.sources, [], vain.parts[0].text)
  await lookNow(service.ctx, agentId)
  const again = (await groups()).find((group) => group.id === cards?.id)
  assert.deepEqual([again?.count, again?.sourceId], [3, null])
  const anew = await answer({ answer: 'Yes.' })
  assert.notEqual(anew.body.id, id)

  await service.ctx.db.transaction().execute(async (trx) => {
    await markDeleted(
      trx,
      await requireSource(trx, { accountId: client.accountId, agentId, sourceId: anew.body.id }),
    )
  })
  const last = await answer({ answer: 'No.' })
  assert.ok(last.status === 201 && last.body.id !== anew.body.id, 'one that is being deleted is not changed')
})

test('what the agent has said to a question is no answer to it', async () => {
  const { parts } = await ask('Do you repair umbrellas?')
  await lookNow(service.ctx, agentId)
  const group = (await groups()).find(({ question }) => /umbrellas/.test(question))
  const refused = await client.request('POST', `${path()}/${group?.id}/answer`, { answer: parts[0].text })
  assert.equal(refused.status, 400)
  assert.match(refused.body.error.details.answer, /^The agent has said just this/)
})

test('a dismissed question stays dismissed when it is asked again, until it is reopened', async () => {
  const parking = (await groups()).find(({ question }) => /park/.test(question))
  const set = (status: string) => client.request('PATCH', `${path()}/${parking?.id}`, { status })
  assert.deepEqual([(await set('dismissed')).body.status, (await set('answered')).status], ['dismissed', 400])
  await ask('where can i PARK my bicycle')
  await lookNow(service.ctx, agentId)
  assert.deepEqual(
    (await groups('?status=dismissed')).map(({ count }) => count),
    [2],
  )
  assert.equal((await set('open')).body.count, 2)
  const stranger = await service.account()
  for (const [method, end, body] of [
    ['PATCH', '', { status: 'open' }],
    ['POST', '/answer', { answer: 'x' }],
  ] as const) {
    const foreign = await stranger.request(method, `${path()}/${parking?.id}${end}`, body)
    assert.equal(foreign.body.error.code, 'AGENT_NOT_FOUND')
    const none = await client.request(method, `${path()}/${newId()}${end}`, body)
    assert.deepEqual([none.status, none.body.error.code], [404, 'RESOURCE_NOT_FOUND'])
  }
})

test("a person's later reply is suggested, and deleted questions no longer count or appear", async () => {
  const { db } = service.ctx
  const first = await ask('Is there a student discount?')
  const { conversationId } = first.metadata
  const message = {
    id: newId(),
    account_id: client.accountId,
    agent_id: agentId,
    conversation_id: conversationId,
    seq: 3,
  }
  const metadata = json({ author: { type: 'human_agent', name: 'Ann' } })
  const parts = json([{ type: 'text', text: 'Yes, ten percent with a student card.' }])
  await db
    .insertInto('messages')
    .values({ ...message, role: 'assistant', parts, metadata })
    .execute()
  await db
    .updateTable('conversations')
    .set({ last_seq: 3, updated_at: new Date() })
    .where('id', '=', conversationId)
    .execute()
  await ask('Is there a STUDENT discount')
  await lookNow(service.ctx, agentId)
  const discount = () => groups().then((all) => all.find(({ question }) => /discount/.test(question)))
  assert.equal((await discount())?.count, 2)
  assert.equal((await discount())?.suggestedAnswer, 'Yes, ten percent with a student card.')

  await db.deleteFrom('conversations').where('id', '=', conversationId).execute()
  await refreshDays(db, { impatient: true })
  const left = await discount()
  assert.deepEqual(
    [left?.count, left?.question, left?.suggestedAnswer],
    [1, 'Is there a STUDENT discount', null],
  )
  await db.deleteFrom('conversations').where('agent_id', '=', agentId).execute()
  await refreshDays(db, { impatient: true })
  for (const status of ['open', 'answered', 'dismissed'])
    assert.deepEqual(await groups(`?status=${status}`), [])
  const { body } = await client.request('GET', `/agents/${agentId}/insights`)
  assert.deepEqual([body.totals.unanswered, body.totals.conversations, body.totals.messages.user], [0, 0, 0])
  assert.ok(body.totals.credits > 0, 'the ledger forgets nothing')
})
