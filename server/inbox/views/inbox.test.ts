import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { openDesk, write } from '../../../test/open-desk.ts'
import { type Service, startService } from '../../../test/start.ts'
import { memberOf } from '../../../test/workspace.ts'
import { repairTimes } from '../clocks/repair-times.ts'
import { wakeTickets } from '../clocks/wake-tickets.ts'

let service: Service

before(async () => {
  service = await startService({ trustProxy: '127.0.0.1' })
})
after(() => service.close())

type Listed = { agentId: string; ticketNumber: number; subject: string }
const subjects = (body: { data: Listed[] }) => body.data.map(({ subject }) => subject)

/** Two agents with tickets of their own, and a member who is limited to the second. */
async function twoAgents() {
  const desk = await openDesk(service)
  const { client } = desk
  const second = (await client.request('POST', '/agents', { name: 'Second' })).body.id as string
  const openFor = (agentId: string, subject: string, more: object = {}) =>
    client.request('POST', `/agents/${agentId}/helpdesk/tickets`, {
      subject,
      description: 'The parcel has not arrived yet, and I am waiting for it.',
      customer: { email: 'eve@example.org' },
      ...more,
    })
  const limited = await memberOf(service, client.accountId, 'support', { agentIds: [second] })
  const whole = await memberOf(service, client.accountId, 'support')
  return { desk, client, second, openFor, limited, whole }
}

test('one list holds the tickets of all agents, page by page in every order', async () => {
  const { desk, client, second, openFor, limited } = await twoAgents()
  for (const [at, agentId] of [desk.agentId, second, desk.agentId, second].entries())
    await openFor(agentId, `T${at}`, { assigneeId: null })
  for (const sortBy of ['updatedAt', 'createdAt', 'lastMessageAt', 'waitingSince', 'dueAt'])
    for (const order of ['asc', 'desc']) {
      const query = `/inbox/tickets?sortBy=${sortBy}&order=${order}&limit=3`
      const first = (await client.request('GET', query)).body
      const rest = (await client.request('GET', `${query}&cursor=${first.pagination.cursor}`)).body
      const all = [...subjects(first), ...subjects(rest)]
      const expected = ['T0', 'T1', 'T2', 'T3']
      assert.deepEqual(all, order === 'asc' ? expected : expected.reverse(), `${sortBy} ${order}`)
      assert.equal(rest.pagination.hasMore, false)
    }
  assert.deepEqual(subjects((await limited.request('GET', '/inbox/tickets')).body), ['T3', 'T1'])
  const foreign = await limited.request('GET', `/inbox/tickets?agentId=${desk.agentId}`)
  assert.deepEqual(subjects(foreign.body), [])
  const other = await openDesk(service)
  assert.deepEqual((await other.client.request('GET', '/inbox/tickets')).body.data, [])
})

test('each filter keeps what it says', async () => {
  const { desk, client, second, openFor, whole } = await twoAgents()
  const team = (await desk.call('POST', '/teams', { name: 'Billing', memberIds: [whole.memberId] })).body
  const tag = (await desk.call('POST', '/tags', { name: 'VIP' })).body
  await openFor(desk.agentId, 'urgent', { assigneeId: null, priority: 'urgent', teamId: team.id })
  await openFor(second, 'mine', { assigneeId: whole.memberId })
  await openFor(desk.agentId, 'tagged', { assigneeId: null, statusCategory: 'on_customer' })
  await desk.call('PUT', '/tickets/2/tags', { tagIds: [tag.id] })
  await openFor(second, 'German', {
    assigneeId: null,
    description: 'Wo ist mein Paket? Ich warte seit zwei Wochen darauf und niemand antwortet mir.',
  })
  const kept = async (query: string) =>
    subjects((await whole.request('GET', `/inbox/tickets?order=asc&sortBy=createdAt&${query}`)).body)
  assert.deepEqual(await kept('priority=urgent,high'), ['urgent'])
  assert.deepEqual(await kept('assigneeId=me'), ['mine'])
  assert.deepEqual(await kept('assigneeId=none,me'), ['urgent', 'mine', 'tagged', 'German'])
  assert.deepEqual(await kept('assigneeId=nobody'), [])
  assert.deepEqual(await kept(`teamId=${team.id}`), ['urgent'])
  assert.deepEqual(await kept('teamId=none'), ['mine', 'tagged', 'German'])
  assert.deepEqual(await kept('tag=vip'), ['tagged'])
  assert.deepEqual(await kept('status=on_customer'), ['tagged'])
  assert.deepEqual(await kept('language=de'), ['German'])
  assert.deepEqual(await kept(`agentId=${second}`), ['mine', 'German'])
  assert.deepEqual(await kept('unread=true'), ['urgent', 'mine', 'German'])
  assert.deepEqual(await kept('waitingFor=1'), [])
  assert.deepEqual(await kept('snoozed=true'), [])
  assert.deepEqual(await kept('target=missed'), [])
  const refused = await client.request('GET', '/inbox/tickets?assigneeId=me')
  assert.deepEqual([refused.status, refused.body.error.code], [400, 'VALIDATION_INVALID_BODY'])
})

