import type { Context } from '../../../context.ts'
import { violates } from '../../../platform/db/connections/database-errors.ts'
import { ownRow } from '../../../platform/db/refs.ts'
import { json } from '../../../platform/db/statements/json.ts'
import { transact } from '../../../platform/db/statements/transact.ts'
import { ApiError, invalidField } from '../../../platform/http/errors.ts'
import { refuseInvalid } from '../../../platform/http/input/validate.ts'
import type { Account } from '../../sources/add-source.ts'
import { requireChangeable, requireSource, type SourceRow } from '../../sources/queries.ts'
import type { linkTypes } from '../../sources/schema.ts'
import { type CrawlOptions, crawlMetadata } from './crawl-source.ts'
import { enqueueCrawl } from './enqueue-crawl.ts'

type LinkType = (typeof linkTypes)[number]
type Change = Partial<CrawlOptions> & { linkType?: LinkType }

const FIELDS: readonly string[] = [
  'linkType',
  'excludePaths',
  'includeOnlyPaths',
  'slowScraping',
  'wholePage',
]

/**
 * Changes the options of a website or how its pages are found, and crawls it again while the live version is used.
 * Throws VALIDATION_INVALID_BODY, SOURCE_PENDING_DELETION, SOURCE_DUPLICATE.
 */
export async function updateSite(
  { db, jobs }: Pick<Context, 'db' | 'jobs'>,
  account: Account,
  { agentId, sourceId }: { agentId: string; sourceId: string },
  change: Change,
): Promise<SourceRow> {
  const strange = Object.keys(change).filter((field) => !FIELDS.includes(field))
  refuseInvalid(Object.fromEntries(strange.map((field) => [field, `A website has no ${field}.`])))
  const { linkType, ...options } = change
  if (linkType === 'individual') throw otherLinkType(linkType)
  const apply = transact(db, async (trx) => {
    const row = await requireChangeable(trx, { accountId: account.id, agentId, sourceId }, true)
    const before = crawlMetadata(row)
    const metadata = { ...before, ...options, type: linkType ?? before.type }
    if (JSON.stringify(metadata) === JSON.stringify(before)) return row
    await trx
      .updateTable('sources')
      .set({ metadata: json(metadata), link_type: metadata.type })
      .where(ownRow(account.id, sourceId))
      .execute()
    // Pages that have not changed would not be sent again.
    if (metadata.wholePage !== before.wholePage)
      await trx
        .updateTable('pages')
        .set({ etag: null, last_modified: null })
        .where('account_id', '=', account.id)
        .where('source_id', '=', sourceId)
        .execute()
    await enqueueCrawl(jobs, trx, { accountId: account.id, sourceId, reason: 'changed' })
    return requireSource(trx, { accountId: account.id, agentId, sourceId })
  })
  return apply.catch((error: unknown) => {
    throw violates(error, 'sources_link') ? new ApiError('SOURCE_DUPLICATE') : error
  })
}

/** Returns the error for turning a page into a website or the other way round (docs/decisions/0017). */
export const otherLinkType = (wanted: LinkType): ApiError =>
  invalidField(
    'linkType',
    wanted === 'individual'
      ? 'A website cannot become a single page. Add a link of this type, and delete this source.'
      : 'A single page cannot become a website. Add a link of this type, and delete this source.',
  )
