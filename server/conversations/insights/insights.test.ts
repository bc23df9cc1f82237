import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type ModelServer, startModelServer } from '../../../test/fakes/model-server.ts'
import { type Client, type Service, startService } from '../../../test/start.ts'
import { until } from '../../../test/until.ts'
import { newId } from '../../platform/db/ids.ts'
import { json } from '../../platform/db/statements/json.ts'
import { analyseConversations } from './analysis/analyse-conversations.ts'
import { claimConversations, hastenFirst } from './analysis/claim-conversations.ts'
import { lookNow } from './analysis/for-tests.ts'
import { refreshDays } from './days/refresh-days.ts'

let service: Service
let client: Client
let server: ModelServer

type Input = {
  topics: { name: string; formerNames?: string[] }[]
  conversation: { text: string; ratedByCustomer?: string; withoutSource?: number }[]
}

/** A model that judges by the last rating, one word, and the names of the topics. */
function verdictOn({ topics, conversation }: Input) {
  const text = conversation.map((line) => line.text.toLowerCase()).join(' ')
  const rated = conversation.findLast(({ ratedByCustomer }) => ratedByCustomer)?.ratedByCustomer
  const fitting = topics.filter(({ name, formerNames = [] }) =>
    [name, ...formerNames].some((one) => text.includes(one.toLowerCase())),
  )
  return {
    sentiment: rated ?? (text.includes('terrible') ? 'negative' : 'neutral'),
    topics: fitting.map(({ name }) => name),
    newTopic: text.includes('gift card') ? 'gift cards' : null,
    unanswered: text.includes('?') ? conversation.flatMap(({ withoutSource = [] }) => withoutSource) : [],
  }
}

before(async () => {
  server = await startModelServer()
  server.otherwise(({ body }) => {
    const [system, user] = body.messages
    const isAnalysis = /Classify one finished conversation/.test(system.content)
    return { tokens: [isAnalysis ? JSON.stringify(verdictOn(JSON.parse(user.content))) : 'An answer.'] }
  })
  service = await startService({
    OPENAI_BASE_URL: `${server.url}/v1`,
    OPENAI_MODEL: 'chat',
    OPENAI_API_KEY: 'x',
  })
  client = await service.account()
})
after(async () => {
  await service.close()
  await server.close()
})

test('the first conversations of an agent are analysed soon after they become idle, and others on request', async () => {
  const agentId = await newAgent()
  const idle = async (id: string, seconds: number) =>
    service.ctx.db
      .updateTable('conversations')
      .set({ analysis_due: new Date(Date.now() + (30 * 60 - seconds) * 1000) })
      .where('id', '=', id)
      .execute()
  const seen = async (id: string) => (await insightsOf(agentId, id)).analysedAt !== null
  const first = await ask(agentId, 'My delivery is late, this is terrible')
  await idle(first, 30)
  await hastenFirst(service.ctx)
  await until('the look', () => seen(first))
  await refreshDays(service.ctx.db)
  const { totals } = (await client.request('GET', `/agents/${agentId}/insights`)).body
  assert.equal(totals.conversations, 1)
  await service.ctx.db
    .updateTable('conversations')
    .set({ analysed_at: null })
    .where('id', '=', first)
    .execute()
  const more = await Promise.all(Array.from({ length: 10 }, (_, n) => ask(agentId, `Question ${n}?`)))
  await Promise.all(more.map((id) => idle(id, 30)))
  await hastenFirst(service.ctx)
  for (const id of more) await until('the look', () => seen(id))

  const late = await ask(agentId, 'Where are you?')
  await idle(late, 30)
  await hastenFirst(service.ctx)
  assert.equal(await seen(late), false, 'the agent has been seen at work')
  const analysed = await client.request('POST', `/agents/${agentId}/insights/analyse`, undefined, {
    'idempotency-key': 'analyse-once',
  })
  assert.deepEqual([analysed.status, analysed.body], [202, { data: { conversations: 1 } }])
  await until('the look', () => seen(late))
  const again = await client.request('POST', `/agents/${agentId}/insights/analyse`)
  assert.deepEqual(again.body, { data: { conversations: 0 } })
})

const newAgent = async (model = 'auto'): Promise<string> =>
  (await client.request('POST', '/agents', { name: 'Agent', model })).body.id

const ask = async (agentId: string, message: string, conversationId?: string): Promise<string> => {
  const { body } = await client.request('POST', `/agents/${agentId}/chat`, {
    stream: false,
    message,
    conversationId,
  })
  return body.data.metadata.conversationId
}
const insightsOf = async (agentId: string, id: string) =>
  (await client.request('GET', `/agents/${agentId}/conversations/${id}/insights`)).body
