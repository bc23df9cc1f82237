import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'kysely'
import { createFairPlaces, type FairPlaces } from '../../platform/concurrency/fair-places.ts'
import type { MainThreadScheduler } from '../../platform/concurrency/main-thread-scheduler.ts'
import type { Db } from '../../platform/db/database.ts'
import type { Notifier } from '../../platform/db/notifier.ts'
import { afterCommit } from '../../platform/db/statements/transact.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import type { StopReason } from '../../platform/db/tables/conversations.ts'
import type { ServiceProcess } from '../../platform/db/upkeep/processes.ts'
import { ApiError } from '../../platform/http/errors.ts'
import { type Backlog, createLogWriter, eventsAfter } from '../stream/generation-log.ts'
import { type GenerationIds, LiveGeneration } from '../stream/reading.ts'

/** How often requested stops are polled for, in milliseconds, because the notice of one may be lost. */
const LOOK_FOR_STOPS_MS = 1_000
/**
 * How often a failed start or end is looked for. It may be carried out long after its connection was lost: when a stopped
 * server continues, or when a lock is released.
 */
const LOOKS_AFTER_FAILURE = 60
const FAILING_AT_ONCE = 4
const ANSWERING_AT_ONCE = 4_000
const MAX_RUNNING = 6_000
/** An account with more generations than this starts further ones in turn with the work of other accounts. */
const MANY_OF_ACCOUNT = 64
/** Starting a generation counts as this many events. */
const START = 160
/** The most events of an answer that are held in memory while the log works. */
const MAX_UNSAVED = 1_024
/** The most generations of one account, so that no account uses up all places. */
const MAX_OF_ACCOUNT = 3_000

/** A place of a generation that is being started: it ends with one of its functions. */
type Place = {
  run(ids: GenerationIds, options: { transient: boolean }): LiveGeneration
  /** Gives the place back, because the start has failed. */
  leave(error: unknown): void
}

/** The generations that this process runs. */
export type Generations = {
  /**
   * Reserves a place for a generation that is about to start. Throws SERVICE_OVERLOADED when the process, or the account
   * within it, is at its limit of generations or of what waits for the log, or when the process is about to end.
   */
  reserve(accountId: AccountId): Promise<Place>
  get(id: string): LiveGeneration | null
  /** Returns the generation of this conversation if it runs in this process, else null. */
  ofConversation(conversationId: string): LiveGeneration | null
  /** Resolves when all events of the generation so far are in the log, or can no longer be written to it. */
  saved(live: LiveGeneration): Promise<void>
  /**
   * Resolves when the generation may say more, because enough of what it and others have said is in the log. Returns
   * undefined when it may do so at once. An answer that waits loses nothing: its model is not read meanwhile. Ending it
   * would free no memory, because it would have to be kept until it is stored, too.
   */
  room(live: LiveGeneration): Promise<void> | undefined
  /** `turns` is for producing events, and `failing` for ending failed generations. */
  readonly turns: MainThreadScheduler
  readonly failing: FairPlaces
  /** Places for generating answers. One place covers all model calls of an answer. */
  readonly answering: FairPlaces
  /**
   * Whether the database is being closed. The process that later closes a generation from its log recovers what has
   * not been stored by then.
   */
  readonly closed: boolean
  /** Resolves when the generations that run now have ended and are stored. */
  idle(): Promise<void>
  /** Stops accepting generations. Those that still run after `ms` end as interrupted and keep what they have said. */
  drain(ms: number): Promise<void>
  close(): Promise<void>
}

type Deps = {
  db: Db
  notifier: Notifier
  process: ServiceProcess
  turns: MainThreadScheduler
  onError: (error: unknown) => void
  backlog: Backlog
}