test('a row says who wrote last, and what is due', async () => {
  const { desk, client } = await twoAgents()
  await desk.call('PUT', '/settings', { targets: { none: { first_response: 30, resolution: 600 } } })
  const conversationId = await write(service, desk, 'My lamp is broken', '+12025550187')
  await desk.open({ subject: 'Lamp', conversationId, assigneeId: null })
  const row = async () => (await client.request('GET', '/inbox/tickets')).body.data[0]
  const opened = await row()
  assert.equal(opened.lastMessage, null)
  assert.equal(opened.waitingSince !== null && opened.dueAt !== null, true)
  const minutes = (Date.parse(opened.dueAt) - Date.parse(opened.createdAt)) / 60_000
  assert.equal(Math.round(minutes), 30)
  await write(service, desk, 'Are you there?', '+12025550187')
  assert.deepEqual(
    [(await row()).lastMessage.author, (await row()).lastMessage.text],
    ['customer', 'Are you there?'],
  )
  const author = { authorEmail: 'ann@example.com' }
  await desk.client.request('POST', `/agents/${desk.agentId}/conversations/${conversationId}/takeover`, {
    memberEmail: 'ann@example.com',
  })
  const reply = await desk.call('POST', '/tickets/1/messages', {
    type: 'reply',
    content: 'We are.',
    ...author,
  })
  assert.equal(reply.status, 201)
  const answered = await row()
  assert.deepEqual(
    [
      answered.lastMessage.author,
      answered.lastMessage.name,
      answered.lastMessage.text,
      answered.waitingSince,
    ],
    ['agent', 'ann', 'We are.', null],
  )
})

test('a snoozed ticket returns to the team at its time, once', async () => {
  const { desk, client } = await twoAgents()
  await desk.open({ subject: 'Later', assigneeId: null })
  const soon = new Date(Date.now() + 3_600_000).toISOString()
  const put = await desk.call('PATCH', '/tickets/1', { wakesAt: soon })
  assert.deepEqual([put.status, put.body.statusCategory, put.body.wakesAt], [200, 'on_hold', soon])
  // A change of something else does not wake it.
  assert.equal((await desk.call('PATCH', '/tickets/1', { priority: 'low' })).body.wakesAt, soon)
  assert.deepEqual(subjects((await client.request('GET', '/inbox/tickets?snoozed=true')).body), ['Later'])
  for (const wakesAt of [new Date(0).toISOString(), '2099-01-01', 'tomorrow'])
    assert.equal((await desk.call('PATCH', '/tickets/1', { wakesAt })).status, 400, wakesAt)
  assert.equal(
    (await desk.call('PATCH', '/tickets/1', { wakesAt: soon, statusCategory: 'closed' })).status,
    400,
  )
  assert.equal(await wakeTickets(service.ctx), 0)
  await service.ctx.db
    .updateTable('tickets')
    .set({ wakes_at: new Date(Date.now() - 1_000) })
    .where('account_id', '=', client.accountId)
    .execute()
  const woken = await Promise.all([wakeTickets(service.ctx), wakeTickets(service.ctx)])
  assert.equal(woken[0] + woken[1], 1)
  const ticket = (await desk.call('GET', '/tickets/1')).body
  assert.deepEqual([ticket.statusCategory, ticket.wakesAt], ['on_you', undefined])
  const events = (await desk.call('GET', '/tickets/1/messages?types=event')).body.data
  assert.deepEqual(
    events.map(({ metadata }: { metadata: { eventType: string } }) => metadata.eventType),
    ['status_change', 'snoozed', 'priority_changed', 'status_change'],
  )
})

