import type { Db } from '../../../platform/db/database.ts'
import { type CrawlRun, step } from '../run/crawl-run.ts'
import type { CrawlMetadata, PausedAddresses } from '../run/crawl-source.ts'
import { isKnownIn, openWatch, readAddress, readPages } from './open-watch.ts'

/** More would be a website without any order in its addresses. */
const MAX_PAUSED = 50

/** Looks at pages that have just been stored, and pauses the addresses that they reveal to be without end. */
export async function watchPages(
  db: Db,
  run: CrawlRun,
  ids: string[],
  metadata: CrawlMetadata,
): Promise<void> {
  if (run.type !== 'crawl') return
  const { watch, isNew } = await openWatch(db, run)
  // A watch that has just been opened has seen them.
  if (isNew) return
  const pages = await readPages(db, run).where('id', 'in', ids).execute()
  const found = pages.flatMap((page): PausedAddresses[] => {
    const read = readAddress(page)
    const trap = read && watch.note(read, isKnownIn(metadata))
    return trap ? [{ ...trap, example: page.url, count: 0 }] : []
  })
  if (found.length > 0)
    await step(db, run, async (_trx, source) => {
      for (const one of found) {
        const paused = source.metadata.paused ?? []
        if (!isKnownIn(source.metadata)(one.addresses) && paused.length < MAX_PAUSED)
          source.metadata.paused = [...paused, one]
      }
    })
}
