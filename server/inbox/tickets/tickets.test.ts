import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { type Desk, openDesk } from '../../../test/open-desk.ts'
import { type Service, startService } from '../../../test/start.ts'
import { newId } from '../../platform/db/ids.ts'
import { json } from '../../platform/db/statements/json.ts'

let service: Service

before(async () => {
  service = await startService()
})
after(() => service.close())

const online = (desk: Desk, ...names: string[]) =>
  Promise.all(
    names.map((name) =>
      desk.client.request('PUT', `/members/${desk.members[name]}/presence`, { presence: 'online' }),
    ),
  )

test('a ticket is created as requested', async () => {
  const desk = await openDesk(service)
  const { createdAt, updatedAt, statusId, ...ticket } = await desk.open()
  assert.match(String(createdAt), /^\d{4}-.*\.\d{3}Z$/)
  assert.equal(createdAt, updatedAt)
  const statuses = (await desk.call('GET', '/ticket-statuses')).body
  assert.equal(statuses.find(({ category }: { category: string }) => category === 'new').id, statusId)
  assert.deepEqual(ticket, {
    ticketNumber: 1,
    subject: 'Late',
    description: 'Where is it?',
    statusCategory: 'new',
    assigneeId: null,
    customer: { id: null, name: null, email: 'eve@example.org', phoneNumber: null },
    metadata: {},
    channel: 'helpdesk',
    conversationId: null,
    teamId: null,
    priority: 'none',
    lastMessageAt: null,
  })
  const team = (await desk.call('POST', '/teams', { name: 'Billing', memberIds: [desk.members.bob] })).body
  const full = await desk.open({
    statusCategory: 'on_hold',
    assigneeEmail: 'BOB@example.com',
    teamId: team.id,
    priority: 'urgent',
  })
  assert.deepEqual(
    [full.ticketNumber, full.statusCategory, full.assigneeId, full.teamId, full.priority],
    [2, 'on_hold', desk.members.bob, team.id, 'urgent'],
  )
})

test('an invalid ticket is rejected, and nothing is stored', async () => {
  const desk = await openDesk(service)
  const other = await openDesk(service)
  const team = (await other.call('GET', '/teams')).body[0]
  const status = (await other.call('GET', '/ticket-statuses')).body[0]
  const conversation = await conversationOf(other)
  const own = await conversationOf(desk)
  await desk.open({ conversationId: own })
  const wrong: [object, number, string][] = [
    [{ statusId: status.id }, 422, 'TICKET_INVALID_STATUS'],
    [{ statusId: 'x' }, 422, 'TICKET_INVALID_STATUS'],
    [{ teamId: team.id }, 422, 'TICKET_TEAM_NOT_FOUND'],
    [{ teamId: 'x' }, 422, 'TICKET_TEAM_NOT_FOUND'],
    [{ assigneeId: other.members.ann }, 422, 'TICKET_TEAM_MEMBER_NOT_FOUND'],
    [{ assigneeEmail: 'nobody@example.com' }, 422, 'TICKET_TEAM_MEMBER_NOT_FOUND'],
    [{ conversationId: conversation }, 404, 'RESOURCE_NOT_FOUND'],
    [{ conversationId: own, statusCategory: 'on_you' }, 409, 'RESOURCE_DUPLICATE'],
    [{ statusId: status.id, statusCategory: 'new' }, 400, 'VALIDATION_INVALID_BODY'],
    [{ assigneeId: null, assigneeEmail: 'ann@example.com' }, 400, 'VALIDATION_INVALID_BODY'],
    [{ statusCategory: 'open' }, 400, 'VALIDATION_INVALID_BODY'],
  ]
  const customer = { email: 'a@b.co', name: 'x'.repeat(256) }
  const named = await desk.call('POST', '/tickets', { subject: 'x', description: 'x', customer })
  assert.deepEqual(Object.keys(named.body.error.details), ['customer.name'])
  const { ticketNumber } = await desk.open({ customer: { ...customer, name: 'x'.repeat(255) } })
  for (const [fields, code, name] of wrong) {
    const create = await desk.call('POST', '/tickets', {
      subject: 'x',
      description: 'x',
      customer: { email: 'a@b.co' },
      ...fields,
    })
    assert.deepEqual([create.status, create.body.error.code], [code, name], JSON.stringify(fields))
    const update = await desk.call('PATCH', `/tickets/${ticketNumber}`, { priority: 'high', ...fields })
    assert.deepEqual([update.status, update.body.error.code], [code, name], JSON.stringify(fields))
  }
  assert.equal((await desk.call('GET', `/tickets/${ticketNumber}`)).body.priority, 'none')
  assert.equal((await desk.call('GET', `/tickets/${ticketNumber}/messages?types=event`)).body.data.length, 0)
  assert.equal((await desk.call('GET', '/tickets?includeTotal=true')).body.pagination.total, 2)
})