/** Tracks the running generations, writes their events to the log, and ends those for which a stop was requested. */
export function createGenerations({ db, notifier, process, turns, onError, backlog }: Deps): Generations {
  const running = new Map<string, LiveGeneration>()
  const byConversation = new Map<string, LiveGeneration>()
  const ofAccount = new Map<string, number>()
  const writer = createLogWriter({ db, process, onError })
  let starting = 0
  let draining = false
  let closed = false
  /**
   * How many more times to look whether the database lists a generation as running here that does not. It may do so
   * after a start or an end has failed.
   */
  let looks = 0
  let strangers = new Set<string>()
  const readStops = async (): Promise<void> => {
    const rows = await db
      .selectFrom('generations')
      .select(['id', 'stop_reason'])
      .where('owner', '=', process.id)
      .where('status', '=', 'running')
      .where('stop_reason', 'is not', null)
      .execute()
    for (const { id, stop_reason } of rows) if (stop_reason) running.get(id)?.abort(stop_reason)
  }
  /**
   * Gives up generations that the database assigns to this process, but that were unknown here both now and one
   * interval ago.
   */
  const disown = async (): Promise<void> => {
    const rows = await db
      .selectFrom('generations')
      .select('id')
      .where('owner', '=', process.id)
      .where('status', '=', 'running')
      .execute()
    const unknown = rows.map(({ id }) => id).filter((id) => !running.has(id))
    const left = unknown.filter((id) => strangers.has(id))
    strangers = new Set(unknown)
    if (unknown.length === 0 && starting === 0) looks--
    if (left.length === 0) return
    await db
      .updateTable('generations')
      .set({ owner: null })
      .where('id', 'in', left)
      .where('owner', '=', process.id)
      .where('status', '=', 'running')
      .execute()
  }
  const timer = setInterval(() => {
    // Errors are ignored while the database is not available.
    if (running.size > 0) readStops().catch(() => {})
    if (looks > 0) disown().catch(() => {})
  }, LOOK_FOR_STOPS_MS)
  timer.unref()
  const stopListening = notifier.on('stop', (id) => {
    if (running.has(id)) readStops().catch(onError)
  })
  process.onLost((formerEpoch) => {
    for (const live of running.values()) if (live.ids.epoch <= formerEpoch) live.abort('lost')
  })
  const count = (accountId: AccountId, change: 1 | -1): void => {
    const now = (ofAccount.get(accountId) ?? 0) + change
    if (now > 0) ofAccount.set(accountId, now)
    else ofAccount.delete(accountId)
  }
  const admit = (accountId: AccountId): void => {
    const isFull = running.size + starting >= MAX_RUNNING || (ofAccount.get(accountId) ?? 0) >= MAX_OF_ACCOUNT
    if (draining || isFull || backlog.isFull(accountId)) throw overloaded()
  }
  const idle = async (): Promise<void> => {
    while (starting > 0) await new Promise((resolve) => setTimeout(resolve, 10))
    await Promise.all([...running.values()].map(({ ending }) => ending))
  }
  return {
    async reserve(accountId) {
      admit(accountId)
      starting++
      count(accountId, 1)
      const leave = (error: unknown): void => {
        starting--
        count(accountId, -1)
        if (!(error instanceof ApiError)) looks = LOOKS_AFTER_FAILURE
      }
      if ((ofAccount.get(accountId) ?? 0) > MANY_OF_ACCOUNT) await turns.yieldTurn(accountId, START)
      if (draining) {
        const error = overloaded()
        leave(error)
        throw error
      }
      return {
        leave,
        run(ids, { transient }) {
          starting--
          const live = new LiveGeneration(ids, {
            accountId,
            readLog: eventsAfter(db, accountId, ids.id),
            transient,
            process,
            backlog,
            onUnsaved: writer.add,
          })
          running.set(ids.id, live)
          byConversation.set(ids.conversationId, live)
          void live.ending.then(() => {
            if (live.broken) looks = LOOKS_AFTER_FAILURE
            count(accountId, -1)
            running.delete(ids.id)
            if (byConversation.get(ids.conversationId) === live) byConversation.delete(ids.conversationId)
          })
          return live
        },
      }
    },
    get: (id) => running.get(id) ?? null,
    ofConversation: (conversationId) => byConversation.get(conversationId) ?? null,
    saved: (live) => writer.saved(live),
    room(live) {
      const room = backlog.room(live.accountId, live.signal)
      return room ?? (live.unsaved.length < MAX_UNSAVED ? undefined : writer.saved(live))
    },
    turns,
    failing: createFairPlaces({ places: FAILING_AT_ONCE }),
    answering: createFairPlaces({ places: ANSWERING_AT_ONCE }),
    idle,
    async drain(ms) {
      draining = true
      await Promise.race([idle(), new Promise((resolve) => setTimeout(resolve, ms).unref())])
      const left = [...running.values()]
      for (const live of left) live.abort('shutdown')
      await Promise.all(left.map(({ ending }) => ending))
    },
    get closed() {
      return closed
    },
    async close() {
      closed = true
      for (const live of running.values()) live.abort('lost')
      clearInterval(timer)
      stopListening()
      await writer.close()
    },
  }
}

