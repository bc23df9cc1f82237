import { sql } from 'kysely'
import type { Db } from '../db/database.ts'
import { json } from '../db/json.ts'
import type { Notifier } from '../db/notifier.ts'
import type { AccountId, StopReason } from '../db/tables.ts'
import { ApiError } from '../http/errors.ts'
import { storableJson } from '../http/storable.ts'
import { createFramePublisher } from './frame-publisher.ts'
import type { LiveGeneration } from './live-generation.ts'

const CHECKPOINT_MS = 1_000
/** A process that has not renewed for this long is taken for dead, and others may close its generations. */
export const LEASE_SECONDS = 15
const MOST_RUNNING = 6_000
/** So that no account takes every place. */
const MOST_OF_ACCOUNT = 3_000

/** The generations that this process runs. */
export type Generations = {
  /**
   * Takes what `make` starts, for as long as it runs. Throws SERVICE_OVERLOADED when the process, or the account in
   * it, has as many as it can bear, or when the process is about to end.
   */
  start(accountId: AccountId, make: () => Promise<LiveGeneration>): Promise<LiveGeneration>
  get(id: string): LiveGeneration | null
  /** The one that runs in this conversation, if it runs here. */
  ofConversation(conversationId: string): LiveGeneration | null
  /** Resolves when those that run now have ended and are stored. */
  idle(): Promise<void>
  /** From now on nothing is started. Resolves when none runs any more; what does after `ms` is left to others. */
  drain(ms: number): Promise<void>
  close(): Promise<void>
}

type Needs = { db: Db; notifier: Notifier; onError: (error: unknown) => void }

/** Keeps the running generations and writes their parts and leases once a second, all in one statement. */
export function createGenerations({ db, notifier, onError }: Needs): Generations {
  const running = new Map<string, LiveGeneration>()
  const byConversation = new Map<string, LiveGeneration>()
  const ofAccount = new Map<string, number>()
  const publisher = createFramePublisher({ db, notifier, onError })
  let starting = 0
  let draining = false
  let writing: Promise<void> | null = null
  const timer = setInterval(() => {
    // A slow database gets the next state when it has taken this one.
    if (running.size === 0 || writing) return
    writing = checkpoint(db, running)
      .catch(onError)
      .finally(() => {
        writing = null
      })
  }, CHECKPOINT_MS)
  timer.unref()
  const unwatch = [
    notifier.on('stop', (id) => {
      const live = running.get(id)
      if (live) readStop(db, live).catch(onError)
    }),
    notifier.on('watch', (id) => {
      const live = running.get(id)
      if (live) publisher.publish(live)
    }),
  ]
  const count = (accountId: AccountId, change: 1 | -1): void => {
    const now = (ofAccount.get(accountId) ?? 0) + change
    if (now > 0) ofAccount.set(accountId, now)
    else ofAccount.delete(accountId)
  }
  const admit = (accountId: AccountId): void => {
    const isFull =
      running.size + starting >= MOST_RUNNING || (ofAccount.get(accountId) ?? 0) >= MOST_OF_ACCOUNT
    if (draining || isFull) throw new ApiError('SERVICE_OVERLOADED', { headers: { 'retry-after': '2' } })
  }
  const idle = async (): Promise<void> => {
    while (starting > 0) await new Promise((resolve) => setTimeout(resolve, 10))
    await Promise.all([...running.values()].map(({ ending }) => ending))
  }
  return {
    async start(accountId, make) {
      admit(accountId)
      starting++
      count(accountId, 1)
      try {
        const live = await make()
        const { id, conversationId } = live.ids
        running.set(id, live)
        byConversation.set(conversationId, live)
        void live.ending.then(() => {
          count(accountId, -1)
          running.delete(id)
          if (byConversation.get(conversationId) === live) byConversation.delete(conversationId)
        })
        return live
      } catch (error) {
        count(accountId, -1)
        throw error
      } finally {
        starting--
      }
    },
    get: (id) => running.get(id) ?? null,
    ofConversation: (conversationId) => byConversation.get(conversationId) ?? null,
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

/** Somebody has asked for its end, in whatever process. */
async function readStop(db: Db, live: LiveGeneration): Promise<void> {
  const row = await db
    .selectFrom('generations')
    .select('stop_reason')
    .where('id', '=', live.ids.id)
    .executeTakeFirst()
  if (row?.stop_reason) live.abort(row.stop_reason)
}

/** Saves the parts and renews the leases; ends those that somebody asked to end. */
async function checkpoint(db: Db, running: Map<string, LiveGeneration>): Promise<void> {
  const now = [...running.values()].map(({ ids, parts }) => ({ id: ids.id, parts: storableJson(parts) }))
  const { rows } = await sql<{ id: string; stop_reason: StopReason | null }>`
    update generations set parts = now_at.parts, lease_until = now() + ${LEASE_SECONDS} * interval '1 second'
    from jsonb_to_recordset(${json(now)}) as now_at (id uuid, parts jsonb)
    where generations.id = now_at.id and generations.status = 'running'
      -- A step that records its calls may have written more meanwhile.
      and jsonb_array_length(now_at.parts) >= jsonb_array_length(generations.parts)
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
