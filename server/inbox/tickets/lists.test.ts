import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { onPostgres } from '../../../test/database.ts'
import { type Desk, openDesk } from '../../../test/open-desk.ts'
import { plansOf } from '../../../test/plans-of.ts'
import { type Service, startService } from '../../../test/start.ts'
import { newId } from '../../platform/db/ids.ts'
import { json } from '../../platform/db/statements/json.ts'
import { findTickets } from './list-tickets.ts'
import { priorities, statusCategories, ticketChannels } from './schema.ts'
import { findByWords } from './search-tickets.ts'

let service: Service

before(async () => {
  service = await startService()
})
after(() => service.close())

type Query = Parameters<typeof findTickets>[2]
type Row = Awaited<ReturnType<typeof manyTickets>>[number]

/** Many of them have the same times. */
async function manyTickets({ owner, members }: Desk, count: number) {
  const pick = <T>(values: readonly T[], at: number): T =>
    values[(at * 7 + Math.floor(at / 5)) % values.length] as T
  const day = (n: number): Date => new Date(Date.UTC(2026, 0, 1 + (n % 4), 12))
  const rows = Array.from({ length: count }, (_, at) => ({
    id: newId(),
    account_id: owner.accountId,
    agent_id: owner.agentId,
    number: at + 1,
    status_category: pick(statusCategories, at),
    assignee_id: pick([null, members.ann!, members.bob!], at),
    priority: pick(priorities, at),
    channel: pick(ticketChannels, at),
    created_at: day(at),
    updated_at: day(at * 3 + 1),
    last_message_at: at % 3 === 0 ? null : day(at * 5),
  }))
  const rest = {
    customer: json({ id: null, name: null, email: null, phoneNumber: null }),
    metadata: json({}),
  }
  await service.ctx.db
    .insertInto('tickets')
    .values(rows.map((row) => ({ ...row, ...rest })))
    .execute()
  return rows
}

test('lists match the simplest implementation, in order and page by page', async () => {
  const desk = await openDesk(service)
  const rows = await manyTickets(desk, 60)
  const keys = {
    createdAt: (row: Row) => row.created_at.getTime(),
    updatedAt: (row: Row) => row.updated_at.getTime(),
    lastMessageAt: (row: Row) => row.last_message_at?.getTime() ?? 0,
  }
  const filters: [string, (row: Row) => boolean][] = [
    ['', () => true],
    ['status=on_you', (row) => row.status_category === 'on_you'],
    ['status=new,closed', (row) => ['new', 'closed'].includes(row.status_category)],
    ['channel=email', (row) => row.channel === 'email'],
    [
      'channel=email,api&priority=low,%20high',
      (row) => ['email', 'api'].includes(row.channel) && ['low', 'high'].includes(row.priority),
    ],
    ['assigneeId=none', (row) => row.assignee_id === null],
    [
      `assigneeId=${desk.members.ann}&priority=low`,
      (row) => row.assignee_id === desk.members.ann && row.priority === 'low',
    ],
    [`assigneeId=${newId()}`, () => false],
    ['assigneeId=x', () => false],
    ['teamId=none', () => true],
    [
      'createdAfter=2026-01-02&createdBefore=2026-01-03',
      (row) => [2, 3].includes(row.created_at.getUTCDate()),
    ],
    ['createdAfter=2026-01-02T12:00:00.001Z', (row) => row.created_at.getUTCDate() > 2],
  ]
  for (const [filter, keep] of filters) {
    for (const sortBy of ['createdAt', 'updatedAt', 'lastMessageAt'] as const) {
      for (const order of ['asc', 'desc'] as const) {
        const way = order === 'asc' ? 1 : -1
        const expected = rows
          .filter(keep)
          .sort((a, b) => way * (keys[sortBy](a) - keys[sortBy](b) || (a.id < b.id ? -1 : 1)))
          .map(({ number }) => number)
        const found: number[] = []
        let cursor: string | null = ''
        for (let limit = 7; cursor !== null; limit = 13) {
          const asked = { ...Object.fromEntries(new URLSearchParams(filter)), ...(cursor ? { cursor } : {}) }
          const query = { sortBy, order, limit, includeTotal: true, ...asked }
          // The rows are not created through HTTP, because there are more than the rate limit of a key.
          const page = await findTickets(service.ctx.db, desk.owner, query as Query)
          assert.equal(page.total, expected.length)
          found.push(...page.rows.map(({ number }) => number))
          cursor = page.cursor
        }
        assert.deepEqual(found, expected, `${filter} ${sortBy} ${order}`)
      }
    }
  }
  const both = await desk.call('GET', '/tickets?channel=email,api&priority=low,%20high&limit=100')
  assert.deepEqual(
    [both.status, both.body.data.length],
    [200, rows.filter(filters[4]![1]).length],
    'through the front door, too',
  )
  const plain = (await desk.call('GET', '/tickets?limit=1')).body
  assert.deepEqual(Object.keys(plain.pagination), ['cursor', 'hasMore'])
  assert.ok(!('description' in plain.data[0]) && !('metadata' in plain.data[0]))
  for (const query of ['status=open', 'createdAfter=yesterday', 'sortBy=subject', 'order=up', 'limit=101']) {
    const { status, body } = await desk.call('GET', `/tickets?${query}`)
    assert.deepEqual([status, body.error.code], [400, 'VALIDATION_INVALID_BODY'], query)
  }
  const wrong = await desk.call(
    'GET',
    '/tickets?status=new,bogus&createdAfter=x&createdBefore=2026-02-30&limit=0',
  )
  assert.deepEqual(wrong.body.error.details, {
    status: 'Must be ids of statuses, or of: new, on_you, on_customer, on_hold, closed, cancelled.',
    createdAfter: 'Must be a day as YYYY-MM-DD or an ISO 8601 date-time.',
    createdBefore: 'Must be a day as YYYY-MM-DD or an ISO 8601 date-time.',
    limit: 'Must be 1 or more.',
  })
  const spaced = await desk.call('GET', `/tickets?includeTotal=true&status= new , ${newId()},new`)
  assert.equal(spaced.body.pagination.total, rows.filter((row) => row.status_category === 'new').length)
  const other = await desk.call('GET', `/tickets?limit=1&order=asc&cursor=${plain.pagination.cursor}`)
  assert.equal(other.body.error.code, 'VALIDATION_INVALID_CURSOR')
})

