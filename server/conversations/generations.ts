import { sql } from 'kysely'
import type { Db } from '../db/database.ts'
import { json } from '../db/json.ts'
import { ApiError } from '../http/errors.ts'
import { storable } from '../http/storable.ts'
import type { LiveGeneration } from './live-generation.ts'

const CHECKPOINT_MS = 1_000
/** A process that has not renewed for this long is taken for dead, and others may close its generations. */
export const LEASE_SECONDS = 15
const MOST_RUNNING = 4_000

/** The generations that this process runs. */
export type Generations = {
  /** Throws SERVICE_OVERLOADED when the process runs as many as it can bear. */
  admit(): void
  add(live: LiveGeneration): void
  remove(live: LiveGeneration): void
  readonly size: number
  /** Resolves when none runs any more, or after `ms`. */
  drain(ms: number): Promise<void>
  close(): Promise<void>
}

/** Keeps the running generations and writes their texts and leases once a second, all in one statement. */
export function createGenerations(db: Db, onError: (error: unknown) => void): Generations {
  const running = new Set<LiveGeneration>()
  let writing: Promise<void> = Promise.resolve()
  const timer = setInterval(() => {
    if (running.size === 0) return
    writing = writing.then(() => checkpoint(db, [...running])).catch(onError)
  }, CHECKPOINT_MS)
  timer.unref()
  return {
    admit() {
      if (running.size >= MOST_RUNNING)
        throw new ApiError('SERVICE_OVERLOADED', { headers: { 'retry-after': '2' } })
    },
    add: (live) => void running.add(live),
    remove: (live) => void running.delete(live),
    get size() {
      return running.size
    },
    async drain(ms) {
      const until = Date.now() + ms
      while (running.size > 0 && Date.now() < until) await new Promise((resolve) => setTimeout(resolve, 50))
    },
    async close() {
      clearInterval(timer)
      await writing
    },
  }
}

async function checkpoint(db: Db, running: LiveGeneration[]): Promise<void> {
  const texts = running.map((live) => ({ id: live.ids.id, text: storable(live.text) }))
  await sql`
    update generations set text = now_at.text, lease_until = now() + ${LEASE_SECONDS} * interval '1 second'
    from jsonb_to_recordset(${json(texts)}) as now_at (id uuid, text text)
    where generations.id = now_at.id and generations.status = 'running'`.execute(db)
}
