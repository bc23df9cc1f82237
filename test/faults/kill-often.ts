import { checkAfterFault } from './check-turns.ts'
import type { FaultWorld } from './fault-world.ts'
import { killInTurn, waitsAfter } from './kill-in-turn.ts'
import { paced, startTalkers } from './talkers.ts'

const TALKERS = 12

/**
 * Kills processes `times` times while people chat. Checks what the people saw against what is stored and what the model
 * was asked, and returns how long those whose answer was cut off waited.
 */
export async function killOften(
  world: FaultWorld,
  times: number,
): Promise<{ turns: number; waits: number[] }> {
  const talkers = startTalkers(TALKERS, paced(world))
  const kills = await killInTurn(world, talkers, times)
  await talkers.end(20_000)
  await checkAfterFault(world, talkers.talks, { interrupted: true, kills })
  const turns = talkers.talks.flatMap((talk) => talk.turns)
  return { turns: turns.length, waits: waitsAfter(kills, turns) }
}
