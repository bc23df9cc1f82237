import type { Static } from 'typebox'
import { warningsOf } from '../../sources/present.ts'
import type { Page } from '../../sources/schema.ts'
import { type PageRow, shownSize, shownStatus } from './page-row.ts'

export function presentPage(page: PageRow): Static<typeof Page> {
  return {
    id: page.id,
    url: page.url,
    title: page.title,
    status: shownStatus(page),
    error: page.hidden ? 'Excluded by hand.' : page.error,
    size: shownSize(page),
    fetchedAt: page.fetched_at?.toISOString() ?? null,
    ...warningsOf(page),
  }
}
