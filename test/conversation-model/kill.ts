import { setTimeout as wait } from 'node:timers/promises'
import { readState, runningIn } from './state.ts'
import type { Talk } from './talk.ts'

/** A live process renews its leases every second. */
const LONGER_THAN_A_RENEWAL_MS = 2_300

/** Kills a process, which starts again, and shortens the wait for what it leaves behind. */
export async function kill(talk: Talk, on: number): Promise<void> {
  const { places, embedded } = talk.world
  const place = places[on % places.length]!
  talk.note(`kill -9 of process ${on % places.length}`)
  await place.kill()
  if (embedded) await place.life()
  else await endLeaseOfOrphan(talk)
}

async function endLeaseOfOrphan({ world: { inside }, conversationId, runners, note }: Talk): Promise<void> {
  const running = runningIn(await readState(inside, conversationId))
  if (!running) return
  const runner = runners.get(running.first_event)
  if (runner && !runner.killed) return
  if (!runner) {
    await wait(LONGER_THAN_A_RENEWAL_MS)
    const later = runningIn(await readState(inside, conversationId))
    if (later?.id !== running.id || later.lease_until !== running.lease_until) return
  }
  await inside.query(
    `update generations set lease_until = now() - interval '1 second' where id = $1 and status = 'running'`,
    [running.id],
  )
  note('the lease of the killed process ended')
}
