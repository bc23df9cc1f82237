import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { sql } from 'kysely'
import { onPostgres } from '../../../test/database.ts'
import { type Desk, openDesk, write } from '../../../test/open-desk.ts'
import { clientOf, type Service, startService } from '../../../test/start.ts'
import { until } from '../../../test/until.ts'
import { answerConversation } from '../../channels/replies/answer-conversation.ts'
import { newId } from '../../platform/db/ids.ts'
import { openTicket } from '../tickets/open-ticket.ts'
import { purgeEvents } from './event-queries.ts'

let service: Service
const open = new Set<AbortController>()

before(async () => {
  service = await startService()
})
afterEach(() => {
  for (const controller of open) controller.abort()
  open.clear()
})
after(() => service.close())

type Seen = { id: number; event: string; data: Record<string, unknown> }

/** Reads the stream until it is closed; `seen` holds what has arrived so far. */
async function follow(desk: Desk, lastEventId?: number | string, client = desk.client) {
  const controller = new AbortController()
  open.add(controller)
  const response = await client.raw('GET', `/agents/${desk.agentId}/helpdesk/events`, {
    signal: controller.signal,
    headers: lastEventId === undefined ? {} : { 'last-event-id': String(lastEventId) },
  })
  assert.equal(response.status, 200)
  assert.equal(response.headers.get('content-type'), 'text/event-stream')
  const seen: Seen[] = []
  const state = { seen, ended: false, leave: () => controller.abort() }
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  void (async () => {
    let rest = ''
    for (;;) {
      const { value, done } = await reader.read()
      if (done) break
      const pieces = (rest + value).split('\n\n')
      rest = pieces.pop() ?? ''
      for (const piece of pieces) {
        const [, id, event, data] = /^id: (\d+)\nevent: (\w+)\ndata: (.*)$/.exec(piece) ?? []
        if (id) seen.push({ id: Number(id), event: event ?? '', data: JSON.parse(data ?? '') })
      }
    }
  })()
    .catch(() => {})
    .finally(() => {
      state.ended = true
    })
  return state
}

/** Returns the number of help desk notifications that the work causes. */
async function noticesOf(desk: Desk, work: () => Promise<unknown>): Promise<number> {
  const { db, notifier } = service.ctx
  const heard: string[] = []
  const stop = notifier.on('helpdesk', (id) => heard.push(id))
  await work()
  // Events arrive in the order of their commits, so everything before this one has arrived with it.
  const last = newId()
  await notifier.publish(db, 'helpdesk', last)
  await until('the last notice', () => heard.includes(last))
  stop()
  return heard.filter((id) => id === desk.agentId).length
}

const numbers = (seen: Seen[]) => seen.map(({ id }) => id)

test('events are streamed as they happen, and again to readers that reconnect', async () => {
  const desk = await openDesk(service)
  const first = await follow(desk)
  await desk.open()
  const reply = await desk.call('POST', '/tickets/1/messages', {
    type: 'reply',
    content: 'Hi',
    authorId: desk.members.ann,
  })
  await desk.client.request('PUT', `/members/${desk.members.ann}/presence`, { presence: 'online' })
  await desk.client.request('PUT', `/members/${desk.members.ann}/presence`, { presence: 'online' })
  await desk.call('POST', '/tickets/1/notes', { content: '@bob please', authorId: desk.members.ann })
  await until('what is told', () => first.seen.length >= 5)
  assert.deepEqual(
    first.seen.map(({ id, event }) => [id, event]),
    [
      [1, 'ticket'],
      [2, 'message'],
      [3, 'presence'],
      [4, 'message'],
      [5, 'mention'],
    ],
  )
  assert.deepEqual(first.seen[1]?.data, { ticketNumber: 1, messageId: reply.body.id })
  assert.equal(first.seen[4]?.data.memberId, desk.members.bob)
  first.leave()
  await desk.call('PATCH', '/tickets/1', { priority: 'low' })
  const second = await follow(desk, 2)
  await until('what is told', () => second.seen.length >= 4)
  assert.deepEqual(numbers(second.seen), [3, 4, 5, 6])
  const fresh = await follow(desk)
  await desk.call('PATCH', '/tickets/1', { priority: 'high' })
  await until('what is told', () => fresh.seen.length > 0 && second.seen.length > 4)
  assert.deepEqual([numbers(fresh.seen), numbers(second.seen).at(-1)], [[7], 7])
})

