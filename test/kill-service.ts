import { setTimeout as wait } from 'node:timers/promises'
import { isLong } from './faults/fault-world.ts'
import { parley, type Running } from './spawn-service.ts'

/** With FAULTS=long, as often as was promised; else each way to be killed a few times. */
export const KILLS = isLong ? 20 : 8

/** A key of a new account. */
export async function newKey(env: Record<string, string>): Promise<string> {
  const { stdout } = await parley(['account', 'create', '--name', 'K', '--json'], env)
  const key = await parley(
    ['keys', 'create', '--account', JSON.parse(stdout).id, '--name', 'k', '--json'],
    env,
  )
  return JSON.parse(key.stdout).key
}

/**
 * When to kill, the same in every run, counted from what was acknowledged, so that a slow machine kills at the same
 * places as a fast one: after the nth answer of the round, and so many milliseconds.
 */
export const moments = Array.from({ length: KILLS }, (_, i) => ({ after: 1 + (i % 3), ms: (i * 37) % 100 }))

/** Kills the service at one of the moments. */
export async function killAfter(
  service: Running,
  moment: (typeof moments)[number],
  answered: () => number,
): Promise<void> {
  while (answered() < moment.after) await wait(1)
  await wait(moment.ms)
  await service.kill('SIGKILL')
}
