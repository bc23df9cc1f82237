import { setTimeout as wait } from 'node:timers/promises'
import { readState, runningIn } from './state.ts'
import type { Talk } from './talk.ts'

/** A live process sends a heartbeat every half second. */
const LONGER_THAN_A_BEAT_MS = 2_300

/** Kills a process, which is restarted, and shortens the time until its generations are closed. */
export async function kill(talk: Talk, on: number): Promise<void> {
  const { places, embedded } = talk.world
  const place = places[on % places.length]!
  talk.note(`kill -9 of process ${on % places.length}`)
  await place.kill()
  if (embedded) await place.life()
  else await declareDead(talk)
}

/** Declares the killed process dead, which the other processes would do after five missed beats. */
async function declareDead({ world: { inside }, conversationId, runners, note }: Talk): Promise<void> {
  const running = runningIn(await readState(inside, conversationId))
  if (!running) return
  const runner = runners.get(running.first_event)
  if (runner && !runner.killed) return
  if (!runner) {
    await wait(LONGER_THAN_A_BEAT_MS)
    const later = runningIn(await readState(inside, conversationId))
    if (later?.id !== running.id || later.beat !== running.beat) return
  }
  await inside.query('update processes set epoch = epoch + 1, alive = false where id = $1', [running.owner])
  note('the killed process was declared dead')
}
