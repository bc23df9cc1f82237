import type { Db } from '../../../platform/db/database.ts'
import type { CrawlRun } from '../run/crawl-run.ts'
import type { CrawlMetadata, PausedAddresses } from '../run/crawl-source.ts'
import { createTrapWatch, type ReadAddress, type TrapWatch } from './trap-watch.ts'

/** Watches are kept from one slice of a crawl to the next, because opening one reads all pages. */
const MAX_KEPT = 20
const kept = new Map<string, TrapWatch>()

/** Returns the watch of this process for a crawl. A new one knows all pages that have been read. */
export async function openWatch(db: Db, run: CrawlRun): Promise<{ watch: TrapWatch; isNew: boolean }> {
  const id = `${run.sourceId} ${run.version}`
  const found = kept.get(id)
  if (found) return { watch: found, isNew: false }
  const watch = createTrapWatch()
  for (const page of await readPages(db, run).execute()) {
    const read = readAddress(page)
    if (read) watch.note(read, () => false)
  }
  kept.set(id, watch)
  const [oldest] = kept.keys()
  if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest)
  return { watch, isNew: true }
}

/** Selects the pages with text that a crawl has read, in the order in which it did. */
export const readPages = (db: Db, run: CrawlRun) =>
  db
    .selectFrom('pages')
    .select(['number', 'url', 'found_on', 'sketch', 'status'])
    .where('account_id', '=', run.account.id)
    .where('source_id', '=', run.sourceId)
    .where('crawled_in', '=', run.version)
    .where('sketch', 'is not', null)
    .orderBy('fetched_at')
    .orderBy('number')

type Page = {
  number: number
  url: string
  found_on: number | null
  sketch: ReadAddress['sketch'] | null
  status: string
}

export const readAddress = ({ number, url, found_on, sketch, status }: Page): ReadAddress | null =>
  sketch && { number, url, foundOn: found_on, sketch, isIncluded: status === 'included' }

export const isKnownIn =
  ({ paused = [], readOn = [] }: Pick<CrawlMetadata, 'paused' | 'readOn'>) =>
  (addresses: string): boolean =>
    readOn.includes(addresses) || paused.some((one) => one.addresses === addresses)

export const pausedSentence = ({ kind, addresses }: Pick<PausedAddresses, 'kind' | 'addresses'>): string =>
  kind === 'value'
    ? `Not read: addresses like ${addresses} are the same page whatever the value is.`
    : `Not read: addresses like ${addresses} lead on and on to pages that say nothing new.`
