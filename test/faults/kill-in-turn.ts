import { setTimeout as wait } from 'node:timers/promises'
import type { Running } from '../spawn-service.ts'
import { until } from '../until.ts'
import type { Kill } from './check-turns.ts'
import { isFinal, type Talkers, type Turn } from './talkers.ts'

/** The time within which another living process notices a kill. */
const NOTICED_WITHIN_MS = 3_000

/** A kill, and when what the process held could be free again. */
type Ended = Kill & { free: number }

/** Kills one process after the other with SIGKILL, `times` times in all, while people chat, and restarts each at once. */
export async function killInTurn(
  { services, start }: { services: Running[]; start(place: number): Promise<void> },
  talkers: Talkers,
  times: number,
): Promise<Ended[]> {
  const kills: Ended[] = []
  for (let i = 0; i < times; i++) {
    const already = talkers.answered()
    await until('answers before a kill', () => talkers.answered() >= already + 2 + (i % 3))
    await wait((i * 37) % 100)
    const place = i % services.length
    const kill = { place, at: performance.now(), free: 0 }
    kills.push(kill)
    await services[place]!.kill('SIGKILL')
    await start(place)
    kill.free = services.length > 1 ? kill.at : performance.now()
  }
  return kills
}

/**
 * Returns how long people whose answer was cut off waited until they saw words again: in milliseconds from the kill, or
 * from the next start if there was no other process. If the other process is also killed before it can have noticed,
 * the time counts from that kill. The time in which a later kill left no process is not counted either.
 */
export function waitsAfter(kills: Ended[], turns: Turn[]): number[] {
  const outages = kills.map(({ at, free }) => ({ from: at, to: free }))
  for (const kill of kills)
    for (const next of kills)
      if (next.free > kill.free && next.free < kill.free + NOTICED_WITHIN_MS) kill.free = next.free
  return kills.flatMap((kill) => turns.flatMap((turn) => waitOf(turn, kill, outages)))
}

function waitOf(
  { attempts }: Turn,
  { place, at, free }: Ended,
  outages: { from: number; to: number }[],
): number[] {
  const wasCut = attempts.some(
    (one) => one.place === place && one.begun < at && one.ended > at && !isFinal(one),
  )
  const again = attempts.find(({ begun, shown }) => begun > at && shown.length > 0)
  if (!wasCut || !again) return []
  const shown = again.shown[0]!.at
  const away = outages.filter(({ from, to }) => from > free && to < shown)
  return [away.reduce((rest, { from, to }) => rest - (to - from), Math.max(0, shown - free))]
}
