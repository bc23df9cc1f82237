import { holdAgent } from '../../../agents/records/find-agent.ts'
import { bumpKnowledgeVersion } from '../../../agents/records/knowledge-state.ts'
import type { Context } from '../../../context.ts'
import type { Trx } from '../../../platform/db/database.ts'
import { ownRow } from '../../../platform/db/refs.ts'
import { json } from '../../../platform/db/statements/json.ts'
import { transact } from '../../../platform/db/statements/transact.ts'
import { ApiError } from '../../../platform/http/errors.ts'
import type { Account } from '../../sources/add-source.ts'
import { requireChangeable, type SourceRow } from '../../sources/queries.ts'
import { reserveStorage } from '../../sources/storage-limit.ts'
import { pageLimit } from '../run/crawl-run.ts'
import { crawlMetadata } from '../run/crawl-source.ts'
import { enqueueCrawl } from '../run/enqueue-crawl.ts'
import { requirePage } from './page-queries.ts'
import { countMove, type PageRow, shownSize, shownStatus } from './page-row.ts'

type Deps = Pick<Context, 'db' | 'jobs'>
type PagePath = { agentId: string; sourceId: string; pageId: string }

/**
 * Removes a page from answers at once and in later crawls, or includes it again. If an included page has never been
 * read, this starts a crawl that reads it. Throws RESOURCE_NOT_FOUND, SOURCE_PENDING_DELETION,
 * SOURCE_SIZE_LIMIT_EXCEEDED.
 */
export async function hidePage(
  { db, jobs }: Deps,
  account: Account,
  { agentId, sourceId, pageId }: PagePath,
  hidden: boolean,
): Promise<PageRow> {
  return transact(db, async (trx) => {
    await holdAgent(trx, { accountId: account.id, agentId })
    const source = await requireChangeable(trx, { accountId: account.id, agentId, sourceId }, true)
    const page = await requirePage(trx, account.id, sourceId, pageId)
    if (page.hidden === hidden) return page
    const after = { ...page, hidden }
    if (shownStatus(after) === 'included') await requireRoom(trx, account, source, after)
    await trx.updateTable('pages').set({ hidden }).where(ownRow(account.id, pageId)).execute()
    await writeCounts(trx, source, page, after)
    await bumpKnowledgeVersion(trx, { accountId: account.id, agentId })
    if (after.status === 'pending' && !hidden)
      await enqueueCrawl(jobs, trx, { accountId: account.id, sourceId, reason: 'page' })
    return after
  })
}

async function requireRoom(trx: Trx, account: Account, source: SourceRow, page: PageRow): Promise<void> {
  const limit = pageLimit(account.plan)
  if (crawlMetadata(source).children.included >= limit)
    throw new ApiError('SOURCE_SIZE_LIMIT_EXCEEDED', {
      message: `The website already has ${limit} pages here, which is the limit.`,
    })
  await reserveStorage(trx, account, source.agent_id, source.size + page.size, source.id)
}

async function writeCounts(trx: Trx, source: SourceRow, before: PageRow, after: PageRow): Promise<void> {
  const metadata = crawlMetadata(source)
  countMove(metadata.children, shownStatus(before), shownStatus(after))
  await trx
    .updateTable('sources')
    .set((eb) => ({
      metadata: json(metadata),
      size: Math.max(0, source.size + shownSize(after) - shownSize(before)),
      pages_version: eb('pages_version', '+', 1),
    }))
    .where(ownRow(source.account_id, source.id))
    .execute()
}
