import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Desk, openDesk } from '../../../test/open-desk.ts'
import { recordQueries } from '../../../test/plans-of.ts'
import { type Service, startService } from '../../../test/start.ts'
import { until } from '../../../test/until.ts'
import { publishDeskEvent } from '../tickets/publish-desk-event.ts'
import { createEventFeeds, type Watcher } from './event-feeds.ts'

let service: Service

before(async () => {
  service = await startService()
})
after(() => service.close())

/** A watcher without a stream. */
function watcherAt(position: number) {
  const state = { seen: [] as number[], ready: true }
  const watcher: Watcher = {
    position,
    isReady: () => state.ready,
    write: (text) => {
      state.seen.push(...[...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id)))
    },
    end: () => {},
  }
  return { state, watcher }
}

const happen = ({ owner }: Desk) =>
  service.ctx.db.transaction().execute((trx) =>
    publishDeskEvent(service.ctx, trx, owner, {
      type: 'ticket',
      data: { ticketNumber: 1 },
    }),
  )

test('watchers of the same help desk share its queries', async () => {
  const desk = await openDesk(service)
  const { db, queries } = recordQueries(service.ctx.db)
  const feeds = createEventFeeds({ ...service.ctx, db })
  const watchers = Array.from({ length: 50 }, () => watcherAt(0))
  const places = watchers.map(({ watcher }) => feeds.join(desk.owner, watcher))
  assert.throws(() => feeds.join(desk.owner, watcherAt(0).watcher), { code: 'RATE_LIMIT_TOO_MANY_REQUESTS' })
  await happen(desk)
  await until('what is told', () => watchers.every(({ state }) => state.seen.length === 1))
  // Two queries for the new watchers and one for the event, in addition to one every 2 s.
  assert.ok(queries.length > 0 && queries.length < watchers.length, `${queries.length} queries`)
  for (const { leave } of places) leave()
  feeds.join(desk.owner, watcherAt(1).watcher).leave()
})

test('each watcher gets the events it lacks when it is ready', async () => {
  const desk = await openDesk(service)
  const feeds = createEventFeeds(service.ctx)
  for (let at = 0; at < 3; at++) await happen(desk)
  const [all, last, slow] = [watcherAt(0), watcherAt(2), watcherAt(1)]
  slow.state.ready = false
  const places = [all, last, slow].map(({ watcher }) => feeds.join(desk.owner, watcher))
  await happen(desk)
  await until('what is told', () => all.state.seen.length === 4 && last.state.seen.length === 2)
  assert.deepEqual([all.state.seen, last.state.seen, slow.state.seen], [[1, 2, 3, 4], [3, 4], []])
  slow.state.ready = true
  places[2]?.look()
  await until('what is told', () => slow.state.seen.length === 3)
  assert.deepEqual(slow.state.seen, [2, 3, 4])
  for (const { leave } of places) leave()
})
