import type { Context } from '../../context.ts'
import { embedChunks } from '../embed-chunks.ts'
import { TrainingFailure } from '../load-content.ts'
import type { CrawlRun } from './crawl-run.ts'
import { failCrawl } from './finish-crawl.ts'
import type { RobotsCache } from './load-robots.ts'
import { failed, failedForNow, type PageOutcome } from './page-outcome.ts'
import type { PageRow } from './page-row.ts'
import type { PageWriter } from './page-writer.ts'
import { readPage } from './read-page.ts'

/** A site that fails so often in a row is left alone. */
const MOST_FAILURES = 50

/** Deals with a claimed page. Answers false when the crawl is over. */
export async function crawlPage(
  ctx: Context,
  run: CrawlRun,
  page: PageRow,
  { robots, writer, signal }: { robots: RobotsCache; writer: PageWriter; signal: AbortSignal },
): Promise<boolean> {
  const outcome = await outcomeOf(ctx, run, page, robots, signal)
  if (signal.aborted) return false
  const failures = await writer.store({ page, outcome })
  if (failures === null) return false
  if (failures < MOST_FAILURES || outcome.kind !== 'failed') return true
  await failCrawl(ctx.db, run, `${failures} pages in a row could not be read. The last: ${outcome.reason}`)
  return false
}

async function outcomeOf(
  ctx: Context,
  run: CrawlRun,
  page: PageRow,
  robots: RobotsCache,
  signal: AbortSignal,
): Promise<PageOutcome> {
  try {
    const outcome = await readPage(ctx, run, page, robots, signal)
    if (outcome.kind === 'content' && outcome.content.hash !== page.content_hash) {
      const source = { id: run.sourceId, account_id: run.account.id, agent_id: run.agentId }
      await embedChunks(ctx, source, outcome.content.chunks, signal)
    }
    return outcome
  } catch (error) {
    ctx.log.warn({ err: error, source: run.sourceId, page: page.url }, 'a page could not be processed')
    if (!(error instanceof TrainingFailure)) return failedForNow('It could not be processed.')
    return error.transient ? failedForNow(error.message) : failed(error.message)
  }
}
