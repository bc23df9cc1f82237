import { asUrgent, onBehalfOf } from '../../db/connections/lanes.ts'
import type { Db } from '../../db/database.ts'
import type { Notifier } from '../../db/notifier.ts'
import type { AccountId } from '../../db/tables/columns.ts'
import type { ServiceProcess } from '../../db/upkeep/processes.ts'
import { appendToLog, type Piece } from './generation-log.ts'
import type { LiveGeneration } from './live-generation.ts'

/** Events that a reader may have seen are in the log within 100 ms: this interval plus the time of one write. */
const EVERY_MS = 30
/** From this age of an event on, the log is behind, and readers wait for it. */
const BEHIND_MS = 60
/** When a write takes longer than this or fails, streams go on from memory until the log works again. */
const STALLED_MS = 1_000
const LONGEST_PAUSE_MS = 1_000
/** The most events in one piece; a reader that has fallen behind loads whole pieces. */
const EVENTS_OF_PIECE = 256
/** The most pieces that one statement writes. */
const PIECES_AT_ONCE = 64
/** The events of an account with more generations waiting than this are written by a separate statement. */
const MANY = 32

type LogWriter = {
  /**
   * Queues the generation's new events, which are written together with those of other generations within EVERY_MS.
   */
  add(live: LiveGeneration): void
  /**
   * Returns whether readers of the account are to wait until their events are in the log, because the last ones took
   * too long to get there or the oldest one of them, emitted at `since`, has already waited too long.
   */
  isBehind(accountId: AccountId, since: number): boolean
  /** Announces each piece of the generation from now on, because another process has a reader for it. */
  announce(live: LiveGeneration): void
  /** Resolves when all events of the generation so far are in the log, or can no longer be written to it. */
  saved(live: LiveGeneration): Promise<void>
  close(): Promise<void>
}

type Needs = { db: Db; notifier: Notifier; process: ServiceProcess; onError: (error: unknown) => void }

/** How far statements to the log are behind the events. */
type Pace = {
  /** How old the oldest event of the last write was when it was in the log, in milliseconds. */
  lag: number
  isStalled: boolean
}

/**
 * Writes the events of all running generations together, in one statement at a time and ahead of all others. An
 * account with many generations waiting gets separate statements, which count against its own share of the database.
 */
