import type { Db } from '../../db/database.ts'
import type { CrawlRun } from './crawl-run.ts'
import { type ReadPage, storePages } from './store-pages.ts'

/** One step holds the source's row, and the embedded database's only connection, no longer than this takes. */
const MOST_AT_ONCE = 20

export type PageWriter = {
  /** Stores a page that was read; see storePages for the answer. */
  store(read: ReadPage): Promise<number | null>
}

type Waiting = { read: ReadPage; resolve(failures: number | null): void; reject(error: unknown): void }

/** Stores pages of one run: what has come while one step was under way goes together into the next. */
export function createPageWriter(db: Db, run: CrawlRun): PageWriter {
  const waiting: Waiting[] = []
  let isWriting = false

  const write = async (batch: Waiting[]): Promise<void> => {
    try {
      const failures = await storePages(
        db,
        run,
        batch.map(({ read }) => read),
      )
      for (const { resolve } of batch) resolve(failures)
    } catch (error) {
      // One page that cannot be stored must not keep the others out.
      if (batch.length > 1) for (const one of batch) await write([one])
      else for (const { reject } of batch) reject(error)
    }
  }

  const writeAll = async (): Promise<void> => {
    isWriting = true
    while (waiting.length > 0) await write(waiting.splice(0, MOST_AT_ONCE))
    isWriting = false
  }

  return {
    store: (read) =>
      new Promise((resolve, reject) => {
        waiting.push({ read, resolve, reject })
        if (!isWriting) void writeAll()
      }),
  }
}