test('a ticket that a former version has closed stays closed at its time', async () => {
  const { desk, client } = await twoAgents()
  await desk.open({ assigneeId: null })
  await desk.call('PATCH', '/tickets/1', { wakesAt: new Date(Date.now() + 3_600_000).toISOString() })
  const past = { status_category: 'closed' as const, wakes_at: new Date(Date.now() - 1_000) }
  await service.ctx.db.updateTable('tickets').set(past).where('account_id', '=', client.accountId).execute()
  assert.equal(await wakeTickets(service.ctx), 0)
  const ticket = (await desk.call('GET', '/tickets/1')).body
  assert.deepEqual([ticket.statusCategory, ticket.wakesAt], ['closed', undefined])
})

test('times that a former version did not keep are repaired', async () => {
  const { desk, client } = await twoAgents()
  await desk.call('PUT', '/settings', { targets: { none: { resolution: 600 } } })
  await desk.open({ assigneeId: null })
  await desk.open({ assigneeId: null, statusCategory: 'on_customer' })
  const times = async () =>
    (await client.request('GET', '/inbox/tickets?sortBy=createdAt&order=asc')).body.data.map(
      ({ waitingSince, dueAt }: { waitingSince: string | null; dueAt: string | null }) => [
        waitingSince !== null,
        dueAt !== null,
      ],
    )
  const kept = await times()
  assert.deepEqual(kept, [
    [true, true],
    [false, false],
  ])
  await repairTimes(service.ctx.db)
  const swapped = sql`update tickets set waiting_since = case when waiting_since is null then now() end, due_at = null
    where account_id = ${client.accountId}`
  await swapped.execute(service.ctx.db)
  assert.ok((await repairTimes(service.ctx.db)) >= 2)
  assert.deepEqual(await times(), kept)
  assert.equal(await repairTimes(service.ctx.db), 0)
})

test('a ticket is woken by hand and by its customer', async () => {
  const { desk } = await twoAgents()
  const conversationId = await write(service, desk, 'Hello', '+12025550188')
  await desk.open({ conversationId, assigneeId: null })
  const wakesAt = new Date(Date.now() + 3_600_000).toISOString()
  await desk.call('PATCH', '/tickets/1', { wakesAt })
  assert.equal((await desk.call('PATCH', '/tickets/1', { wakesAt: null })).body.statusCategory, 'on_you')
  await desk.call('PATCH', '/tickets/1', { wakesAt })
  await write(service, desk, 'Any news?', '+12025550188')
  const ticket = (await desk.call('GET', '/tickets/1')).body
  assert.deepEqual([ticket.statusCategory, ticket.wakesAt], ['on_you', undefined])
})