const topicsOf = async (agentId: string) =>
  (await client.request('GET', `/agents/${agentId}/topics`)).body.data
const namesOf = (topics: { name: string }[]) => topics.map(({ name }) => name)
const found = async (agentId: string, filter: string): Promise<string[]> => {
  await service.ctx.indexer.run(service.ctx.db)
  const { body } = await client.request('GET', `/agents/${agentId}/conversations/search?${filter}`)
  return body.data.map(({ id }: { id: string }) => id).sort()
}

test('an idle conversation is analysed once, and can be searched by the result', async () => {
  const agentId = await newAgent()
  await client.request('POST', `/agents/${agentId}/topics`, { name: 'Delivery', description: 'Parcels' })
  const angry = await ask(agentId, 'My delivery is late, this is terrible')
  const calm = await ask(agentId, 'Do you sell lamps?')
  const nothing = { sentiment: null, sentimentBy: null, topics: [], topicsBy: null, analysedAt: null }
  assert.deepEqual(await insightsOf(agentId, angry), nothing)
  assert.equal(await claimConversations(service.ctx), 0, 'nobody has been idle yet')
  await lookNow(service.ctx, agentId)
  const seen = await insightsOf(agentId, angry)
  assert.deepEqual([seen.sentiment, seen.sentimentBy, seen.topicsBy], ['negative', 'model', 'model'])
  assert.deepEqual(namesOf(seen.topics), ['Delivery'])
  assert.ok(Math.abs(seen.analysedAt - Date.now() / 1000) < 60)
  assert.deepEqual(await found(agentId, 'sentiment=negative'), [angry])
  assert.deepEqual(await found(agentId, 'topic=Delivery'), [angry])
  assert.deepEqual(await found(agentId, 'topic=unspecified'), [calm])
  assert.equal(await claimConversations(service.ctx), 0, 'nothing has happened since')
})

test('without a language model, a conversation has no sentiment and no topics', async () => {
  const agentId = await newAgent('builtin')
  await client.request('POST', `/agents/${agentId}/topics`, { name: 'Delivery' })
  const id = await ask(agentId, 'My delivery is late, this is terrible')
  await lookNow(service.ctx, agentId)
  const { analysedAt, ...rest } = await insightsOf(agentId, id)
  assert.deepEqual(rest, { sentiment: null, sentimentBy: null, topics: [], topicsBy: null })
  assert.ok(analysedAt !== null)
  assert.deepEqual(await found(agentId, 'sentiment=unspecified&topic=unspecified'), [id])
})

test('new messages and ratings trigger another analysis, and concurrent changes are not lost', async () => {
  const agentId = await newAgent()
  const id = await ask(agentId, 'Do you sell lamps?')
  await lookNow(service.ctx, agentId)
  assert.equal((await insightsOf(agentId, id)).sentiment, 'neutral')
  const { data } = (await client.request('GET', `/agents/${agentId}/conversations/${id}`)).body
  const answer = data.messages.find(({ role }: { role: string }) => role === 'assistant')
  const rate = (feedback: string) =>
    client.request('PATCH', `/agents/${agentId}/conversations/${id}/messages/${answer.id}/feedback`, {
      feedback,
    })
  await rate('negative')
  await refreshDays(service.ctx.db)
  await lookNow(service.ctx, agentId)
  assert.equal((await insightsOf(agentId, id)).sentiment, 'negative')
  assert.equal(data.messages.length, 2)

  await ask(agentId, 'Ah, found it.', id)
  const { db } = service.ctx
  const held = new Date(Date.now() + 60_000)
  await db.updateTable('conversations').set({ analysis_held: held }).where('id', '=', id).execute()
  const claims = [{ id, held: held.toISOString() }]
  await rate('positive')
  await refreshDays(db)
  await analyseConversations(service.ctx, { claims }, new AbortController().signal)
  assert.equal((await insightsOf(agentId, id)).sentiment, 'negative', 'the claim is not valid any more')
  await lookNow(service.ctx, agentId)
  assert.equal((await insightsOf(agentId, id)).sentiment, 'positive')
})

