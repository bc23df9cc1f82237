import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Client, type Service, startService } from '../../../test/start.ts'
import { until } from '../../../test/until.ts'
import { newId } from '../../platform/db/ids.ts'
import { json } from '../../platform/db/statements/json.ts'
import { createStemmers } from './index/stemmers.ts'
import { tokensOfOne } from './index/text-tokens.ts'
import { parseQuery } from './query/parse-query.ts'
import { hitsIn } from './query/snippet.ts'

let service: Service
let client: Client
let agentId: string

before(async () => {
  service = await startService()
  client = await service.account()
  agentId = (await client.request('POST', '/agents', { name: 'Agent' })).body.id
})
after(() => service.close())

type Said = [role: 'user' | 'assistant', text: string, human?: boolean]

async function add(messages: Said[], values: Record<string, unknown> = {}, agent = agentId): Promise<string> {
  const id = newId()
  const own = { account_id: client.accountId, agent_id: agent }
  const { db } = service.ctx
  await db
    .insertInto('conversations')
    .values({ id, ...own, source: 'API', status: 'ongoing', last_seq: messages.length, ...values })
    .execute()
  if (messages.length > 0)
    await db
      .insertInto('messages')
      .values(
        messages.map(([role, text, human], i) => ({
          id: newId(),
          ...own,
          conversation_id: id,
          seq: i + 1,
          role,
          parts: json([{ type: 'text', text }]),
          metadata: json(human ? { author: { type: 'human_agent', name: 'Ada' } } : null),
        })),
      )
      .execute()
  return id
}

const index = () => service.ctx.indexer.run(service.ctx.db)

async function search(parameters: Record<string, string>, agent = agentId) {
  const { status, body } = await client.request(
    'GET',
    `/agents/${agent}/conversations/search?${new URLSearchParams(parameters)}`,
  )
  assert.equal(status, 200, JSON.stringify(body))
  return body
}

const idsOf = ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id)

test('words are found in all messages and the title, in any form, as well as phrases and prefixes', async () => {
  const returns = await add(
    [
      ['user', 'How do I return the red shoes that I ordered?'],
      ['assistant', 'You can send deliveries back within 30 days, with the shipping label.'],
    ],
    { title: 'Order 4711-A' },
  )
  const german = await add([['user', 'Wann kommen die Lieferungen für meine Bestellung nach Köln an?']])
  const japanese = await add([
    ['user', '東京駅から空港まで何分ですか。'],
    ['assistant', 'ＡＢＣ三十分です。'],
  ])
  const french = await add([['user', 'Comment puis-je changer mes livraisons dans le café, avec vous ?']])
  await index()
  const found: [string, string[]][] = [
    ['return shipping', [returns]],
    ['RETURNING delivery', [returns]],
    ['shoes absent', []],
    ['"red shoes"', [returns]],
    ['"shoes red"', []],
    ['"ordered you"', []],
    ['4711-a', [returns]],
    ['47111', []],
    ['471', [returns]],
    ['471 order', []],
    ['order shi', [returns]],
    ['shi order', []],
    ['lieferung', [german]],
    ['koln', [german]],
    ['Köln bestellungen', [german]],
    ['livraison cafe', [french]],
    ['東京', [japanese]],
    ['京駅から', [japanese]],
    ['港', [japanese]],
    ['京東', []],
    ['abc', [japanese]],
    ['???', []],
  ]
  for (const [query, ids] of found) assert.deepEqual(idsOf(await search({ query })), ids, query)
})

test('a title that does not reveal its language is treated as in that of the messages', async () => {
  const agent = (await client.request('POST', '/agents', { name: 'Titles' })).body.id
  const said = 'Guten Tag, ich habe das gestern schon bezahlt, aber ich weiß nicht, wie ich es zeigen kann.'
  await add([['user', said]], { title: 'Offene Rechnungen' }, agent)
  await index()
  const { data } = await search({ query: 'Rechnung bezahlt' }, agent)
  assert.equal(data.length, 1)
  assert.ok(data[0].snippet.highlights.some(({ value }: { value: string }) => value === 'bezahlt'))
})

test('the newest texts of a very long conversation are found, and many long ones in several steps', async () => {
  const filling = '漢字。'.repeat(33_000)
  const old = await add([
    ['user', 'zebra'],
    ['assistant', filling],
    ['user', filling],
    ['assistant', `${filling} giraffe`],
    ['user', 'okapi'],
  ])
  const others = await Promise.all(
    [1, 2].map((n) => add([['user', `${filling.repeat(2)} giraffe tapir${n}`]])),
  )
  assert.equal(await index(), 3)
  assert.deepEqual(idsOf(await search({ query: 'okapi giraffe' })), [old])
  assert.deepEqual(idsOf(await search({ query: 'zebra' })), [])
  for (const [n, id] of others.entries())
    assert.deepEqual(idsOf(await search({ query: `tapir${n + 1}` })), [id])
})

