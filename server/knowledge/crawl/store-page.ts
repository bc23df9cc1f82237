import { type SqlBool, sql, type Updateable } from 'kysely'
import type { Db, Trx } from '../../db/database.ts'
import { json } from '../../db/json.ts'
import type { PagesTable } from '../../db/tables.ts'
import { ApiError } from '../../http/errors.ts'
import { storable } from '../../http/storable.ts'
import { takeRoom } from '../room.ts'
import { addPages, markNumbersFound } from './add-pages.ts'
import { limitSentence } from './claim-pages.ts'
import { type CrawlRun, type LockedSource, step } from './crawl-run.ts'
import { insertChunks, retireChunks } from './page-chunks.ts'
import type { PageContent, PageOutcome } from './page-outcome.ts'
import { countMove, type PageRow, shownSize, shownStatus } from './page-row.ts'

/** Of one page in one crawl. */
const MOST_TRIES = 3
const PAUSE_MS = 1_000

type Change = Updateable<PagesTable> & Pick<PageRow, 'status'>

/**
 * Writes what reading a page came to, and what it links to, in one step; a page that somebody else has dealt with
 * meanwhile is left alone. Answers how many pages in a row have failed for now, or null when the crawl is over.
 */
export async function storePage(
  db: Db,
  run: CrawlRun,
  { id }: PageRow,
  outcome: PageOutcome,
): Promise<number | null> {
  const done = await step(db, run, async (trx, source) => {
    const page = await trx
      .selectFrom('pages')
      .selectAll()
      .where('account_id', '=', run.account.id)
      .where('id', '=', id)
      .where('crawled_in', '<', run.version)
      .executeTakeFirst()
    if (!page) return { failures: 0, links: null }
    const isPassing = outcome.kind === 'failed' && outcome.passing
    const failures = isPassing ? source.state.failures + 1 : 0
    source.state.failures = failures
    if (isPassing) source.state.nextAt = Math.max(source.state.nextAt, Date.now() + outcome.waitMs)
    if (isPassing && page.tries + 1 < MOST_TRIES) {
      await tryAgain(trx, page, Math.max(outcome.waitMs, PAUSE_MS * 4 ** page.tries))
      return { failures, links: null }
    }
    const links = await linksOf(trx, run, source, page, outcome)
    const change = await changeOf(trx, run, source, page, outcome)
    if (links) change.links = json([...links.values()].filter((number) => number !== page.number))
    await writePage(trx, run, source, page, change)
    return { failures, links }
  })
  for (const [href, number] of done?.result.links ?? []) run.found.set(href, number)
  return done && done.result.failures
}

async function tryAgain(trx: Trx, page: PageRow, pauseMs: number): Promise<void> {
  await trx
    .updateTable('pages')
    .set({ tries: page.tries + 1, holder: null, held_until: new Date(Date.now() + pauseMs) })
    .where('account_id', '=', page.account_id)
    .where('id', '=', page.id)
    .execute()
}

/** The pages that this one leads to; null when those it led to before count. */
async function linksOf(
  trx: Trx,
  run: CrawlRun,
  source: LockedSource,
  page: PageRow,
  outcome: PageOutcome,
): Promise<Map<string, number> | null> {
  const links = outcome.kind === 'unchanged' ? null : outcome.links
  if (links === null) {
    await markNumbersFound(trx, run, page.links)
    return null
  }
  // A sitemap names its pages itself; only a page that stands for a named one is followed.
  const instead = outcome.kind === 'excluded' && outcome.instead ? [outcome.instead] : []
  return addPages(trx, run, source, run.type === 'crawl' ? links : instead)
}

async function changeOf(
  trx: Trx,
  run: CrawlRun,
  source: LockedSource,
  page: PageRow,
  outcome: PageOutcome,
): Promise<Change> {
  const isKept = page.changed_in > 0 && page.status === 'included'
  switch (outcome.kind) {
    case 'failed':
      // Its earlier text is the best there is, as long as nobody says that the page is gone.
      if (outcome.passing && isKept)
        return { status: 'included', error: `${outcome.reason} Its earlier text goes on answering.` }
      return withoutText(trx, run, page, { status: 'failed', error: outcome.reason })
    case 'excluded': {
      const instead = outcome.instead?.href ?? null
      return withoutText(trx, run, page, { status: 'excluded', error: outcome.reason, stands_for: instead })
    }
    case 'unchanged':
      return unchanged(trx, run, page)
    case 'content':
      if (isKept && page.content_hash === outcome.content.hash) {
        const { etag, lastModified } = outcome.content
        return { ...(await unchanged(trx, run, page)), etag, last_modified: lastModified }
      }
      return newText(trx, run, source, page, outcome.content)
  }
}

async function unchanged(trx: Trx, run: CrawlRun, page: PageRow): Promise<Change> {
  const twin = page.status === 'included' ? await twinOf(trx, run, page, page.content_hash) : null
  if (twin !== null) return withoutText(trx, run, page, { status: 'excluded', error: sameAs(twin) })
  return { status: page.status, ...(page.status === 'included' ? { error: null } : {}) }
}

/** New text of a page, or the reason why there is no place for it. */
async function newText(
  trx: Trx,
  run: CrawlRun,
  source: LockedSource,
  page: PageRow,
  content: PageContent,
): Promise<Change> {
  const reason = await reasonAgainst(trx, run, source, page, content)
  if (reason !== null) return withoutText(trx, run, page, { status: 'excluded', error: reason })
  await retireChunks(trx, run, [page.id])
  await insertChunks(trx, run, page, content)
  return {
    status: 'included',
    error: null,
    title: storable(content.title),
    size: content.bytes,
    content_hash: content.hash,
    etag: content.etag,
    last_modified: content.lastModified,
    stands_for: null,
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
    await takeRoom(trx, run.account, run.agentId, others + content.bytes, run.sourceId)
    return null
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return "Left out: with it the agent's sources would exceed the plan's training size."
  }
}

/** The URL of a page with the same text that this crawl has included. */
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

async function withoutText(trx: Trx, run: CrawlRun, page: PageRow, change: Change): Promise<Change> {
  if (page.changed_in > 0) await retireChunks(trx, run, [page.id])
  return {
    stands_for: null,
    ...change,
    size: 0,
    content_hash: null,
    etag: null,
    last_modified: null,
    ...(page.changed_in > 0 ? { changed_in: run.version } : {}),
  }
}

async function writePage(
  trx: Trx,
  run: CrawlRun,
  source: LockedSource,
  page: PageRow,
  change: Change,
): Promise<void> {
  const after = { ...page, ...change, size: Number(change.size ?? page.size) } as PageRow
  countMove(source.metadata.children, shownStatus(page), shownStatus(after))
  source.size = Math.max(0, source.size + shownSize(after) - shownSize(page))
  await trx
    .updateTable('pages')
    .set({ fetched_at: new Date(), ...change, crawled_in: run.version, holder: null, held_until: null })
    .where('account_id', '=', run.account.id)
    .where('id', '=', page.id)
    .where(sql<SqlBool>`crawled_in < ${run.version}`)
    .execute()
}
