import { sql } from 'kysely'
import type { Db } from '../db/database.ts'
import type { DiskSpace } from '../db/upkeep/disk-space.ts'

/**
 * How often the service checks the queue itself, to find jobs of killed processes and jobs whose notification was lost.
 */
const POLL_MS = 5_000
/** Jobs due within the same slot of this length are fetched by one timer. */
const SLOT_MS = 100

/** A worker that runs jobs of a task, one at a time. */
type Hand = { busy: boolean; wake(): void }

/** Wakes idle workers when there may be jobs for them. */
type Waker = {
  add(task: string, hand: Hand): void
  /**
   * Announces that a job of the task is due in this many milliseconds. One worker is woken, and each worker that finds
   * a job wakes the next.
   */
  wake(task: string, afterMs?: number): void
  wakeAll(): void
  /** Asks the queue for jobs that are due before the next check. */
  look(): Promise<void>
  close(): void
}

/** While the disk has no room, no job is started; the queue is looked at again afterwards. */
export function createWaker(db: Db, space: DiskSpace, onError: (error: unknown) => void): Waker {
  const hands = new Map<string, Hand[]>()
  const timers = new Map<string, NodeJS.Timeout>()

  const wakeNow = (task: string): void => {
    if (space.isFull()) return
    hands
      .get(task)
      ?.find(({ busy }) => !busy)
      ?.wake()
  }
  const wake = (task: string, afterMs = 0): void => {
    if (afterMs <= 0) wakeNow(task)
    if (afterMs <= 0 || afterMs > POLL_MS || !hands.has(task)) return
    const slot = `${task} ${Math.ceil((performance.now() + afterMs) / SLOT_MS)}`
    if (timers.has(slot)) return
    const timer = setTimeout(() => {
      timers.delete(slot)
      wakeNow(task)
    }, afterMs + SLOT_MS)
    timers.set(slot, timer.unref())
  }
  const look = async (): Promise<void> => {
    const waiting = [...hands].filter(([, all]) => all.some(({ busy }) => !busy)).map(([task]) => task)
    const { rows } = await sql<{ name: string; after: number }>`
      select name, (extract(epoch from min(start_after) - now()) * 1000)::float8 as after from jobs.job
      where name = any(${waiting}) and state < 'active' and not blocked group by name`.execute(db)
    for (const { name, after } of rows) wake(name, after)
  }
  const again = setInterval(() => void look().catch(onError), POLL_MS)
  again.unref()
  return {
    add(task, hand) {
      hands.set(task, [...(hands.get(task) ?? []), hand])
    },
    wake,
    wakeAll() {
      for (const all of hands.values()) for (const hand of all) hand.wake()
    },
    look,
    close() {
      clearInterval(again)
      for (const timer of timers.values()) clearTimeout(timer)
    },
  }
}
