import { setTimeout as wait } from 'node:timers/promises'
import { getHeapStatistics } from 'node:v8'
import { type Selectable, sql } from 'kysely'
import type { Logger } from 'pino'
import { withoutMarkers } from '../../knowledge/search/answering/citations.ts'
import {
  createFairPlaces,
  type FairPlaces,
  type MainThreadScheduler,
} from '../../platform/concurrency/fair-shares.ts'
import type { Db, Trx } from '../../platform/db/database.ts'
import type { Notifier } from '../../platform/db/notifier.ts'
import { ownRow } from '../../platform/db/refs.ts'
import { afterCommit, transact } from '../../platform/db/statements/transact.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import type { GenerationsTable, StopReason } from '../../platform/db/tables/conversations.ts'
import { forgetDeadProcesses, type ServiceProcess } from '../../platform/db/upkeep/processes.ts'
import { ApiError } from '../../platform/http/errors.ts'
import {
  closingResults,
  dropRunningCalls,
  endCalls,
  keptOfBroken,
  resultsOf,
  unresolvedCalls,
} from '../records/parts.ts'
import { createLogWriter, EVENTS_OF_PIECE, eventsAfter, partsOf, readLog } from '../stream/generation-log.ts'
import { type GenerationIds, LiveGeneration, type StreamEvent } from '../stream/reading.ts'
import { type DeliverAnswer, endTurn, lockConversation, lostBeforeWords } from './end-turn.ts'

/** How often the process looks which of its generations have to end, because the notice of a stop may be lost. */
const LOOK_MS = 1_000
const LOOK_FOR_ROOM_MS = 50
const ANSWERING_AT_ONCE = 4_000
const MAX_RUNNING = 6_000
/** The most generations of one account, so that no account uses up all places. */
const MAX_OF_ACCOUNT = 3_000
/**
 * The most events of all answers that may wait for the log. While the database is unavailable, everything that is said
 * stays in memory, where an event and its frame take about 512 bytes; this is a quarter of the heap.
 */
const MAX_UNSAVED = Math.floor(getHeapStatistics().heap_size_limit / 4 / 512)

/** A place of a generation that is being started: it ends with one of its functions. */
type Place = {
  run(ids: GenerationIds, options: { transient: boolean }): LiveGeneration
  /** Gives the place back, because the start has failed. */
  leave(): void
}

/** The generations that this process runs. */
export type Generations = {
  /**
   * Reserves a place for a generation that is about to start. Throws SERVICE_OVERLOADED when the process, or the account
   * within it, is at its limit of generations or of what waits for the log, or when the process is about to end.
   */
  reserve(accountId: AccountId): Place
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
  /** For producing events. */
  readonly turns: MainThreadScheduler
  /** Places for generating answers. One place covers all model calls of an answer. */
  readonly answering: FairPlaces
  /** Limits how many pictures are decoded at once, because one can take hundreds of megabytes. */
  readonly decoding: FairPlaces
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
  /** The most events that may wait for the log. */
  maxUnsaved?: number
}