const overloaded = (): ApiError => new ApiError('SERVICE_OVERLOADED')

/** What it takes to notify the process that runs a generation. */
type Notifying = { db: Db; generations: Pick<Generations, 'get'>; notifier: Pick<Notifier, 'publish'> }
type Stopping = Notifying & {
  orphans: { closeIfOrphaned(accountId: AccountId, which: { conversationId: string }): Promise<boolean> }
}

const MAX_WAIT_MS = 5_000
const LOOK_EVERY_MS = 50

/**
 * Ends the conversation's running generation, whichever process runs it, and waits until the text so far is stored.
 * Returns false when none is running. Calling it twice is harmless.
 */
export async function stopGeneration(
  ctx: Stopping,
  accountId: AccountId,
  conversationId: string,
): Promise<boolean> {
  const id = await requestStop(ctx.db, accountId, conversationId, 'stop')
  if (id === null) return false
  await endRequested(ctx, id, 'stop')
  const live = ctx.generations.get(id)
  if (live) {
    await Promise.race([live.ending, wait(MAX_WAIT_MS)])
    return true
  }
  // Its process may be gone; then its text so far is stored here.
  if (await ctx.orphans.closeIfOrphaned(accountId, { conversationId })) return true
  const until = performance.now() + MAX_WAIT_MS
  while (performance.now() < until && (await isRunning(ctx.db, accountId, id))) await wait(LOOK_EVERY_MS)
  return true
}

/**
 * Stores the request to end the running generation. Its process reads it at the next poll at the latest, within a
 * second.
 */
export async function requestStop(
  db: Db,
  accountId: AccountId,
  conversationId: string,
  reason: StopReason,
): Promise<string | null> {
  const row = await db
    .updateTable('generations')
    // Once a takeover has requested the end, a later stop does not change the reason.
    .set({
      stop_reason: sql<StopReason>`case stop_reason when 'takeover' then stop_reason else ${reason} end`,
    })
    .where('account_id', '=', accountId)
    .where('conversation_id', '=', conversationId)
    .where('status', '=', 'running')
    .returning('id')
    .executeTakeFirst()
  return row?.id ?? null
}

/** Notifies the process that runs it, after the request is committed. */
export async function endRequested(ctx: Notifying, generationId: string, reason: StopReason): Promise<void> {
  const live = ctx.generations.get(generationId)
  if (live) live.abort(reason)
  else await ctx.notifier.publish(ctx.db, 'stop', generationId)
}

/** Ends the generation, if any, that a person's takeover has to stop, once the takeover is committed. */
export async function stopAfterCommit(ctx: Notifying, generationId: string | null): Promise<void> {
  if (generationId !== null)
    await afterCommit(ctx.db, (db) => endRequested({ ...ctx, db }, generationId, 'takeover'))
}

async function isRunning(db: Db, accountId: AccountId, id: string): Promise<boolean> {
  const row = await db
    .selectFrom('generations')
    .select('id')
    .where('account_id', '=', accountId)
    .where('id', '=', id)
    .where('status', '=', 'running')
    .executeTakeFirst()
  return row !== undefined
}
