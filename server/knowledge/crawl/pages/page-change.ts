import type { Updateable } from 'kysely'
import type { Trx } from '../../../platform/db/database.ts'
import { json } from '../../../platform/db/statements/json.ts'
import type { PagesTable } from '../../../platform/db/tables/knowledge.ts'
import { storable } from '../../../platform/http/bodies/storable.ts'
import { ApiError } from '../../../platform/http/errors.ts'
import { reserveStorage } from '../../sources/storage-limit.ts'
import { limitSentence } from '../run/claim-pages.ts'
import type { CrawlRun, LockedSource } from '../run/crawl-run.ts'
import { replacePageChunks } from './page-chunks.ts'
import type { PageContent, PageOutcome } from './page-outcome.ts'
import { type PageRow, shownSize, shownStatus } from './page-row.ts'

export type PageChange = Updateable<PagesTable> & Pick<PageRow, 'status'>

/** Returns the change of a page's row after it was read, and writes its chunks. */
export async function changeOf(
  trx: Trx,
  run: CrawlRun,
  source: LockedSource,
  page: PageRow,
  outcome: PageOutcome,
): Promise<PageChange> {
  const isKept = page.changed_in > 0 && page.status === 'included'
  switch (outcome.kind) {
    case 'failed':
      // The earlier text is used until the site says that the page is gone.
      if (outcome.passing && isKept)
        return { status: 'included', error: `${outcome.reason} Its earlier text remains in use.` }
      return withoutText({ status: 'failed', error: outcome.reason })
    case 'excluded':
      return withoutText({ status: 'excluded', error: outcome.reason })
    case 'unchanged':
      return unchanged(trx, run, page)
    case 'content':
      if (isKept && page.content_hash === outcome.content.hash) {
        const { etag, lastModified } = outcome.content
        const sketch = json(outcome.content.sketch)
        return { ...(await unchanged(trx, run, page)), etag, last_modified: lastModified, sketch }
      }
      return {
        ...(await newText(trx, run, source, page, outcome.content)),
        sketch: json(outcome.content.sketch),
      }
  }
}

async function unchanged(trx: Trx, run: CrawlRun, page: PageRow): Promise<PageChange> {
  const twin = page.status === 'included' ? await twinOf(trx, run, page, page.content_hash) : null
  if (twin !== null) return withoutText({ status: 'excluded', error: sameAs(twin) })
  return { status: page.status, ...(page.status === 'included' ? { error: null } : {}) }
}

/** Returns the change for new text, or the reason why it is not included. */
async function newText(
  trx: Trx,
  run: CrawlRun,
  source: LockedSource,
  page: PageRow,
  content: PageContent,
): Promise<PageChange> {
  const reason = await reasonAgainst(trx, run, source, page, content)
  if (reason !== null) return withoutText({ status: 'excluded', error: reason })
  await replacePageChunks(trx, run, page, content)
  return {
    status: 'included',
    error: null,
    title: storable(content.title),
    size: content.bytes,
    content_hash: content.hash,
    gaps: json(content.gaps),
    etag: content.etag,
    last_modified: content.lastModified,
    changed_in: run.version,
    fetched_at: new Date(),
  }
}

async function reasonAgainst(
  trx: Trx,
  run: CrawlRun,
  { metadata, size }: LockedSource,
  page: PageRow,
  content: PageContent,
): Promise<string | null> {
  const twin = await twinOf(trx, run, page, content.hash)
  if (twin !== null) return sameAs(twin)
  if (shownStatus(page) !== 'included' && metadata.children.included >= run.limit) return limitSentence(run)
  try {
    const others = Math.max(0, size - shownSize(page))
    await reserveStorage(trx, run.account, run.agentId, others + content.bytes, run.sourceId)
    return null
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return "Left out: with it the agent's sources would exceed the plan's training size."
  }
}

/** Returns the URL of a page with the same text that this crawl has included. */
async function twinOf(trx: Trx, run: CrawlRun, page: PageRow, hash: string | null): Promise<string | null> {
  const twin = await trx
    .selectFrom('pages')
    .select('url')
    .where('account_id', '=', run.account.id)
    .where('source_id', '=', run.sourceId)
    .where('content_hash', '=', hash)
    .where('status', '=', 'included')
    .where('crawled_in', '=', run.version)
    .where('id', '<>', page.id)
    .limit(1)
    .executeTakeFirst()
  return twin?.url ?? null
}

const sameAs = (url: string): string => `It has the same text as ${url}.`

/**
 * Returns the change of a page that has no text of its own any more. What it had is used until the crawl is complete: see
 * finishCrawl.
 */
const withoutText = (change: PageChange): PageChange => ({
  ...change,
  size: 0,
  content_hash: null,
  gaps: json([]),
  etag: null,
  last_modified: null,
  sketch: null,
})