test('a page of a large desk is read from an index', { skip: !onPostgres() }, async () => {
  const desk = await openDesk(service)
  const others = await openDesk(service)
  await manyTickets(others, 4_000)
  await manyTickets(desk, 4_000)
  const { db } = service.ctx
  await sql`analyze tickets`.execute(db)
  const filters: Partial<Query>[] = [
    {},
    { status: 'on_hold' },
    { status: `on_hold,closed,${newId()}` },
    { channel: 'email' },
    { assigneeId: desk.members.ann! },
    { assigneeId: 'none' },
    { teamId: newId() },
    { teamId: 'none' },
    { priority: 'low' },
    { tagId: newId() },
    { mentionedId: newId() },
    { createdAfter: '2026-01-02', createdBefore: '2026-01-03' },
  ]
  for (const sortBy of ['createdAt', 'updatedAt', 'lastMessageAt'] as const) {
    for (const order of ['asc', 'desc'] as const) {
      for (const filter of filters) {
        const query = { sortBy, order, limit: 20, includeTotal: false, spam: false, ...filter }
        const { cursor } = await findTickets(db, desk.owner, query)
        for (const page of cursor === null ? [query] : [query, { ...query, cursor }]) {
          const plan = (await plansOf(db, (on) => findTickets(on, desk.owner, page))).join('\n')
          assert.match(plan, /Index Scan/)
          assert.doesNotMatch(plan, /Seq Scan on tickets/, `${JSON.stringify(page)}\n${plan}`)
          // Without a filter, the order is that of an index, and nothing is sorted.
          if (Object.keys(filter).length === 0) assert.doesNotMatch(plan, /Sort/, plan)
        }
      }
    }
  }
})

test('search finds every word in tickets and in their messages', async () => {
  const desk = await openDesk(service)
  await desk.open({
    subject: 'Broken kettle',
    description: 'It leaks.',
    customer: { email: 'zoe@example.org', name: 'Zoë Ünal' },
  })
  await desk.open({ subject: 'Refund', description: 'For order A-1042' })
  await desk.call('POST', '/tickets/2/messages', {
    type: 'reply',
    content: 'The kettle is on its way',
    authorId: desk.members.ann,
  })
  await (await openDesk(service)).open({ subject: 'kettle' })
  const find = async (query: string) =>
    (await desk.call('POST', '/tickets/search', { query })).body.data.map(
      ({ ticketNumber }: { ticketNumber: number }) => ticketNumber,
    )
  const cases: [string, number[]][] = [
    ['kettle', [1, 2]],
    ['KETT', [1, 2]],
    ['kettle leaks', [1]],
    ['leaks refund', []],
    ['zoe@example.org', [1]],
    ['Ünal', [1]],
    ['#2', [2]],
    ['1', [1]],
    ["o'clock \\ & | ! ( ) : * '", []],
    ['!!!', []],
  ]
  for (const [query, expected] of cases) assert.deepEqual(await find(query), expected, query)
  const page = (await desk.call('POST', '/tickets/search', { query: 'kettle', limit: 1 })).body
  // There is no next page. A narrower query finds the others.
  assert.deepEqual([page.data.length, page.pagination], [1, { cursor: null, hasMore: true, total: 2 }])
  for (const body of [{}, { query: '' }, { query: 'x'.repeat(513) }, { query: 'x', limit: 51 }]) {
    assert.equal((await desk.call('POST', '/tickets/search', body)).status, 400)
  }
  assert.equal((await findByWords(service.ctx.db, desk.owner, { query: 'kettle', limit: 5 })).total, 2)
})

