import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { type Desk, openDesk } from '../../../test/open-desk.ts'
import { type Service, startService } from '../../../test/start.ts'
import { flagBreaches } from './flag-breaches.ts'

let service: Service

before(async () => {
  service = await startService()
})
after(() => service.close())

type Shown = {
  kind: string
  targetMinutes: number
  startedAt: string
  dueAt: string | null
  metAt: string | null
  breached: boolean
}

const clocks = async ({ call }: Desk): Promise<Record<string, Shown>> => {
  const rows: Shown[] = (await call('GET', '/tickets/1/clocks')).body
  return Object.fromEntries(rows.map((row) => [row.kind, row]))
}
const patch = ({ call }: Desk, body: object) => call('PATCH', '/tickets/1', body)
const reply = ({ call, members }: Desk) =>
  call('POST', '/tickets/1/messages', { type: 'reply', content: 'Hi', authorId: members.ann })
const minutesLeft = (clock: Shown | undefined): number =>
  Math.round((Date.parse(clock?.dueAt ?? '') - Date.now()) / 60_000)

/** Moves the clocks as if the given minutes had passed. */
const rewind = ({ agentId }: Desk, minutes: number) =>
  sql`update ticket_clocks set started_at = started_at - ${minutes} * interval '1 minute',
    due_at = due_at - ${minutes} * interval '1 minute' where agent_id = ${agentId}`.execute(service.ctx.db)

const targets = {
  none: { first_response: 60, next_response: 120, resolution: 600 },
  urgent: { first_response: 10, resolution: 100 },
}

test('clocks start, pause, resume, are met and restart', async () => {
  const desk = await openDesk(service)
  await desk.call('PUT', '/settings', { targets })
  await desk.open()
  const first = await clocks(desk)
  assert.deepEqual(Object.keys(first).sort(), ['first_response', 'resolution'])
  assert.deepEqual([minutesLeft(first.first_response), minutesLeft(first.resolution)], [60, 600])

  await rewind(desk, 100)
  await reply(desk)
  const replied = await clocks(desk)
  assert.ok(replied.first_response?.metAt)
  assert.equal(replied.first_response.breached, true, 'later than it should have been')
  assert.equal(replied.resolution?.dueAt, null, 'it waits for the customer')
  await patch(desk, { statusCategory: 'on_you' })
  assert.equal(minutesLeft((await clocks(desk)).resolution), 500)

  await patch(desk, { statusCategory: 'closed' })
  assert.ok((await clocks(desk)).resolution?.metAt)
  await patch(desk, { statusCategory: 'on_you' })
  const again = (await clocks(desk)).resolution
  assert.deepEqual([again?.metAt, minutesLeft(again)], [null, 600])
})

test('another priority has other targets, minus the elapsed time', async () => {
  const desk = await openDesk(service)
  await desk.call('PUT', '/settings', { targets })
  await desk.open()
  await rewind(desk, 4)
  await patch(desk, { priority: 'urgent' })
  const urgent = await clocks(desk)
  assert.deepEqual([minutesLeft(urgent.first_response), minutesLeft(urgent.resolution)], [6, 96])
  await patch(desk, { priority: 'low' })
  assert.deepEqual(await clocks(desk), {})
  await patch(desk, { priority: 'none' })
  assert.deepEqual(Object.keys(await clocks(desk)), ['resolution'])
})

test('a target that is missed is flagged once, with an event', async () => {
  const desk = await openDesk(service)
  await desk.call('PUT', '/settings', { targets })
  await desk.open()
  assert.equal(await flagBreaches(service.ctx), 0)
  await rewind(desk, 61)
  const flagged = await Promise.all([flagBreaches(service.ctx), flagBreaches(service.ctx)])
  assert.equal(flagged[0] + flagged[1], 1)
  const { first_response, resolution } = await clocks(desk)
  assert.deepEqual(
    [first_response?.breached, first_response?.metAt, resolution?.breached],
    [true, null, false],
  )
  const events = (await desk.call('GET', '/tickets/1/messages?types=event')).body.data
  assert.deepEqual(
    events.map(({ metadata }: { metadata: object }) => metadata),
    [
      {
        eventType: 'target_missed',
        clock: 'first_response',
        doneBy: { id: null, name: null, email: null, type: 'system' },
      },
    ],
  )
})

test('settings are changed field by field, and impossible ones are rejected', async () => {
  const desk = await openDesk(service)
  const empty = { targets: {}, businessHours: null, signature: null, surveyEnabled: false }
  assert.deepEqual((await desk.call('GET', '/settings')).body, empty)
  const day = [{ from: '09:00', to: '17:30' }]
  const businessHours = {
    timeZone: 'Europe/Berlin',
    days: { monday: day, friday: day },
    holidays: ['2026-12-25'],
  }
  await desk.call('PUT', '/settings', { businessHours })
  await desk.call('PUT', '/settings', { surveyEnabled: true })
  const kept = { targets: {}, businessHours, signature: null, surveyEnabled: true }
  assert.deepEqual((await desk.call('GET', '/settings')).body, kept)
  const wrong: [object, string][] = [
    [{ businessHours: { ...businessHours, timeZone: 'Mars/Base' } }, 'businessHours.timeZone'],
    [
      { businessHours: { ...businessHours, days: { monday: [{ from: '17:00', to: '09:00' }] } } },
      'businessHours.days.monday.0.to',
    ],
    [
      { businessHours: { ...businessHours, days: { monday: [{ from: '9', to: '17:00' }] } } },
      'businessHours.days.monday.0.from',
    ],
    [{ businessHours: { ...businessHours, days: {} } }, 'businessHours.days'],
    [{ businessHours: { ...businessHours, holidays: ['2026-02-30'] } }, 'businessHours.holidays.0'],
    [{ targets: { urgent: { first_response: 0 } } }, 'targets.urgent.first_response'],
    [{ targets: { soon: {} } }, 'targets.soon'],
  ]
  for (const [body, field] of wrong) {
    const answer = await desk.call('PUT', '/settings', body)
    assert.equal(answer.status, 400, JSON.stringify(body))
    assert.ok(answer.body.error.details[field], JSON.stringify(answer.body))
  }
  assert.deepEqual((await desk.call('GET', '/settings')).body, kept)
  assert.deepEqual((await desk.call('PUT', '/settings', { businessHours: null })).body, {
    ...kept,
    businessHours: null,
  })
})