/** Tracks the running generations, writes their events to the log, and ends those for which a stop was requested. */
export function createGenerations({
  db,
  notifier,
  process,
  turns,
  onError,
  maxUnsaved = MAX_UNSAVED,
}: Deps): Generations {
  const running = new Map<string, LiveGeneration>()
  const byConversation = new Map<string, LiveGeneration>()
  const writer = createLogWriter({ db, process, onError })
  /** The events of all generations that are not in the log yet. */
  let unsaved = 0
  let starting = 0
  let draining = false
  let closed = false
  /** Generations that the database assigns to this process, but that do not run here, with the time they were found. */
  let strangers = new Map<string, number>()

  /** Ends generations that were asked to stop, and gives up those whose start was carried out after it had failed. */
  const look = async (): Promise<void> => {
    const rows = await db
      .selectFrom('generations')
      .select(['id', 'stop_reason'])
      .where('owner', '=', process.id)
      .where('status', '=', 'running')
      .execute()
    for (const { id, stop_reason } of rows) if (stop_reason) running.get(id)?.abort(stop_reason)
    const now = performance.now()
    const unknown = rows.filter(({ id }) => !running.has(id))
    strangers = new Map(unknown.map(({ id }) => [id, strangers.get(id) ?? now]))
    // One that was found just now may be starting.
    const left = [...strangers].flatMap(([id, found]) => (now - found < LOOK_MS / 2 ? [] : id))
    if (left.length === 0) return
    await db
      .updateTable('generations')
      .set({ owner: null })
      .where('id', 'in', left)
      .where('owner', '=', process.id)
      .where('status', '=', 'running')
      .execute()
  }
  // Errors are ignored while the database is not available.
  const timer = setInterval(() => void look().catch(() => {}), LOOK_MS)
  timer.unref()
  const stopListening = notifier.on('stop', (id) => {
    if (running.has(id)) look().catch(onError)
  })
  process.onLost((formerEpoch) => {
    for (const live of running.values()) if (live.ids.epoch <= formerEpoch) live.abort('lost')
  })
  const isFull = (accountId: AccountId): boolean => {
    if (running.size + starting >= MAX_RUNNING || unsaved >= maxUnsaved) return true
    if (running.size < MAX_OF_ACCOUNT) return false
    return [...running.values()].filter((live) => live.accountId === accountId).length >= MAX_OF_ACCOUNT
  }
  const mayGoOn = (live: LiveGeneration): boolean =>
    live.signal.aborted || (unsaved < maxUnsaved && live.unsaved.length < 2 * EVENTS_OF_PIECE)
  const idle = async (): Promise<void> => {
    while (starting > 0) await wait(10)
    await Promise.all([...running.values()].map(({ ending }) => ending))
  }
  return {
    reserve(accountId) {
      if (draining || isFull(accountId)) throw overloaded()
      starting++
      return {
        leave() {
          starting--
        },
        run(ids, { transient }) {
          starting--
          const live = new LiveGeneration(ids, {
            accountId,
            readLog: eventsAfter(db, accountId, ids.id),
            transient,
            process,
            onUnsaved(of, events) {
              unsaved += events
              if (events > 0) writer.add(of)
            },
          })
          running.set(ids.id, live)
          byConversation.set(ids.conversationId, live)
          void live.ending.then(() => {
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
      if (mayGoOn(live)) return undefined
      return (async () => {
        do {
          await writer.saved(live)
          if (!mayGoOn(live)) await wait(LOOK_FOR_ROOM_MS)
        } while (!mayGoOn(live))
      })()
    },
    turns,
    answering: createFairPlaces({ places: ANSWERING_AT_ONCE }),
    decoding: createFairPlaces({ places: 1 }),
    idle,
    async drain(ms) {
      draining = true
      await Promise.race([idle(), wait(ms, undefined, { ref: false })])
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
type Stopping = Notifying & { orphans: Pick<Orphans, 'closeIfOrphaned'> }

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
    .where(ownRow(accountId, id))
    .where('status', '=', 'running')
    .executeTakeFirst()
  return row !== undefined
}

/** Closes generations whose process is gone, and keeps what they produced. */
export type Orphans = {
  /** Closes those of all accounts. Any that cannot be closed are left for the next run. Returns how many were closed. */
  closeAll(): Promise<number>
  /** Closes the given generation, or the one running in the conversation. Returns false if it is not orphaned. */
  closeIfOrphaned(
    accountId: AccountId,
    which: { conversationId: string } | { generationId: string },
  ): Promise<boolean>
}

/**
 * Matches a running generation whose process has ended or was declared dead, so that its epoch is not the current one.
 */
const isOrphaned = sql<boolean>`generations.status = 'running' and not exists (
  select from processes where processes.id = generations.owner and processes.epoch = generations.epoch)`

type Closing = { db: Db; log: Logger; deliverAnswer: DeliverAnswer }

export const createOrphans = (needs: Closing): Orphans => ({
  closeAll: () => closeAll(needs),
  closeIfOrphaned: (accountId, which) => closeIfOrphaned(needs, accountId, which),
})

async function closeAll(ctx: Closing): Promise<number> {
  const rows = await ctx.db
    .selectFrom('generations')
    .select(['id', 'account_id', 'conversation_id'])
    .where(isOrphaned)
    .orderBy('id')
    .execute()
  if (rows.length === 0) await forgetDeadProcesses(ctx.db)
  let closed = 0
  const failed: { err: unknown; generation: string }[] = []
  for (const { id, account_id, conversation_id } of rows) {
    try {
      if (await closeOne(ctx, account_id, conversation_id, id)) closed++
    } catch (err) {
      failed.push({ err, generation: id })
    }
  }
  if (failed.length > 0)
    ctx.log.error({ ...failed[0], count: failed.length }, 'interrupted generations could not be closed')
  return closed
}

async function closeIfOrphaned(
  ctx: Closing,
  accountId: AccountId,
  which: Parameters<Orphans['closeIfOrphaned']>[1],
): Promise<boolean> {
  const row = await ctx.db
    .selectFrom('generations')
    .select(['id', 'conversation_id'])
    .where('account_id', '=', accountId)
    .where((eb) =>
      'generationId' in which
        ? eb('id', '=', which.generationId)
        : eb('conversation_id', '=', which.conversationId),
    )
    .where(isOrphaned)
    .executeTakeFirst()
  return row ? closeOne(ctx, accountId, row.conversation_id, row.id) : false
}

/** Checks the generation again while holding the locks of the conversation and of the generation, and ends it. */
async function closeOne(
  { db, deliverAnswer }: Closing,
  accountId: AccountId,
  conversationId: string,
  id: string,
): Promise<boolean> {
  return transact(db, async (trx) => {
    const conversation = await lockConversation(trx, accountId, conversationId)
    const row = await trx
      .selectFrom('generations')
      .selectAll()
      .where(ownRow(accountId, id))
      .where(isOrphaned)
      // Writers to its log hold a weaker lock on the row, so nothing is appended from here on.
      .forUpdate()
      .executeTakeFirst()
    if (!row) return false
    const owner = { accountId, agentId: row.agent_id }
    const { events } = await readLog(trx, accountId, id, 0)
    const logged = partsOf(events)
    await endCalls(trx, owner, resultsOf(logged).values())
    await dropRunningCalls(trx, owner, id)
    const results = closingResults(unresolvedCalls(logged), await outputsOf(trx, row))
    const added: StreamEvent[] = results.map(({ toolCallId, output }) => ({
      type: 'tool-output-available',
      toolCallId,
      output,
      providerExecuted: true,
    }))
    const ids = {
      id,
      conversationId,
      userMessageId: row.user_message_id,
      messageId: row.message_id,
      userId: conversation?.user_id ?? null,
      credits: row.credits,
      kind: row.kind,
      epoch: row.epoch,
      firstEvent: row.first_event,
    }
    // The passages that the markers refer to were lost with the process.
    const parts = keptOfBroken(row.kind, partsOf([...events, ...added])).map((part) =>
      part.type === 'text' ? { ...part, text: withoutMarkers(part.text) } : part,
    )
    const hasBegun = events.length > 0
    // A continuation can still be continued.
    const reason = row.kind === 'continuation' ? {} : { finishReason: 'error' as const }
    const metadata = { model: row.model, ...reason }
    const closer = { owner: row.owner, epoch: row.epoch, ownerAfter: null }
    await endTurn({ deliverAnswer }, trx, owner, ids, closer, {
      status: 'interrupted',
      finishReason: 'error',
      message: parts.length > 0 ? { parts, metadata } : null,
      isPaid: parts.length > 0,
      waiting: [],
      unlogged: { position: events.length, events: added },
      told: { hasBegun, ...(hasBegun ? {} : { error: lostBeforeWords() }) },
    })
    return true
  })
}

async function outputsOf(trx: Trx, { id, account_id }: Selectable<GenerationsTable>) {
  const rows = await trx
    .selectFrom('tool_calls')
    .select(['id', 'output'])
    .where('account_id', '=', account_id)
    .where('generation_id', '=', id)
    .where('output', 'is not', null)
    .execute()
  return new Map(rows.map(({ id: callId, output }) => [callId, output]))
}
