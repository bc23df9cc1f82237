import type { Trx } from '../../../platform/db/database.ts'
import { addPages } from '../pages/add-pages.ts'
import { countMove, type PageRow, shownStatus } from '../pages/page-row.ts'
import type { CrawlRun, LockedSource } from '../run/crawl-run.ts'
import type { PausedAddresses } from '../run/crawl-source.ts'
import { shapesOf, without } from './address-shapes.ts'
import { pausedSentence } from './open-watch.ts'

/**
 * Leaves out the pages that are not to be read because their addresses are paused, and returns the others. A page that is in
 * use, and the first one, are always read. Where a value changes nothing, the address without it is read instead.
 */
export async function leaveOutPaused(
  trx: Trx,
  run: CrawlRun,
  source: LockedSource,
  pages: PageRow[],
): Promise<PageRow[]> {
  const { metadata } = source
  const { paused = [] } = metadata
  if (paused.length === 0) return pages
  const byReason = Map.groupBy(pages, (page) =>
    page.number === 1 || page.changed_in > 0 ? undefined : paused.find((one) => isPaused(one, page.url)),
  )
  for (const [one, left] of byReason) {
    if (!one) continue
    one.count += left.length
    for (const page of left)
      countMove(metadata.children, shownStatus(page), shownStatus({ ...page, status: 'excluded' }))
    const ids = left.map(({ id }) => id)
    await trx
      .updateTable('pages')
      .set({ status: 'excluded', error: pausedSentence(one), crawled_in: run.version })
      .where('account_id', '=', run.account.id)
      .where('id', 'in', ids)
      .execute()
    if (one.kind === 'value')
      await addPages(
        trx,
        run,
        source,
        left.map(({ url }) => new URL(withoutValue(one, url))),
      )
  }
  return byReason.get(undefined) ?? []
}

const isPaused = (one: PausedAddresses, href: string): boolean =>
  one.kind === 'value' ? withoutValue(one, href) !== href : shapesOf(new URL(href)).includes(one.addresses)

/** Returns the address without the value that changes nothing, or itself when it has none. */
function withoutValue({ addresses }: Pick<PausedAddresses, 'addresses'>, href: string): string {
  const url = new URL(href)
  const [path, query = ''] = addresses.split('?')
  if (path !== '…' && path !== url.pathname) return href
  if (url.search === '') return href
  return query === '…' ? without(url, [...url.searchParams.keys()]) : without(url, [query.slice(0, -2)])
}
