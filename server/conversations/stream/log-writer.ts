import { getHeapStatistics } from 'node:v8'
import { withHighPriority, withTenant } from '../../platform/db/connections/lanes.ts'
import type { Db } from '../../platform/db/database.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import type { ServiceProcess } from '../../platform/db/upkeep/processes.ts'
import { appendToLog, type Piece } from './generation-log.ts'
import type { LiveGeneration } from './reading.ts'

/**
 * A process that is killed loses the words of the last quarter of a second at most: those of this time, and of one write.
 */
const EVERY_MS = 150
const MAX_PAUSE_MS = 1_000
/** The most events in one piece; a reader that has fallen behind loads whole pieces. */
const EVENTS_OF_PIECE = 256
/** The most pieces that one statement writes. */
const PIECES_AT_ONCE = 64
/** An account with more generations than this is written by itself. */
const MANY = 32

/** Writes the events of the generations that run in this process to the log. */
type LogWriter = {
  /** Has the generation's new events written within EVERY_MS. */
  add(live: LiveGeneration): void
  /** Resolves when all events of the generation so far are in the log, or cannot be written to it now. */
  saved(live: LiveGeneration): Promise<void>
  close(): Promise<void>
}

type Deps = { db: Db; process: ServiceProcess; onError: (error: unknown) => void }

/**
 * Writes the events of all generations together, ahead of other statements. Those of an account with many generations
 * count against its own share of the database: if that is too much, only its own log is late.
 */
export function createLogWriter({ db, process, onError }: Deps): LogWriter {
  const waiting = new Map<AccountId, Set<LiveGeneration>>()
  /** What is being written, by account; '' stands for all accounts with few generations. */
  const writing = new Map<string, Promise<void>>()
  /** The generations that are being written, and those that wait for that in the same group. */
  const busy = new Set<LiveGeneration>()
  let timer: NodeJS.Timeout | undefined
  let failures = 0
  let closed = false
  /** Whether the first word of an answer waits. */
  let isUrgent = false

  const add = (live: LiveGeneration): void => {
    const own = waiting.get(live.accountId)
    if (own) own.add(live)
    else waiting.set(live.accountId, new Set([live]))
    // Once the first word is in the log, the model is not asked again after a kill.
    const isFirst = live.unsaved.length === live.count && failures === 0 && !closed
    if (!isFirst) schedule()
    else if (!isUrgent) {
      isUrgent = true
      setImmediate(() => isUrgent && writeAll())
    }
  }
  const schedule = (): void => {
    if (closed || waiting.size === 0) return
    const pause = failures === 0 ? EVERY_MS : Math.min(MAX_PAUSE_MS, EVERY_MS * 2 ** failures)
    timer ??= setTimeout(writeAll, pause)
  }
  const writeAll = (): void => {
    clearTimeout(timer)
    timer = undefined
    isUrgent &&= writing.has('')
    const few: LiveGeneration[] = []
    for (const [accountId, own] of waiting) {
      const tenant = own.size > MANY ? accountId : ''
      if (writing.has(tenant)) continue
      // What is being written is not written twice at a time: it waits until that is done.
      const free = [...own].filter((live) => !busy.has(live))
      for (const live of free) own.delete(live)
      if (own.size === 0) waiting.delete(accountId)
      if (tenant === '') few.push(...free)
      else if (free.length > 0) start(tenant, free)
    }
    if (few.length > 0) start('', few)
  }
  const start = (tenant: string, lives: LiveGeneration[]): void => {
    for (const live of lives) busy.add(live)
    const work = async (): Promise<void> => {
      for (let i = 0; i < lives.length; i += PIECES_AT_ONCE) await write(lives.slice(i, i + PIECES_AT_ONCE))
    }
    const done = withTenant(tenant, () => (tenant === '' ? withHighPriority(work) : work())).finally(() => {
      writing.delete(tenant)
      for (const live of lives) busy.delete(live)
      if (isUrgent) writeAll()
      else schedule()
    })
    writing.set(tenant, done)
  }
  const write = async (lives: LiveGeneration[]): Promise<void> => {
    const batch = lives.filter(({ isEnding, unsaved }) => !isEnding && unsaved.length > 0)
    if (batch.length === 0) return
    const pieces = batch.map(pieceOf)
    try {
      const refused = new Set(await appendToLog(db, process, pieces))
      failures = 0
      for (const [i, live] of batch.entries()) {
        // The rest of an answer that ends is stored with its end.
        if (live.isEnding) continue
        if (refused.has(live.ids.id)) live.abort('lost')
        else live.markSaved(pieces[i]!.events.length)
        if (live.unsaved.length > 0 && live.abortReason !== 'lost') add(live)
      }
    } catch (error) {
      // If the database is not available, everything is written once it is back.
      if (failures++ === 0) onError(error)
      for (const live of batch) add(live)
    }
  }
  return {
    add,
    async saved(live) {
      while (live.unsaved.length > 0 && !live.ended && !live.signal.aborted && failures === 0) {
        writeAll()
        if (writing.size === 0) return
        await Promise.race(writing.values())
      }
    },
    async close() {
      closed = true
      clearTimeout(timer)
      await Promise.all(writing.values())
    },
  }
}

/** The events and their number are read together, because both grow. */
const pieceOf = ({ ids, unsaved, count }: LiveGeneration): Piece => ({
  generationId: ids.id,
  position: count - unsaved.length,
  events: unsaved.slice(0, EVENTS_OF_PIECE),
  ending: null,
})

/**
 * How many characters of events may wait for the log. While the database is unavailable, everything that was said since then
 * has to stay in memory, where a character of an encoded event takes about two bytes, because the event itself is kept,
 * too. An eighth of the heap's limit is therefore a quarter of the heap.
 */
const MAX_CHARACTERS = Math.floor(getHeapStatistics().heap_size_limit / 8)

/** What the answers of this process have said that is not in the log yet. */
export type Backlog = {
  /** Counts more characters of the account's events, or fewer with a negative number. */
  add(accountId: AccountId, characters: number): void
  /** Whether nothing more may be said for the account. Half of the room is the most that one account gets. */
  isFull(accountId: AccountId): boolean
  /** Resolves when there is room for the account, or the signal is aborted. Returns undefined when there is room. */
  room(accountId: AccountId, signal: AbortSignal): Promise<void> | undefined
}

/** `most` is the number of characters for all accounts together. */
export function createBacklog(most = MAX_CHARACTERS): Backlog {
  const ofAccount = new Map<AccountId, number>()
  const waiting = new Set<() => void>()
  let all = 0
  const isFull = (accountId: AccountId): boolean => all >= most || (ofAccount.get(accountId) ?? 0) >= most / 2
  return {
    isFull,
    add(accountId, characters) {
      all += characters
      const own = (ofAccount.get(accountId) ?? 0) + characters
      if (own > 0) ofAccount.set(accountId, own)
      else ofAccount.delete(accountId)
      if (characters < 0 && all < most) for (const look of waiting) look()
    },
    room(accountId, signal) {
      if (!isFull(accountId) || signal.aborted) return undefined
      return new Promise((resolve) => {
        const look = (): void => {
          if (isFull(accountId) && !signal.aborted) return
          waiting.delete(look)
          signal.removeEventListener('abort', look)
          resolve()
        }
        waiting.add(look)
        signal.addEventListener('abort', look)
      })
    },
  }
}
