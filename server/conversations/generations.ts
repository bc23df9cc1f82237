import { sql } from 'kysely'
import type { Db } from '../db/database.ts'
import { json } from '../db/json.ts'
import type { Notifier } from '../db/notifier.ts'
import type { StopReason } from '../db/tables.ts'
import { ApiError } from '../http/errors.ts'
import { storableJson } from '../http/storable.ts'
import { createFramePublisher } from './frame-publisher.ts'
import type { LiveGeneration } from './live-generation.ts'

const CHECKPOINT_MS = 1_000
/** A process that has not renewed for this long is taken for dead, and others may close its generations. */
export const LEASE_SECONDS = 15
const MOST_RUNNING = 4_000

/** The generations that this process runs. */
export type Generations = {
  /** Throws SERVICE_OVERLOADED when the process runs as many as it can bear, or is about to end. */
  admit(): void
  add(live: LiveGeneration): void
  remove(live: LiveGeneration): void
  get(id: string): LiveGeneration | null
  /** The one that runs in this conversation, if it runs here. */
  ofConversation(conversationId: string): LiveGeneration | null
  readonly size: number
  /** Resolves when those that run now have ended and are stored. */
  idle(): Promise<void>
  /** From now on nothing is admitted. Resolves when none runs any more; what does after `ms` is left to others. */
  drain(ms: number): Promise<void>
  close(): Promise<void>
}

type Needs = { db: Db; notifier: Notifier; onError: (error: unknown) => void }

/** Keeps the running generations and writes their parts and leases once a second, all in one statement. */
export function createGenerations({ db, notifier, onError }: Needs): Generations {
  const running = new Map<string, LiveGeneration>()
  const byConversation = new Map<string, LiveGeneration>()
  const publisher = createFramePublisher({ db, notifier, onError })
  let draining = false
  let writing: Promise<void> = Promise.resolve()
  const write = (): Promise<void> => {
    writing = writing.then(() => checkpoint(db, running)).catch(onError)
    return writing
  }
  const timer = setInterval(() => {
    if (running.size > 0) void write()
  }, CHECKPOINT_MS)
  timer.unref()
  const unwatch = [
    notifier.on('stop', () => {
      if (running.size > 0) void write()
    }),
    notifier.on('watch', (id) => {
      const live = running.get(id)
      if (live) publisher.publish(live)
    }),
  ]
  const idle = async (): Promise<void> => {
    await Promise.all([...running.values()].map(({ ending }) => ending))
  }
  return {
    admit() {
      if (draining || running.size >= MOST_RUNNING)
        throw new ApiError('SERVICE_OVERLOADED', { headers: { 'retry-after': '2' } })
    },
    add(live) {
      running.set(live.ids.id, live)
      byConversation.set(live.ids.conversationId, live)
    },
    remove(live) {
      running.delete(live.ids.id)
      if (byConversation.get(live.ids.conversationId) === live) byConversation.delete(live.ids.conversationId)
    },
    get: (id) => running.get(id) ?? null,
    ofConversation: (conversationId) => byConversation.get(conversationId) ?? null,
    get size() {
      return running.size
    },
    idle,
    async drain(ms) {
      draining = true
      await Promise.race([idle(), new Promise((resolve) => setTimeout(resolve, ms).unref())])
      if (running.size === 0) return
      const left = new Map(running)
      for (const live of left.values()) live.abort('shutdown')
      await Promise.all([...left.values()].map(({ ending }) => ending))
      await writing
      await checkpoint(db, left)
        .then(() => giveUpLeases(db, [...left.keys()]))
        .catch(onError)
    },
    async close() {
      clearInterval(timer)
      for (const stop of unwatch) stop()
      await publisher.close()
      await writing
    },
  }
}

/** Saves the parts and renews the leases; ends those that somebody asked to end. */
async function checkpoint(db: Db, running: Map<string, LiveGeneration>): Promise<void> {
  const now = [...running.values()].map(({ ids, parts }) => ({ id: ids.id, parts: storableJson(parts) }))
  const { rows } = await sql<{ id: string; stop_reason: StopReason | null }>`
    update generations set parts = now_at.parts, lease_until = now() + ${LEASE_SECONDS} * interval '1 second'
    from jsonb_to_recordset(${json(now)}) as now_at (id uuid, parts jsonb)
    where generations.id = now_at.id and generations.status = 'running'
    returning generations.id, generations.stop_reason`.execute(db)
  for (const { id, stop_reason } of rows) if (stop_reason) running.get(id)?.abort(stop_reason)
}

/** Others need not wait for the leases of a process that has said good-bye. */
async function giveUpLeases(db: Db, ids: string[]): Promise<void> {
  await db
    .updateTable('generations')
    .set({ lease_until: sql<Date>`now() - interval '1 second'` })
    .where('id', 'in', ids)
    .where('status', '=', 'running')
    .execute()
}
