import { setTimeout as wait } from 'node:timers/promises'
import { until } from '../until.ts'
import { checkAfterFault, type Kill } from './check-turns.ts'
import type { FaultWorld } from './fault-world.ts'
import { isFinal, paced, startTalkers, type Turn } from './talkers.ts'

const TALKERS = 12
/** The time within which another living process notices a kill. */
const NOTICED_WITHIN_MS = 3_000

/**
 * Kills one process after the other with SIGKILL, `times` times in all, while people chat, and restarts each at once.
 * Checks what the people saw against what is stored and what the model was asked. Returns how long people whose
 * answer was cut off waited until they saw words again: in milliseconds from the kill, or from the next start if
 * there was no other process. If the other process is also killed before it can have noticed, the time counts from
 * that kill.
 */
export async function killOften(
  world: FaultWorld,
  times: number,
): Promise<{ turns: number; waits: number[] }> {
  const talkers = startTalkers(TALKERS, paced(world))
  const kills: (Kill & { free: number })[] = []
  for (let i = 0; i < times; i++) {
    const already = talkers.answered()
    await until('answers before a kill', () => talkers.answered() >= already + 2 + (i % 3))
    await wait((i * 37) % 100)
    const place = i % world.services.length
    const kill = { place, at: performance.now(), free: 0 }
    kills.push(kill)
    await world.services[place]!.kill('SIGKILL')
    await world.start(place)
    kill.free = world.services.length > 1 ? kill.at : performance.now()
  }
  await talkers.end(20_000)
  await checkAfterFault(world, talkers.talks, { interrupted: true, kills })
  for (const kill of kills)
    for (const next of kills)
      if (next.free > kill.free && next.free < kill.free + NOTICED_WITHIN_MS) kill.free = next.free
  const turns = talkers.talks.flatMap((talk) => talk.turns)
  return { turns: turns.length, waits: kills.flatMap((kill) => turns.flatMap((turn) => waitOf(turn, kill))) }
}

function waitOf({ attempts }: Turn, { place, at, free }: Kill & { free: number }): number[] {
  const wasCut = attempts.some(
    (one) => one.place === place && one.begun < at && one.ended > at && !isFinal(one),
  )
  const again = attempts.find(({ begun, shown }) => begun > at && shown.length > 0)
  return wasCut && again ? [Math.max(0, again.shown[0]!.at - free)] : []
}