test('a range may end at any time, even one outside the calendar', async () => {
  const agent = (await client.request('POST', '/agents', { name: 'Ends' })).body.id
  const id = await add([['user', 'hello']], {}, agent)
  await index()
  for (const endDate of ['9999-12-31', '9999-12-31T23:59:59Z', '9000-01-01']) {
    assert.deepEqual(idsOf(await search({ endDate }, agent)), [id], endDate)
    for (const list of ['conversations', 'conversations/export']) {
      const { status, body } = await client.request('GET', `/agents/${agent}/${list}?endDate=${endDate}`)
      assert.deepEqual([status, body.pagination?.total], [200, 1], `${list} ${endDate}`)
    }
  }
  assert.deepEqual(idsOf(await search({ startDate: '9999-12-31' }, agent)), [])
  for (const startDate of ['0000-01-01', '0001-01-01T00:00:00+14:00']) {
    const { status, body } = await client.request(
      'GET',
      `/agents/${agent}/conversations?startDate=${encodeURIComponent(startDate)}`,
    )
    assert.deepEqual([status, body.pagination?.total], [200, 1], startDate)
  }
  assert.equal((await client.request('GET', `/agents/${agent}/insights?startDate=9999-12-31`)).status, 200)
})

test('all errors are reported at once, before the agent is looked up', async () => {
  const refused = async (path: string) => {
    const { status, body } = await client.request('GET', `/agents/nobody/${path}`)
    assert.deepEqual([status, body.error.code], [400, 'VALIDATION_INVALID_BODY'], path)
    return Object.keys(body.error.details).sort()
  }
  assert.deepEqual(
    await refused('conversations/search?limit=99&sentiment=bogus&startDate=x&updatedAfter=y'),
    ['limit', 'sentiment', 'startDate', 'updatedAfter'],
  )
  const early = await client.request('GET', '/agents/nobody/conversations/search?startDate=2019-05-01')
  assert.match(early.body.error.details.startDate, /^The search covers the last 12 months: .*-01\.$/)
  for (const list of ['conversations', 'conversations/export'])
    assert.deepEqual(await refused(`${list}?limit=0&startDate=x&endDate=2026-02-30`), [
      'endDate',
      'limit',
      'startDate',
    ])
  assert.deepEqual(await refused('conversations/export?source=,'), ['source'])
  assert.deepEqual(await refused('sources?type=text,film&limit=0'), ['limit', 'type'])
})

test('a snippet shows the author and about 180 characters around the hits, and marks them', async () => {
  const agent = (await client.request('POST', '/agents', { name: 'Snippets' })).body.id
  const filler = 'Something else entirely was said here. '.repeat(20)
  await add(
    [
      ['user', 'hello'],
      ['assistant', `${filler}The blue parrots fly south. ${filler}`],
    ],
    {},
    agent,
  )
  await add([['assistant', 'A parrot, said a person.', true]], {}, agent)
  await add([['user', 'nothing']], { title: 'Parrot' }, agent)
  await index()
  const { data } = await search({ query: '"blue parrot"' }, agent)
  const [{ snippet }] = data
  const text = snippet.highlights.map(({ value }: { value: string }) => value).join('')
  assert.equal(data.length, 1)
  assert.equal(snippet.speaker, 'assistant')
  assert.ok(text.length > 100 && text.length <= 180, text)
  assert.ok(`${filler}The blue parrots fly south. ${filler}`.includes(text))
  assert.deepEqual(
    snippet.highlights.filter(({ isHit }: { isHit: boolean }) => isHit),
    [{ value: 'blue parrots', isHit: true }],
  )
  const all = (await search({ query: 'parrot' }, agent)).data
  assert.deepEqual(
    all.map((item: { snippet: { speaker: string } | null }) => item.snippet?.speaker ?? null).sort(),
    ['assistant', 'human_agent', null],
  )
  assert.equal(all.find(({ title }: { title: string }) => title === 'Parrot').snippet, null)
  assert.equal((await search({ source: 'API' }, agent)).data[0].snippet, null)
})

test('the searches of one account leave a place for those of another one', async () => {
  const other = await service.account()
  const otherAgent = (await other.request('POST', '/agents', { name: 'Agent' })).body.id
  const overtakes = async (): Promise<boolean> => {
    const order: string[] = []
    const ask = async (who: Client, agent: string, name: string): Promise<void> => {
      const { status } = await who.request('GET', `/agents/${agent}/conversations/search?query=lamp`)
      assert.equal(status, 200)
      order.push(name)
    }
    const greedy = Array.from({ length: 40 }, () => ask(client, agentId, 'greedy'))
    await Promise.all([...greedy, ask(other, otherAgent, 'other')])
    return order.indexOf('other') < order.lastIndexOf('greedy')
  }
  // In a round in which the last request arrives after the others are done, there is nobody to overtake.
  await until('a search that overtakes those that came before', overtakes)
})

test('repeated words in a query cost no more than once', async () => {
  const stem = createStemmers()
  assert.equal(parseQuery('lamp '.repeat(200), stem).length, 2, 'the last one may be a beginning')
  const tokens = await tokensOfOne('lamp and lamps, a red lamp', stem)
  const once = await hitsIn(parseQuery('lamp "red lamp"', stem), tokens)
  const often = await hitsIn(parseQuery(`${'lamp '.repeat(100)} ${'"red lamp" '.repeat(50)}`, stem), tokens)
  assert.deepEqual(often, once)
  assert.ok(once.length >= 3)
})