export function createLogWriter({ db, notifier, process, onError }: Needs): LogWriter {
  const waiting = new Map<AccountId, Set<LiveGeneration>>()
  /** The generations whose events are being written; events that they add meanwhile wait. */
  const busy = new Set<LiveGeneration>()
  const announced = new Set<LiveGeneration>()
  let timer: NodeJS.Timeout | undefined
  let together: Promise<void> | null = null
  const alone = new Map<AccountId, Promise<void>>()
  const shared: Pace = { lag: 0, isStalled: false }
  /** The accounts with separate statements, whose delay holds back nobody else. */
  const separate = new Map<AccountId, Pace>()
  let failures = 0
  let closed = false

  const enqueue = (live: LiveGeneration): void => {
    const own = waiting.get(live.accountId)
    if (own) own.add(live)
    else waiting.set(live.accountId, new Set([live]))
  }
  const take = (own: Set<LiveGeneration>, batch: LiveGeneration[]): void => {
    for (const live of own) {
      if (batch.length === PIECES_AT_ONCE) return
      if (busy.has(live)) continue
      own.delete(live)
      if (!live.ended && live.unsaved.length > 0) batch.push(live)
    }
  }
  const takeLight = (): LiveGeneration[] => {
    const batch: LiveGeneration[] = []
    for (const [accountId, own] of waiting) {
      if (own.size > MANY || alone.has(accountId)) continue
      take(own, batch)
      if (own.size === 0) waiting.delete(accountId)
    }
    return batch
  }
  const write = async (batch: LiveGeneration[], pace: Pace): Promise<void> => {
    if (batch.length === 0) return
    const pieces = batch.map(pieceOf)
    const since = Math.min(...batch.map(({ unsavedSince }) => unsavedSince))
    const at = performance.now()
    const stall = setTimeout(goOnUnsaved, STALLED_MS, pace)
    for (const live of batch) busy.add(live)
    try {
      const refused = new Set(await appendToLog(db, process, pieces))
      failures = 0
      pace.lag = performance.now() - since
      pace.isStalled = false
      for (const [index, live] of batch.entries()) {
        // If the generation has ended meanwhile, its last piece holds all of these events.
        if (live.ended) continue
        if (refused.has(live.ids.id)) {
          live.abort('lost')
          continue
        }
        live.markSaved(pieces[index]?.events.length ?? 0, at)
        // The remaining events are written after those of the other generations.
        if (live.unsaved.length > 0) enqueue(live)
      }
      await Promise.all(batch.filter((live) => announced.has(live)).map(tell))
    } catch (error) {
      // If the database is not available, everything is written once it is back.
      for (const live of batch) if (!live.ended) enqueue(live)
      if (failures++ === 0) onError(error)
      goOnUnsaved(pace)
    } finally {
      clearTimeout(stall)
      for (const live of batch) busy.delete(live)
    }
  }
  const goOnUnsaved = (pace: Pace): void => {
    pace.isStalled = true
    for (const live of busy) live.notify()
    for (const own of waiting.values()) for (const live of own) live.notify()
  }
  const tell = ({ ids }: LiveGeneration): Promise<void> => notifier.publish(db, 'frames', ids.id)

  const writeAlone = (accountId: AccountId, own: Set<LiveGeneration>): void => {
    const batch: LiveGeneration[] = []
    take(own, batch)
    if (own.size === 0) waiting.delete(accountId)
    const pace = separate.get(accountId) ?? { lag: 0, isStalled: false }
    separate.set(accountId, pace)
    const done = onBehalfOf(accountId, () => write(batch, pace)).finally(() => {
      alone.delete(accountId)
      if ((waiting.get(accountId)?.size ?? 0) <= MANY) separate.delete(accountId)
      schedule()
    })
    alone.set(accountId, done)
  }
  /** Starts every statement that can start now. */
  const flush = (): void => {
    clearTimeout(timer)
    timer = undefined
    for (const [accountId, own] of waiting)
      if (own.size > MANY && !alone.has(accountId)) writeAlone(accountId, own)
    together ??= onBehalfOf('', () => asUrgent(() => write(takeLight(), shared))).finally(() => {
      together = null
      schedule()
    })
  }
  const schedule = (): void => {
    if (timer || closed || !isThereWork()) return
    timer = setTimeout(flush, failures === 0 ? pause() : Math.min(LONGEST_PAUSE_MS, EVERY_MS * 2 ** failures))
  }
  /**
   * Returns the delay before the next write, in milliseconds. There is none while the log is behind or an account has a
   * full batch waiting.
   */
  const pause = (): number => {
    if (shared.lag > BEHIND_MS) return 0
    for (const [accountId, own] of waiting) if (own.size >= PIECES_AT_ONCE && !alone.has(accountId)) return 0
    return EVERY_MS
  }
  /**
   * Returns whether a statement can be started. Generations that wait for a running statement are considered when it
   * is done.
   */
  const isThereWork = (): boolean => {
    for (const [accountId, own] of waiting)
      if (!alone.has(accountId) && (own.size > MANY || together === null)) return true
    return false
  }
  return {
    add(live) {
      enqueue(live)
      schedule()
    },
    isBehind(accountId, since) {
      const { lag, isStalled } = separate.get(accountId) ?? shared
      if (failures > 0 || isStalled) return false
      return lag > BEHIND_MS || performance.now() - since > BEHIND_MS
    },
    announce(live) {
      if (announced.has(live)) return
      announced.add(live)
      void live.ending.then(() => {
        announced.delete(live)
        return tell(live)
      }, onError)
      void tell(live).catch(onError)
    },
    async saved(live) {
      while (live.unsaved.length > 0 && !live.ended && !live.signal.aborted && failures === 0) {
        flush()
        await (alone.get(live.accountId) ?? together)
      }
    },
    async close() {
      closed = true
      clearTimeout(timer)
      await Promise.all([together, ...alone.values()])
    },
  }
}

function pieceOf({ ids, unsaved, count }: LiveGeneration): Piece {
  // This runs synchronously, because frames and unsaved events must grow together.
  return {
    generationId: ids.id,
    position: count - unsaved.length,
    events: unsaved.slice(0, EVENTS_OF_PIECE),
    ending: null,
  }
}