test('a search for a word of very many messages finds tickets by their subject, and rare words in old messages', async () => {
  const desk = await openDesk(service)
  const { db } = service.ctx
  for (const subject of ['The invoice of March', 'Lamp', 'Chair']) await desk.open({ subject })
  await desk.call('POST', '/tickets/2/messages', {
    type: 'reply',
    content: 'The invoice for the zeppelin is here',
    authorId: desk.members.ann,
  })
  await sql`
    insert into ticket_messages (id, account_id, agent_id, ticket_id, type, content_text, attachments, created_at)
    select gen_random_uuid(), account_id, agent_id, id, 'note', 'The invoice again', '[]', now() + i * interval '1 second'
    from tickets, generate_series(1, 450) as i where agent_id = ${desk.agentId} and number = 3`.execute(db)
  const find = async (query: string, limit: number) => {
    const { data, pagination } = (await desk.call('POST', '/tickets/search', { query, limit })).body
    return [data.map(({ ticketNumber }: { ticketNumber: number }) => ticketNumber), pagination]
  }
  // The newest messages are those of the third ticket alone, so all are looked through; only some of them are ranked.
  const [tickets, pagination] = await find('invoice', 20)
  assert.deepEqual([tickets.sort(), pagination], [[1, 3], { cursor: null, hasMore: false }])
  assert.deepEqual(await find('zeppelin', 20), [[2], { cursor: null, hasMore: false, total: 1 }])
})

test('messages of a ticket are listed in both orders, each once', async () => {
  const desk = await openDesk(service)
  await desk.open()
  for (let at = 0; at < 7; at++) {
    await desk.call('POST', '/tickets/1/notes', { content: `Note ${at}`, authorId: desk.members.ann })
  }
  for (const order of ['asc', 'desc']) {
    const found: string[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const path: string = `/tickets/1/messages?limit=3&order=${order}${cursor ? `&cursor=${cursor}` : ''}`
      const { body } = await desk.call('GET', path)
      assert.equal(body.pagination.total, 7)
      found.push(...body.data.map(({ contentText }: { contentText: string }) => contentText))
      cursor = body.pagination.cursor
    }
    const expected = Array.from({ length: 7 }, (_, at) => `Note ${at}`)
    assert.deepEqual(found, order === 'asc' ? expected : expected.reverse())
  }
  assert.equal((await desk.call('GET', '/tickets/1/messages?types=reply,mail')).status, 400)
})

test('unseen tickets are counted until the member has seen them, and again after a new message', async () => {
  const desk = await openDesk(service)
  const { ann, bob } = desk.members
  const { ticketNumber, createdAt } = await desk.open()
  await desk.open({ subject: 'Solved', statusCategory: 'closed' })
  const unread = async (member = ann) => (await desk.call('GET', `/members/${member}/unread`)).body
  const see = (until: string, member = ann) =>
    desk.call('PUT', `/members/${member}/seen/${ticketNumber}`, { until })
  assert.deepEqual(await unread(), { ticketNumbers: [ticketNumber], total: 1 })
  assert.equal((await see(createdAt as string)).status, 200)
  assert.deepEqual(await unread(), { ticketNumbers: [], total: 0 })
  assert.deepEqual(await unread(bob), { ticketNumbers: [ticketNumber], total: 1 })
  const later = new Date(Date.parse(createdAt as string) + 1_000)
  await service.ctx.db
    .updateTable('tickets')
    .set({ last_message_at: later })
    .where('account_id', '=', desk.owner.accountId)
    .where('number', '=', ticketNumber)
    .execute()
  assert.deepEqual(await unread(), { ticketNumbers: [ticketNumber], total: 1 })
  await see(later.toISOString())
  await see(createdAt as string)
  assert.deepEqual(await unread(), { ticketNumbers: [], total: 0 })
  const refused = await see('2016-12-31T23:59:60Z')
  assert.deepEqual([refused.status, refused.body.error.code], [400, 'VALIDATION_INVALID_BODY'])
  const { status, body } = await see(createdAt as string, newId())
  assert.deepEqual([status, body.error.code], [404, 'RESOURCE_NOT_FOUND'])
})
