import { setTimeout as wait } from 'node:timers/promises'
import { isLong } from './faults/fault-world.ts'
import type { Running } from './spawn-service.ts'

/** The number of kills: with FAULTS=long as many as promised, otherwise a few of each kind. */
export const KILLS = isLong ? 20 : 8

/**
 * The moments at which to kill the service, which are the same in every run: `ms` milliseconds after the nth answer
 * of a round. They are relative to acknowledged answers, so that a slow machine kills at the same points as a fast
 * one.
 */
export const moments = Array.from({ length: KILLS }, (_, i) => ({ after: 1 + (i % 3), ms: (i * 37) % 100 }))

/** Kills the service at the given moment. */
export async function killAfter(
  service: Running,
  moment: (typeof moments)[number],
  answered: () => number,
): Promise<void> {
  while (answered() < moment.after) await wait(1)
  await wait(moment.ms)
  await service.kill('SIGKILL')
}
