import type { Db } from '../db/database.ts'
import { asUrgent } from '../db/lanes.ts'
import type { Notifier } from '../db/notifier.ts'
import type { ServiceProcess } from '../db/processes.ts'
import { appendToLog, type Piece } from './generation-log.ts'
import type { LiveGeneration } from './live-generation.ts'

/** What a reader may have seen is in the log within 100 ms: this time, and that of one write. */
const EVERY_MS = 50
const LONGEST_PAUSE_MS = 1_000
/** The most events in one piece; a reader that has fallen behind loads whole pieces. */
const EVENTS_OF_PIECE = 256
/** The most pieces that one statement writes. */
const PIECES_AT_ONCE = 64

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

/** Writes the events of all running generations together, one statement at a time. */
export function createLogWriter({ db, notifier, process, onError }: Needs): LogWriter {
  const waiting = new Set<LiveGeneration>()
  const announced = new Set<LiveGeneration>()
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> | null = null
  let failures = 0
  let closed = false

  async function write(): Promise<void> {
    const batch: LiveGeneration[] = []
    for (const live of waiting) {
      if (batch.length === PIECES_AT_ONCE) break
      waiting.delete(live)
      if (!live.ended && live.unsaved.length > 0) batch.push(live)
    }
    if (batch.length === 0) return
    const pieces = batch.map(pieceOf)
    try {
      const refused = new Set(await asUrgent(() => appendToLog(db, process, pieces)))
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
        if (live.unsaved.length > 0) waiting.add(live)
      }
      await Promise.all(batch.filter((live) => announced.has(live)).map(tell))
    } catch (error) {
      // A database that is away gets all of it when it is back.
      for (const live of batch) if (!live.ended) waiting.add(live)
      if (failures++ === 0) onError(error)
    }
  }
  const tell = ({ ids }: LiveGeneration): Promise<void> => notifier.publish(db, 'frames', ids.id)

  const flush = (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    writing ??= write().finally(() => {
      writing = null
      if (waiting.size > 0) schedule()
    })
    return writing
  }
  const schedule = (): void => {
    if (timer || writing || closed) return
    // Many that wait are written one statement after the other.
    const pause = waiting.size >= PIECES_AT_ONCE ? 0 : EVERY_MS
    timer = setTimeout(flush, failures === 0 ? pause : Math.min(LONGEST_PAUSE_MS, EVERY_MS * 2 ** failures))
  }
  return {
    add(live) {
      waiting.add(live)
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
        await writing
        if (live.unsaved.length > 0) await flush()
      }
    },
    async close() {
      closed = true
      clearTimeout(timer)
      await writing
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
