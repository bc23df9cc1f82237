import type { Context } from '../../../context.ts'
import { addPages } from '../pages/add-pages.ts'
import { readSitemaps, SitemapFailure } from '../site/read-sitemaps.ts'
import { isInSite, pageUrl } from '../site/site.ts'
import { type CrawlRun, step } from './crawl-run.ts'
import { failCrawl } from './finish-crawl.ts'

const AT_ONCE = 500

type Deps = Pick<Context, 'db' | 'fetcher' | 'log'>

/**
 * Adds the first pages of a crawl: its start page or those of the sitemap. It may run twice. Returns false when the
 * crawl ends here.
 */
export async function seedCrawl(ctx: Deps, run: CrawlRun, signal: AbortSignal): Promise<boolean> {
  if (run.type === 'crawl') return addAll(ctx, run, [pageUrl(run.start.href) ?? run.start], true)
  let found = 0
  let lost: string | null = null
  try {
    for await (const part of readSitemaps(ctx, run.start.href, signal)) {
      if ('failed' in part) {
        lost ??= part.failed
        ctx.log.warn({ source: run.sourceId }, `part of a sitemap could not be read: ${part.failed}`)
        continue
      }
      const urls = part.urls.flatMap((url) => pageUrl(url) ?? [])
      for (let from = 0; from < urls.length; from += AT_ONCE) {
        if (!(await addAll(ctx, run, urls.slice(from, from + AT_ONCE), false))) return false
      }
      found += urls.length
    }
  } catch (error) {
    if (!(error instanceof SitemapFailure)) throw error
    await failCrawl(ctx.db, run, error.message)
    return false
  }
  if (run.found.size > 0) return markSeeded(ctx, run, lost !== null)
  const reason = found > 0 ? 'The sitemap lists no page of its own website.' : 'The sitemap lists no page.'
  await failCrawl(ctx.db, run, lost ?? reason)
  return false
}

async function addAll({ db }: Deps, run: CrawlRun, urls: URL[], isAll: boolean): Promise<boolean> {
  await run.rules.prepare(urls.filter((url) => isInSite(run.site, url)))
  const added = await step(db, run, async (trx, source) => {
    if (isAll) source.state.seeded = true
    return addPages(trx, run, source, urls)
  })
  for (const [href, number] of added?.result ?? []) run.found.set(href, number)
  return added !== null
}

async function markSeeded({ db }: Deps, run: CrawlRun, isPartial: boolean): Promise<boolean> {
  const marked = await step(db, run, async (_trx, { state }) => {
    state.seeded = true
    state.partial = isPartial
  })
  return marked !== null
}
