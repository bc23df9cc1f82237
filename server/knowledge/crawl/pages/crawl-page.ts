import type { Context } from '../../../context.ts'
import { embedChunks } from '../../training/embed-chunks.ts'
import { TrainingFailure } from '../../training/load-content.ts'
import type { CrawlRun } from '../run/crawl-run.ts'
import type { RobotsCache } from '../site/load-robots.ts'
import { failed, failedForNow, type PageOutcome } from './page-outcome.ts'
import type { PageRow } from './page-row.ts'
import { readPage } from './read-page.ts'

/** Reads a claimed page and embeds its text if it is new. Never throws. */
export async function crawlPage(
  ctx: Pick<Context, 'db' | 'extractor' | 'fetcher' | 'log' | 'models' | 'ocr' | 'renderer'>,
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
    if (!signal.aborted)
      ctx.log.warn({ err: error, source: run.sourceId, page: page.url }, 'a page could not be processed')
    if (!(error instanceof TrainingFailure)) return failedForNow('It could not be processed.')
    return error.transient ? failedForNow(error.message) : failed(error.message)
  }
}