const conversationOf = async ({ owner }: Desk): Promise<string> => {
  const { id } = await service.ctx.db
    .insertInto('conversations')
    .values({
      id: newId(),
      account_id: owner.accountId,
      agent_id: owner.agentId,
      source: 'API',
      status: 'ongoing',
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

test('an update changes everything at once, with an event for each change', async () => {
  const desk = await openDesk(service)
  const { ticketNumber } = await desk.open()
  const team = (await desk.call('GET', '/teams')).body[0]
  const change = { statusCategory: 'on_hold', assigneeId: desk.members.ann, teamId: team.id, priority: 'low' }
  const { status, body } = await desk.call('PATCH', `/tickets/${ticketNumber}`, change)
  assert.equal(status, 200)
  assert.deepEqual(
    {
      statusCategory: body.statusCategory,
      assigneeId: body.assigneeId,
      teamId: body.teamId,
      priority: body.priority,
    },
    change,
  )
  await desk.call('PATCH', `/tickets/${ticketNumber}`, change)
  await desk.call('PATCH', `/tickets/${ticketNumber}`, {})
  const events = (await desk.call('GET', `/tickets/${ticketNumber}/messages?types=event&order=desc`)).body
    .data
  assert.deepEqual(
    events.map(({ metadata }: { metadata: { eventType: string } }) => metadata.eventType),
    ['priority_changed', 'team_changed', 'assign', 'status_change'],
  )
  const { assignedFrom, assignedTo, doneBy } = events[2].metadata
  assert.equal(assignedFrom, null)
  const ann = { id: desk.members.ann, name: assignedTo.name, email: 'ann@example.com', type: 'agent' }
  assert.deepEqual(assignedTo, ann)
  assert.deepEqual([Object.keys(doneBy).sort(), doneBy.name], [['email', 'id', 'name', 'type'], 'API'])
  const freed = await desk.call('PATCH', `/tickets/${ticketNumber}`, { assigneeId: null, teamId: null })
  assert.deepEqual([freed.body.assigneeId, freed.body.teamId], [null, null])
})

test('events stored in the former format are converted to the published one', async () => {
  const desk = await openDesk(service)
  const { ticketNumber } = await desk.open()
  await desk.call('PATCH', `/tickets/${ticketNumber}`, { assigneeId: desk.members.ann })
  const former = {
    eventType: 'assignee_changed',
    assignedFrom: null,
    assignedTo: desk.members.ann,
    doneBy: 'api',
  }
  const events = service.ctx.db.updateTable('ticket_messages').where('type', '=', 'event')
  await events
    .where('account_id', '=', desk.owner.accountId)
    .set({ metadata: json(former) })
    .execute()
  const migration = new URL('../../platform/db/migrations/0052_persons_of_events.sql', import.meta.url)
  await sql.raw(await readFile(migration, 'utf8')).execute(service.ctx.db)
  const { body } = await desk.call('GET', `/tickets/${ticketNumber}/messages?types=event`)
  assert.deepEqual(body.data[0].metadata, {
    eventType: 'assign',
    assignedFrom: null,
    assignedTo: { id: desk.members.ann, name: 'ann', email: 'ann@example.com', type: 'agent' },
    doneBy: { id: null, name: 'API', email: null, type: 'system' },
  })
})

test('tickets are assigned to the available member with the fewest', async () => {
  const desk = await openDesk(service, ['ann', 'bob', 'cid', 'dan'])
  assert.equal((await desk.open()).assigneeId, null, 'nobody is there')
  await online(desk, 'ann', 'bob')
  const first = [(await desk.open()).assigneeId, (await desk.open()).assigneeId]
  assert.deepEqual(first.sort(), [desk.members.ann, desk.members.bob].sort())
  await desk.open({ assigneeId: desk.members.ann })
  assert.equal((await desk.open()).assigneeId, desk.members.bob)
  assert.equal((await desk.open({ assigneeId: null })).assigneeId, null)
  const team = (await desk.call('POST', '/teams', { name: 'T', memberIds: [desk.members.cid] })).body
  assert.equal((await desk.open({ teamId: team.id })).assigneeId, null, 'nobody of the team')
  await online(desk, 'cid')
  for (let ticket = 0; ticket < 3; ticket++) {
    assert.equal((await desk.open({ teamId: team.id })).assigneeId, desk.members.cid)
  }
  await service.ctx.db
    .updateTable('members')
    .set({ last_seen_at: new Date(Date.now() - 16 * 60_000) })
    .where('id', '=', desk.members.ann!)
    .execute()
  await desk.client.request('PUT', `/members/${desk.members.bob}/presence`, { presence: 'away' })
  assert.equal((await desk.open()).assigneeId, desk.members.cid, 'the others have left')
  const members = (await desk.call('GET', '/members')).body
  assert.deepEqual(
    members.map(({ name, presence, openTickets, teamIds }: Record<string, unknown>) => [
      name,
      presence,
      openTickets,
      teamIds,
    ]),
    [
      ['ann', 'offline', 2, []],
      ['bob', 'away', 2, []],
      ['cid', 'online', 4, [team.id]],
      ['dan', 'offline', 0, []],
    ],
  )
})

test('many concurrent tickets are distributed evenly and numbered without gaps', async () => {
  const desk = await openDesk(service, ['ann', 'bob', 'cid', 'dan'])
  await online(desk, 'ann', 'bob', 'cid', 'dan')
  const made = await Promise.all(Array.from({ length: 24 }, () => desk.open()))
  assert.deepEqual(
    made.map(({ ticketNumber }) => ticketNumber).sort((a, b) => a - b),
    Array.from({ length: 24 }, (_, at) => at + 1),
  )
  for (const id of Object.values(desk.members)) {
    assert.equal(made.filter(({ assigneeId }) => assigneeId === id).length, 6)
  }
})

test('concurrent updates are serialised, and their events are consistent', async () => {
  const desk = await openDesk(service)
  const { ticketNumber } = await desk.open()
  const moves = Array.from({ length: 12 }, (_, at) => ['on_you', 'on_hold', 'on_customer'][at % 3])
  await Promise.all(
    moves.map((statusCategory) => desk.call('PATCH', `/tickets/${ticketNumber}`, { statusCategory })),
  )
  const events = (await desk.call('GET', `/tickets/${ticketNumber}/messages?types=event&limit=100`)).body.data
  let at = 'new'
  for (const { metadata } of events) {
    assert.equal(metadata.statusFrom, at)
    at = metadata.statusTo
  }
  assert.equal((await desk.call('GET', `/tickets/${ticketNumber}`)).body.statusCategory, at)
})
