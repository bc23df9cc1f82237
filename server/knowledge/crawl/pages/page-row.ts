import type { Selectable } from 'kysely'
import type { PagesTable } from '../../../platform/db/tables/knowledge.ts'
import type { Children } from '../run/crawl-source.ts'

export type PageRow = Selectable<PagesTable>
export type PageStatus = PageRow['status']

/** A page that was hidden by hand counts as excluded, whatever its result. */
export const shownStatus = ({ status, hidden }: Pick<PageRow, 'status' | 'hidden'>): PageStatus =>
  hidden ? 'excluded' : status

/** The bytes that the page adds to its source. */
export const shownSize = (page: Pick<PageRow, 'status' | 'hidden' | 'size'>): number =>
  shownStatus(page) === 'included' ? page.size : 0

/** Moves a page from one count to another. Waiting pages are in none. */
export function countMove(children: Children, from: PageStatus | null, to: PageStatus | null): void {
  if (from !== null && from !== 'pending') children[from] -= 1
  if (to !== null && to !== 'pending') children[to] += 1
}