test('several tickets are changed alike, and each that cannot be says why', async () => {
  const { desk, client, second, openFor, limited } = await twoAgents()
  await desk.call('POST', '/tags', { name: 'Refund' })
  await openFor(desk.agentId, 'one', { assigneeId: null })
  await openFor(second, 'two', { assigneeId: null })
  const both = [
    { agentId: desk.agentId, ticketNumber: 1 },
    { agentId: second, ticketNumber: 1 },
  ]
  const change = await client.request('POST', '/inbox/tickets/change', {
    tickets: [...both, { agentId: second, ticketNumber: 9 }, { agentId: 'x', ticketNumber: 1 }],
    priority: 'high',
    addTags: ['refund'],
  })
  assert.deepEqual(
    change.body.results.map(({ error }: { error: { code: string } | null }) => error?.code ?? null),
    [null, 'RESOURCE_NOT_FOUND', 'TICKET_NOT_FOUND', 'AGENT_NOT_FOUND'],
  )
  const rows = (await client.request('GET', '/inbox/tickets?sortBy=createdAt&order=asc')).body.data
  assert.deepEqual(
    rows.map(({ priority, tags }: { priority: string; tags: { name: string }[] }) => [
      priority,
      tags[0]?.name,
    ]),
    [
      ['high', 'Refund'],
      ['none', undefined],
    ],
  )
  const own = await limited.request('POST', '/inbox/tickets/change', {
    tickets: both,
    statusCategory: 'closed',
  })
  assert.deepEqual(
    own.body.results.map(({ error }: { error: { code: string } | null }) => error?.code ?? null),
    ['AGENT_NOT_FOUND', null],
  )
})

test('views are own, of a team, or of everybody, and count what they hold', async () => {
  const { desk, client, second, openFor, limited, whole } = await twoAgents()
  await openFor(desk.agentId, 'one', { assigneeId: null, priority: 'urgent' })
  await openFor(second, 'two', { assigneeId: null, priority: 'urgent' })
  const team = (await desk.call('POST', '/teams', { name: 'Billing', memberIds: [whole.memberId] })).body
  const save = (who: { request: typeof whole.request }, body: object) =>
    who.request('POST', '/inbox/views', body)
  const query = { priority: 'urgent', sortBy: 'waitingSince', order: 'asc' }
  const all = await save(whole, { name: 'Urgent', owner: 'all', query })
  assert.deepEqual([all.status, all.body.owner, all.body.count], [201, 'all', 2])
  assert.equal(
    (await save(whole, { name: 'Mine', owner: 'member', query: { assigneeId: 'me' } })).body.count,
    0,
  )
  assert.equal((await save(whole, { name: 'Bills', owner: 'team', teamId: team.id, query })).status, 201)
  assert.equal((await save(whole, { name: 'x', owner: 'team', query })).status, 400)
  assert.equal((await save(whole, { name: 'x', owner: 'team', teamId: 'x', query })).status, 422)
  assert.equal((await save(limited, { name: 'x', owner: 'team', teamId: team.id, query })).status, 422)
  assert.equal((await save(client, { name: 'x', owner: 'member', query })).status, 400)
  const seen = async (who: { request: typeof whole.request }) =>
    (await who.request('GET', '/inbox/views')).body.map(
      ({ name, count }: { name: string; count: number }) => [name, count],
    )
  assert.deepEqual(await seen(whole), [
    ['Urgent', 2],
    ['Mine', 0],
    ['Bills', 2],
  ])
  assert.deepEqual(await seen(limited), [['Urgent', 1]])
  await save(whole, { name: 'My share', owner: 'all', query: { assigneeId: 'me' } })
  assert.deepEqual((await seen(client)).at(-1), ['My share', null])
  const [support] = (await desk.call('GET', '/teams')).body
  await save(whole, { name: 'Of the first agent', owner: 'team', teamId: support.id, query })
  assert.equal(
    (await seen(limited)).some(([name]: [string]) => name === 'Of the first agent'),
    false,
  )
  const other = await openDesk(service)
  assert.deepEqual(await seen(other.client), [])
  const path = `/inbox/views/${all.body.id}`
  assert.equal((await other.client.request('PUT', path, { name: 'x', owner: 'all', query })).status, 404)
  assert.equal((await other.client.request('DELETE', path)).status, 404)
  const changed = await limited.request('PUT', path, {
    name: 'High',
    owner: 'all',
    query: { priority: 'high' },
  })
  assert.deepEqual([changed.body.name, changed.body.count], ['High', 0])
  assert.equal((await whole.request('DELETE', path)).status, 200)
  assert.equal((await whole.request('DELETE', path)).status, 404)
})