test('takeover, reply, hand-back, end and escalation are reported', async () => {
  const desk = await openDesk(service)
  const ids: string[] = []
  for (let at = 0; at < 2; at++) {
    const said = await desk.client.request('POST', `/agents/${desk.agentId}/chat`, {
      message: 'Hi',
      stream: false,
    })
    ids.push(said.body.data.metadata.conversationId)
  }
  const { seen } = await follow(desk)
  const [first, second] = ids
  const act = (id: string | undefined, what: string, body?: object) =>
    desk.client.request('POST', `/agents/${desk.agentId}/conversations/${id}/${what}`, body)
  const nobody = { id: null, name: null, email: null, phoneNumber: null }
  const wanted = {
    ...desk.owner,
    conversationId: first ?? '',
    subject: 'x',
    description: 'x',
    customer: nobody,
    assigneeId: null,
  }
  const escalate = () => service.ctx.db.transaction().execute((trx) => openTicket(service.ctx, trx, wanted))
  const reply = { type: 'reply', content: 'Hi', authorId: desk.members.ann }
  const works: [string, () => Promise<unknown>][] = [
    ['takeover', () => act(first, 'takeover', { memberId: desk.members.ann })],
    ['reply', () => desk.call('POST', '/tickets/1/messages', reply)],
    ['handback', () => act(first, 'handback')],
    ['end', () => act(second, 'end')],
    ['escalation', escalate],
  ]
  // The watcher is told at once, and not by the next periodic query.
  for (const [what, work] of works) assert.ok((await noticesOf(desk, work)) > 0, what)
  await until('what is told', () => seen.length >= 7)
  assert.deepEqual(
    seen.map(({ event }) => event),
    ['ticket', 'conversation', 'message', 'ticket', 'conversation', 'conversation', 'ticket'],
  )
})

test('a ticket that a channel opens because the agent cannot answer is reported at once', async () => {
  const desk = await openDesk(service)
  const conversationId = await write(service, desk, 'Hello?')
  await desk.client.request('PUT', `/agents/${desk.agentId}`, { creditLimit: 0 })
  const { seen } = await follow(desk)
  const notices = await noticesOf(desk, () => answerConversation(service.ctx, { conversationId }))
  assert.ok(notices > 0)
  await until('what is told', () => seen.length > 0)
  assert.deepEqual(
    seen.map(({ event, data }) => [event, data]),
    [['ticket', { ticketNumber: 1 }]],
  )
})

test('a reader that reconnects too late is told to reload everything', async () => {
  const desk = await openDesk(service)
  for (let at = 0; at < 3; at++) await desk.open()
  const { db } = service.ctx
  await sql`update helpdesk_events set created_at = now() - interval '25 hours' where agent_id = ${desk.agentId}
    and number <= 2`.execute(db)
  assert.ok((await purgeEvents(db)) >= 2)
  for (const [after, expected] of [
    [1, [[3, 'reload']]],
    [2, [[3, 'ticket']]],
    [99, [[3, 'reload']]],
  ] as const) {
    const { seen, leave } = await follow(desk, after)
    await until('what is told', () => seen.length > 0)
    assert.deepEqual(
      seen.map(({ id, event }) => [id, event]),
      expected,
    )
    leave()
  }
  const { seen } = await follow(desk, 'nonsense')
  await desk.open()
  await until('what is told', () => seen.length > 0)
  assert.deepEqual(numbers(seen), [4])
})

test('more than one batch arrives in order and without gaps', async () => {
  const desk = await openDesk(service)
  await desk.open()
  await sql`insert into helpdesk_events (agent_id, number, account_id, type, data)
    select ${desk.agentId}, n, ${desk.owner.accountId}::uuid, 'ticket', '{}' from generate_series(2, 950) as n`.execute(
    service.ctx.db,
  )
  await sql`update helpdesk_streams set last_number = 950 where agent_id = ${desk.agentId}`.execute(
    service.ctx.db,
  )
  const { seen } = await follow(desk, 0)
  await until('what is told', () => seen.length >= 950)
  assert.deepEqual(
    numbers(seen),
    Array.from({ length: 950 }, (_, at) => at + 1),
  )
})

test('an account follows 50 streams at once, and another one when one of them has ended', async () => {
  const desk = await openDesk(service)
  const path = `/agents/${desk.agentId}/helpdesk/events`
  const states = await Promise.all(Array.from({ length: 50 }, () => follow(desk)))
  const refused = await desk.client.request('GET', path)
  assert.deepEqual([refused.status, refused.body.error.code], [429, 'RATE_LIMIT_TOO_MANY_REQUESTS'])
  assert.match(refused.body.error.message, /50 open event streams/)
  assert.ok(Number(refused.headers.get('retry-after')) >= 1)
  const other = await openDesk(service)
  await follow(other)
  await desk.open()
  await until('an event for each', () => states.every(({ seen }) => seen.length === 1))
  states[0]?.leave()
  await until('a free place', async () => {
    const response = await desk.client.raw('GET', path, { headers: { 'last-event-id': '0' } })
    await response.body?.cancel()
    return response.status === 200
  })
})

test('when the agent is deleted, the stream ends', async () => {
  const desk = await openDesk(service)
  const state = await follow(desk)
  await desk.client.request('DELETE', `/agents/${desk.agentId}`)
  await until('the end', () => state.ended)
})

test('events of one process reach readers in the other', { skip: !onPostgres() }, async () => {
  const desk = await openDesk(service)
  const beside = await startService({}, service)
  try {
    const there = await follow(desk, 0, clientOf(beside.url, desk.client.key))
    await Promise.all(Array.from({ length: 20 }, () => desk.open()))
    await until('what is told', () => there.seen.length >= 20)
    assert.deepEqual(
      numbers(there.seen),
      Array.from({ length: 20 }, (_, at) => at + 1),
    )
    // A service that stops does not leave readers waiting.
    const closing = beside.close()
    await until('the end', () => there.ended)
    await closing
  } finally {
    for (const controller of open) controller.abort()
  }
})
