import type { Db } from '../db/database.ts'
import { asUrgent, onBehalfOf } from '../db/lanes.ts'
import type { Notifier } from '../db/notifier.ts'
import type { ServiceProcess } from '../db/processes.ts'
import type { AccountId } from '../db/tables.ts'
import { appendToLog, type Piece } from './generation-log.ts'
import type { LiveGeneration } from './live-generation.ts'

/** What a reader may have seen is in the log within 100 ms: this time, and that of one write. */
const EVERY_MS = 50
const LONGEST_PAUSE_MS = 1_000
/** The most events in one piece; a reader that has fallen behind loads whole pieces. */
const EVENTS_OF_PIECE = 256
/** The most pieces that one statement writes. */
const PIECES_AT_ONCE = 64
/** An account of which more wait is written by itself. */
const MANY = 32

export type LogWriter = {
  /** The generation has said something: it is written with what others say in the next moment. */
  add(live: LiveGeneration): void
  /** Somebody reads it in another process: from now on each piece is announced. */
  announce(live: LiveGeneration): void
  /** Resolves when all that the generation has said so far is in the log, or it cannot be put there any more. */
  saved(live: LiveGeneration): Promise<void>
  close(): Promise<void>
}

type Needs = { db: Db; notifier: Notifier; process: ServiceProcess; onError: (error: unknown) => void }

/**
 * Writes the events of all running generations together, one statement at a time and ahead of all others. The accounts of
 * which many wait have statements of their own, which take from their own share of the database.
 */
export function createLogWriter({ db, notifier, process, onError }: Needs): LogWriter {
  const waiting = new Map<AccountId, Set<LiveGeneration>>()
  /** Those whose events are being written; what they say meanwhile waits. */
  const busy = new Set<LiveGeneration>()
  const announced = new Set<LiveGeneration>()
  let timer: NodeJS.Timeout | undefined
  let together: Promise<void> | null = null
  const alone = new Map<AccountId, Promise<void>>()
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
  const write = async (batch: LiveGeneration[]): Promise<void> => {
    if (batch.length === 0) return
    const pieces = batch.map(pieceOf)
    for (const live of batch) busy.add(live)
    try {
      const refused = new Set(await appendToLog(db, process, pieces))
      failures = 0
      for (const [index, live] of batch.entries()) {
        // It may have ended meanwhile, and its last piece holds all of this.
        if (live.ended) continue
        if (refused.has(live.ids.id)) {
          live.abort('lost')
          continue
        }
        live.markSaved(pieces[index]?.events.length ?? 0)
        // The rest has its turn after the others'.
        if (live.unsaved.length > 0) enqueue(live)
      }
      await Promise.all(batch.filter((live) => announced.has(live)).map(tell))
    } catch (error) {
      // A database that is away gets all of it when it is back.
      for (const live of batch) if (!live.ended) enqueue(live)
      if (failures++ === 0) onError(error)
    } finally {
      for (const live of batch) busy.delete(live)
    }
  }
  const tell = ({ ids }: LiveGeneration): Promise<void> => notifier.publish(db, 'frames', ids.id)

  const writeAlone = (accountId: AccountId, own: Set<LiveGeneration>): void => {
    const batch: LiveGeneration[] = []
    take(own, batch)
    if (own.size === 0) waiting.delete(accountId)
    const done = onBehalfOf(accountId, () => write(batch)).finally(() => {
      alone.delete(accountId)
      schedule()
    })
    alone.set(accountId, done)
  }
  /** Begins the statements that can begin now. */
  const flush = (): void => {
    clearTimeout(timer)
    timer = undefined
    for (const [accountId, own] of waiting)
      if (own.size > MANY && !alone.has(accountId)) writeAlone(accountId, own)
    together ??= onBehalfOf('', () => asUrgent(() => write(takeLight()))).finally(() => {
      together = null
      schedule()
    })
  }
  const schedule = (): void => {
    if (timer || closed || !isThereWork()) return
    timer = setTimeout(flush, failures === 0 ? pause() : Math.min(LONGEST_PAUSE_MS, EVERY_MS * 2 ** failures))
  }
  /** Many of one account are written one statement after the other. */
  const pause = (): number => {
    for (const [accountId, own] of waiting) if (own.size >= PIECES_AT_ONCE && !alone.has(accountId)) return 0
    return EVERY_MS
  }
  /** What waits for a statement that is on its way is looked at when that is done. */
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
  // All of this runs at once: frames and unsaved events grow together.
  return {
    generationId: ids.id,
    position: count - unsaved.length,
    events: unsaved.slice(0, EVENTS_OF_PIECE),
    ending: null,
  }
}
