import { setTimeout as wait } from 'node:timers/promises'
import type { Context } from '../../../context.ts'
import type { CrawlRun } from '../run/crawl-run.ts'
import { failCrawl } from '../run/finish-crawl.ts'
import { type ReadPage, storePages } from './store-pages.ts'

/** The most pages in one step, which locks the source's row and holds the only connection of the embedded database. */
const MAX_AT_ONCE = 20
const MAX_WAITING = 40
const LINGER_MS = 20
/** After so many failures in a row, the crawl of the site ends. */
const MAX_FAILURES = 50

type PageWriter = {
  /** Adds a page that was read, to be stored together with others. */
  add(read: ReadPage): void
  /** Whether too many pages wait to be stored, so that reading should pause. */
  readonly isFull: boolean
  /** Whether the crawl is over or nothing can be stored, so that reading should end. */
  readonly isOver: boolean
  /** Resolves when more pages have been stored. */
  written(): Promise<void>
  /** Stores the remaining pages. Throws the error that kept it from storing. */
  close(): Promise<void>
}

/** Creates a writer that stores the pages of one run, several in each step. */
export function createPageWriter(ctx: Pick<Context, 'db' | 'models'>, run: CrawlRun): PageWriter {
  const waiting: ReadPage[] = []
  let next = Promise.withResolvers<void>()
  let writing: Promise<void> | null = null
  let isOver = false
  let problem: unknown = null

  const write = async (batch: ReadPage[]): Promise<void> => {
    try {
      const failures = await storePages(ctx, run, batch)
      isOver ||= failures === null
      const last = batch.at(-1)?.outcome
      if (failures === null || failures < MAX_FAILURES || last?.kind !== 'failed') return
      isOver = true
      await failCrawl(ctx.db, run, `${failures} pages in a row could not be read. The last: ${last.reason}`)
    } catch (error) {
      // A page that cannot be stored must not affect the others.
      if (batch.length === 1) throw error
      for (const one of batch) await write([one])
    }
  }

  const writeAll = async (): Promise<void> => {
    try {
      while (waiting.length > 0 && !isOver) {
        if (waiting.length < MAX_AT_ONCE) await wait(LINGER_MS)
        await write(waiting.splice(0, MAX_AT_ONCE))
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
      return waiting.length >= MAX_WAITING
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
