import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import { until } from '../until.ts'
import { checkAfterFault, checkAlive, type Kill } from './check-turns.ts'
import type { FaultWorld } from './fault-world.ts'
import { ask, isFinal, newTurn, paced, startTalkers, storyOf, type Talkers } from './talkers.ts'

/**
 * Lets sixteen people chat during `fault`, and checks afterwards that all of them were answered and that nothing was
 * lost.
 */
export async function chatThrough(
  world: FaultWorld,
  fault: (talkers: Talkers) => Promise<void>,
  {
    silenceMs,
    firstMs,
    interrupted = false,
    kills = [],
  }: { silenceMs?: number; firstMs?: number; interrupted?: boolean; kills?: Kill[] } = {},
): Promise<Talkers> {
  const talkers = startTalkers(16, { ...paced(world, firstMs), silenceMs })
  await until('the first answers', () => talkers.answered() >= 16)
  await fault(talkers)
  checkAlive(world)
  if (firstMs !== undefined) await checkLasting(talkers)
  await recovers(world)
  const before = talkers.answered()
  await until('answers after the fault', () => talkers.answered() >= before + 8)
  await talkers.end(20_000)
  checkAlive(world)
  await checkAfterFault(world, talkers.talks, { interrupted, kills })
  return talkers
}

/** Asserts that an answer that began before the fault continues after it, in the same stream. */
async function checkLasting({ talks }: Talkers): Promise<void> {
  const over = performance.now()
  const first = talks.flatMap(({ turns }) => turns[0]?.attempts[0] ?? [])
  const running = first.filter(({ shown, ended }) => shown.length > 0 && ended > over)
  assert.ok(running.length > 0, 'no answer was running before the fault and after it')
  await until('words after the fault', () => running.some(({ shown }) => shown.at(-1)!.at > over))
}

const RECOVERED_WITHIN_MS = 5_000

/** Asserts that every process answers a new customer completely within five seconds of the end of the fault. */
async function recovers(world: FaultWorld): Promise<void> {
  const over = performance.now() + RECOVERED_WITHIN_MS
  await Promise.all(
    world.services.map(async ({ url }, place) => {
      for (;;) {
        const turn = newTurn(place, 0)
        const patience = AbortSignal.timeout(RECOVERED_WITHIN_MS)
        const attempt = await ask({ ...world, urlOf: () => url }, place, place, turn, null, patience)
        if (isFinal(attempt) && attempt.finishReason === 'stop') return
        assert.ok(performance.now() < over, `process ${place} has not recovered: ${storyOf(turn)}`)
        await wait(100)
      }
    }),
  )
}

/**
 * Waits `ms` milliseconds while the database is unavailable. Asserts that running answers continue, and that a new request
 * is rejected with 503 before that time is over.
 */
export async function awayFor(ms: number, world: FaultWorld, talkers: Talkers): Promise<void> {
  const begun = performance.now()
  const [service] = world.services
  const turn = newTurn(0, 0)
  const asking = ask({ ...world, urlOf: () => service!.url }, 0, 0, turn, null, AbortSignal.timeout(ms))
  await wait(ms)
  const { status, code, retryAfter } = await asking
  assert.deepEqual([status, code], [503, 'SERVICE_OVERLOADED'], storyOf(turn))
  assert.equal(retryAfter, null)
  const ran = talkers.talks
    .flatMap(({ turns }) => turns.flatMap(({ attempts }) => attempts))
    .filter(({ shown }) => shown.some(({ at }) => at < begun) && shown.some(({ at }) => at > begun + 1_000))
  assert.ok(ran.length > 0, 'no answer went on while the database was away')
}
