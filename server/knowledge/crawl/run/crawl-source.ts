import type { SourceRow } from '../../sources/queries.ts'

/** contract, section 4, "Source": what links of more than one page carry. */
export type CrawlMetadata = {
  type: 'crawl' | 'sitemap'
  excludePaths: string[]
  includeOnlyPaths: string[]
  slowScraping: boolean
  crawlStatus: 'fetching' | 'fetched' | 'failed'
  children: Children
}

/** Pages by their status; those that wait are not counted. */
export type Children = { included: number; excluded: number; failed: number }

export type CrawlOptions = Pick<CrawlMetadata, 'excludePaths' | 'includeOnlyPaths' | 'slowScraping'>

/** Whether the source is a website of many pages. */
export const isCrawl = ({ link_type }: Pick<SourceRow, 'link_type'>): boolean =>
  link_type === 'crawl' || link_type === 'sitemap'

export const crawlMetadata = ({ metadata }: Pick<SourceRow, 'metadata'>): CrawlMetadata =>
  metadata as CrawlMetadata

export const isProcessing = ({ status }: Pick<SourceRow, 'status'>): boolean =>
  status === 'untrained' || status === 'updated'

export function newCrawlMetadata(
  type: CrawlMetadata['type'],
  { excludePaths = [], includeOnlyPaths = [], slowScraping = false }: Partial<CrawlOptions>,
): CrawlMetadata {
  const children = { included: 0, excluded: 0, failed: 0 }
  return { type, excludePaths, includeOnlyPaths, slowScraping, crawlStatus: 'fetching', children }
}
