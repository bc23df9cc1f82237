import type { Selectable } from 'kysely'
import type { PagesTable } from '../../../db/tables/knowledge.ts'
import type { Children } from '../run/crawl-source.ts'

export type PageRow = Selectable<PagesTable>
export type PageStatus = PageRow['status']

/** A page hidden by hand is excluded, whatever the crawl says of it. */
export const shownStatus = ({ status, hidden }: Pick<PageRow, 'status' | 'hidden'>): PageStatus =>
  hidden ? 'excluded' : status

/** Bytes that the page adds to its source. */
export const shownSize = (page: Pick<PageRow, 'status' | 'hidden' | 'size'>): number =>
  shownStatus(page) === 'included' ? page.size : 0

/** Moves a page from one count to another; pages that wait are in none. */
export function countMove(children: Children, from: PageStatus | null, to: PageStatus | null): void {
  if (from !== null && from !== 'pending') children[from] -= 1
  if (to !== null && to !== 'pending') children[to] += 1
}
