import { setTimeout as wait } from 'node:timers/promises'
import type { Db } from '../../../db/database.ts'
import type { CrawlRun } from '../run/crawl-run.ts'
import { failCrawl } from '../run/finish-crawl.ts'
import { type ReadPage, storePages } from './store-pages.ts'

/** One step holds the source's row, and the embedded database's only connection, no longer than this takes. */
const MOST_AT_ONCE = 20
const MOST_WAITING = 40
const LINGER_MS = 20
/** A site that fails so often in a row is left alone. */
const MOST_FAILURES = 50

type PageWriter = {
  /** Takes a page that was read, to be stored with others. */
  add(read: ReadPage): void
  /** It has not kept up: read no more for now. */
  readonly isFull: boolean
  /** The crawl is over, or nothing can be stored: read no more at all. */
  readonly isOver: boolean
  /** Resolves when something more is stored. */
  written(): Promise<void>
  /** Stores what is left; throws what kept it from storing. */
  close(): Promise<void>
}

/** Stores the pages that one run has read, some in each step. */
export function createPageWriter(db: Db, run: CrawlRun): PageWriter {
  const waiting: ReadPage[] = []
  let next = Promise.withResolvers<void>()
  let writing: Promise<void> | null = null
  let isOver = false
  let problem: unknown = null

  const write = async (batch: ReadPage[]): Promise<void> => {
    try {
      const failures = await storePages(db, run, batch)
      isOver ||= failures === null
      const last = batch.at(-1)?.outcome
      if (failures === null || failures < MOST_FAILURES || last?.kind !== 'failed') return
      isOver = true
      await failCrawl(db, run, `${failures} pages in a row could not be read. The last: ${last.reason}`)
    } catch (error) {
      // One page that cannot be stored must not keep the others out.
      if (batch.length === 1) throw error
      for (const one of batch) await write([one])
    }
  }

  const writeAll = async (): Promise<void> => {
    try {
      while (waiting.length > 0 && !isOver) {
        if (waiting.length < MOST_AT_ONCE) await wait(LINGER_MS)
        await write(waiting.splice(0, MOST_AT_ONCE))
        next.resolve()
        next = Promise.withResolvers()
      }
    } catch (error) {
      problem = error
      isOver = true
      next.resolve()
    } finally {
      writing = null
    }
  }

  return {
    add(read) {
      waiting.push(read)
      writing ??= writeAll()
    },
    get isFull() {
      return waiting.length >= MOST_WAITING
    },
    get isOver() {
      return isOver
    },
    written: () => next.promise,
    async close() {
      await writing
      if (problem) throw problem
    },
  }
}
