import type { Db } from '../../../platform/db/database.ts'
import { json } from '../../../platform/db/statements/json.ts'
import type { Jobs } from '../../../platform/jobs/jobs.ts'
import { type Account, addSource } from '../../sources/add-source.ts'
import type { SourceRow } from '../../sources/queries.ts'
import { sourceUrl } from '../../sources/source-url.ts'
import { type CrawlMetadata, type CrawlOptions, newCrawlMetadata } from './crawl-source.ts'

type NewSite = { url: string; linkType: CrawlMetadata['type']; allowHttp?: boolean } & Partial<CrawlOptions>

/** Adds a website, whose pages are found by links from the start page or by its sitemap. */
export async function addSite(
  ctx: { db: Db; jobs: Jobs },
  account: Account,
  agentId: string,
  { url: text, linkType, allowHttp, ...options }: NewSite,
): Promise<SourceRow> {
  const url = sourceUrl(text)
  return addSource(ctx, account, agentId, {
    type: 'link',
    name: url,
    url,
    link_type: linkType,
    content: json({ allowHttp }),
    metadata: json(newCrawlMetadata(linkType, options)),
    size: 0,
  })
}