test('an ended conversation is analysed soon, and not again only because it has ended', async () => {
  const agentId = await newAgent()
  const dueOf = async (id: string) => {
    const row = await service.ctx.db
      .selectFrom('conversations')
      .select('analysis_due')
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    return row.analysis_due && (row.analysis_due.getTime() - Date.now()) / 60_000
  }
  const end = (id: string) => client.request('POST', `/agents/${agentId}/conversations/${id}/end`)
  const seen = await ask(agentId, 'Do you sell lamps?')
  await lookNow(service.ctx, agentId)
  await end(seen)
  assert.equal(await dueOf(seen), null)
  const fresh = await ask(agentId, 'Do you sell lamps?')
  assert.ok((await dueOf(fresh))! > 25)
  await end(fresh)
  assert.ok((await dueOf(fresh))! > 0 && (await dueOf(fresh))! <= 5.1)
})

test('several processes claim each conversation once', async () => {
  const agentId = await newAgent()
  const { db } = service.ctx
  const rows = Array.from({ length: 30 }, (_, i) => ({
    id: newId(),
    account_id: client.accountId,
    agent_id: agentId,
    source: 'API',
    status: 'ongoing' as const,
    analysis_due: new Date(0),
    transient: i < 5,
  }))
  await db.insertInto('conversations').values(rows).execute()
  const counts = await Promise.all([1, 2, 3].map(() => claimConversations(service.ctx)))
  assert.equal(
    counts.reduce((sum, n) => sum + n),
    25,
    'those of the one reply that nobody keeps are left out',
  )
  await lookNow(service.ctx, agentId)
})

test('what several conversations have in common becomes their topic, unless the topics are frozen', async () => {
  const agentId = await newAgent()
  const ids = [
    await ask(agentId, 'Where can I find my gift card?'),
    await ask(agentId, 'Can I pay with a gift card'),
  ]
  await lookNow(service.ctx, agentId)
  assert.deepEqual(await topicsOf(agentId), [], 'two are not enough')
  const path = `/agents/${agentId}/topics/settings`
  assert.deepEqual((await client.request('GET', path)).body, { frozen: false })
  assert.deepEqual((await client.request('PATCH', path, { frozen: true })).body, { frozen: true })
  ids.push(await ask(agentId, 'The balance of these gift cards'))
  await lookNow(service.ctx, agentId)
  assert.deepEqual(await topicsOf(agentId), [])
  await client.request('PATCH', path, { frozen: false })
  ids.push(await ask(agentId, 'Do you have gift cards?'))
  await lookNow(service.ctx, agentId)
  const [topic, ...others] = await topicsOf(agentId)
  assert.deepEqual([topic.name, topic.origin, others.length], ['Gift cards', 'model', 0])
  assert.deepEqual(await found(agentId, `topic=${topic.name}`), [ids[0], ids[1], ids[3]].sort())

  assert.equal((await client.request('DELETE', `/agents/${agentId}/topics/${topic.id}`)).status, 200)
  assert.deepEqual(await found(agentId, `topic=${topic.name}`), [])
  for (const message of ['my gift card', 'a gift card', 'the gift card', 'these gift cards'])
    await ask(agentId, message)
  await lookNow(service.ctx, agentId)
  assert.ok(
    !namesOf(await topicsOf(agentId)).some((name) => /gift/i.test(name)),
    'a deleted topic stays away',
  )
})

