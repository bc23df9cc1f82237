import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { onPostgres } from '../database.ts'
import { chatThrough } from '../faults/chat-through.ts'
import type { Kill } from '../faults/check-turns.ts'
import { type FaultWorld, inFaultWorld, isLong } from '../faults/fault-world.ts'
import { clientOf } from '../start.ts'

const HOUR_MS = 3_600_000
const shiftClock = ['--import', join(import.meta.dirname, '../faults/shift-clock.ts')]

describe('two processes, one of which is paused', {
  skip: !onPostgres() && 'Two processes need PostgreSQL: set TEST_DATABASE_URL.',
}, () => {
  test('a paused process whose answers another one took over no longer writes or sends anything', () =>
    inFaultWorld({ processes: 2 }, async (world) => {
      const kills: Kill[] = []
      const { talks } = await chatThrough(
        world,
        async () => {
          const [paused] = world.services
          kills.push({ place: 0, at: performance.now() })
          paused!.signal('SIGSTOP')
          await wait(isLong ? 20_000 : 6_000)
          paused!.signal('SIGCONT')
        },
        // Talkers who receive nothing for a second ask the other process, and keep listening to the paused one.
        { silenceMs: 1_000, interrupted: true, kills },
      )
      const attempts = talks.flatMap(({ turns }) => turns.flatMap((turn) => turn.attempts))
      assert.ok(
        attempts.some(({ finishReason }) => finishReason === 'error'),
        'no answer was taken over',
      )
    }))

  for (const [name, shift] of [
    ['back', -HOUR_MS],
    ['forward', HOUR_MS],
  ] as const)
    test(`setting the clock ${name} by an hour ends no answer and locks nobody out`, () =>
      inFaultWorld(
        {
          processes: 2,
          env: { SHIFT_CLOCK_MS: String(shift) },
          flags: (place) => (place === 0 ? shiftClock : []),
        },
        async (world) => {
          await chatThrough(world, async () => {
            await askOften(world)
            world.services[0]!.signal('SIGUSR2')
            // The pause is as long as the window of the rate limit, and longer than anything is held without a
            // heartbeat.
            await wait(10_500)
            await askOften(world)
          })
        },
      ))
})

/** Sends more than half of the requests that a key may send in ten seconds. */
async function askOften({ services, keys }: FaultWorld): Promise<void> {
  const client = clientOf(services[0]!.url, keys.at(-1)!)
  const statuses = await Promise.all(
    Array.from({ length: 60 }, async () => {
      const response = await client.raw('GET', '/me')
      await response.body?.cancel()
      return response.status
    }),
  )
  assert.deepEqual([...new Set(statuses)], [200])
}
