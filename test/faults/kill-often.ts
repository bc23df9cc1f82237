import { setTimeout as wait } from 'node:timers/promises'
import { until } from '../until.ts'
import { checkAfterFault, type Kill } from './check-turns.ts'
import type { FaultWorld } from './fault-world.ts'
import { isFinal, paced, startTalkers, type Turn } from './talkers.ts'

const TALKERS = 12
/** By another process that lives. */
const NOTICED_WITHIN_MS = 3_000

/**
 * kill -9, so many times, of one process after the other while people chat; each is started again at once. Checks
 * what they saw against what is stored and what the model was asked, and answers with how long those had to wait
 * whose answer was cut off: until they saw words again, in milliseconds from the kill or, when nobody else was there,
 * from the next start. When the other process is killed, too, before it can have noticed, they count from that kill.
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