test('topics are renamed, merged with their conversations, and limited', async () => {
  const agentId = await newAgent()
  const path = `/agents/${agentId}/topics`
  const add = async (name: string) => (await client.request('POST', path, { name })).body
  const shipping = await add('Shipping')
  const delivery = await add('Delivery')
  const both = await ask(agentId, 'shipping or delivery?')
  const one = await ask(agentId, 'Is shipping free?')
  await lookNow(service.ctx, agentId)
  assert.equal(
    (await client.request('POST', path, { name: 'shipping!' })).body.error.code,
    'RESOURCE_DUPLICATE',
  )
  for (const name of ['', ' x', 'a,b', 'Unspecified', 'x'.repeat(61)])
    assert.equal(
      (await client.request('POST', path, { name })).body.error.code,
      'VALIDATION_INVALID_BODY',
      name,
    )

  const renamed = await client.request('PATCH', `${path}/${shipping.id}`, {
    name: 'Parcels',
    description: 'All of it',
  })
  assert.deepEqual(
    [renamed.body.name, renamed.body.description, renamed.body.origin],
    ['Parcels', 'All of it', 'manual'],
  )
  assert.deepEqual(await found(agentId, 'topic=Parcels'), [both, one].sort())
  assert.deepEqual(await found(agentId, 'topic=Shipping'), [])

  const merge = (from: string, intoTopicId: string) =>
    client.request('POST', `${path}/${from}/merge`, { intoTopicId })
  const stranger = await service.account()
  const theirs = (await stranger.request('POST', '/agents', { name: 'Other' })).body.id
  const foreign = (await stranger.request('POST', `/agents/${theirs}/topics`, { name: 'Theirs' })).body.id
  assert.equal((await merge(shipping.id, foreign)).body.error.code, 'RESOURCE_NOT_FOUND')
  assert.ok((await merge(shipping.id, shipping.id)).body.error.details.intoTopicId)
  const merged = await merge(shipping.id, delivery.id)
  assert.deepEqual([merged.status, merged.body.name, merged.body.aliases], [200, 'Delivery', ['Parcels']])
  assert.deepEqual(namesOf(await topicsOf(agentId)), ['Delivery'])
  assert.deepEqual(await found(agentId, 'topic=Delivery'), [both, one].sort())
  const later = await ask(agentId, 'Where are my parcels?')
  await lookNow(service.ctx, agentId)
  assert.deepEqual(
    namesOf((await insightsOf(agentId, later)).topics),
    ['Delivery'],
    'the old name still counts',
  )

  for (let n = 1; n < 100; n++)
    await service.ctx.db
      .insertInto('topics')
      .values({
        id: newId(),
        account_id: client.accountId,
        agent_id: agentId,
        name: `T${n}`,
        key: `t${n}`,
        description: '',
        aliases: json([]),
        origin: 'manual',
      })
      .execute()
  assert.match(
    (await client.request('POST', path, { name: 'One more' })).body.error.details.name,
    /at most 100/,
  )
  const pages: string[] = []
  let cursor = ''
  do {
    const { body } = await client.request('GET', `${path}?limit=30${cursor}`)
    pages.push(...namesOf(body.data))
    assert.equal(body.pagination.total, 100)
    cursor = body.pagination.cursor ? `&cursor=${body.pagination.cursor}` : ''
  } while (cursor)
  assert.equal(new Set(pages).size, 100)
})

test('the figures of an agent are returned by day and in total', async () => {
  const agentId = await newAgent()
  await client.request('POST', `/agents/${agentId}/topics`, { name: 'Delivery' })
  const id = await ask(agentId, 'When is my delivery?')
  await ask(agentId, 'Great, thanks a lot, perfect')
  await lookNow(service.ctx, agentId)
  const member = { name: 'Ann', email: `${newId()}@example.com` }
  await service.ctx.db
    .insertInto('members')
    .values({ id: newId(), account_id: client.accountId, ...member })
    .execute()
  await client.request('POST', `/agents/${agentId}/conversations/${id}/takeover`, {
    memberEmail: member.email,
  })
  await refreshDays(service.ctx.db, { impatient: true })
  await lookNow(service.ctx, agentId)
  await refreshDays(service.ctx.db, { impatient: true })
  const { status, body } = await client.request('GET', `/agents/${agentId}/insights`)
  assert.deepEqual([status, body.days.length, body.isCurrent], [200, 30, true])
  const today = body.days.at(-1)
  assert.equal(today.date, new Date().toISOString().slice(0, 10))
  const { date: _date, ...figures } = today
  assert.deepEqual(figures, body.totals)
  assert.equal(figures.conversations, 2)
  assert.deepEqual(figures.messages, { user: 2, assistant: 2, person: 0 })
  assert.deepEqual(
    [figures.settled, figures.escalated, figures.deflected, figures.deflection],
    [2, 1, 1, 0.5],
  )
  assert.deepEqual(figures.sources, [{ source: 'API', conversations: 2 }])
  assert.deepEqual(figures.countries, [{ country: null, conversations: 2 }])
  assert.deepEqual(
    figures.topics.map(({ name, conversations }: { name: string; conversations: number }) => [
      name,
      conversations,
    ]),
    [['Delivery', 1]],
  )
  assert.equal(figures.credits, 2)
  assert.equal(figures.unanswered, 1)

  const read = (query: string) => client.request('GET', `/agents/${agentId}/insights?${query}`)
  const range = await read('startDate=2024-02-28&endDate=2024-03-01')
  assert.deepEqual(
    range.body.days.map(({ date }: { date: string }) => date),
    ['2024-02-28', '2024-02-29', '2024-03-01'],
  )
  assert.equal(range.body.totals.conversations, 0)
  assert.equal((await read('startDate=2020-01-01')).body.endDate, '2020-01-30')
  assert.equal(
    (await read('startDate=2026-02-02&endDate=2026-02-01')).body.error.code,
    'VALIDATION_INVALID_DATE_RANGE',
  )
  assert.ok((await read('startDate=2020-01-01&endDate=2026-01-01')).body.error.details.startDate)
  assert.ok((await read('startDate=2026-02-30')).body.error.details.startDate)
})
