import type { SourceRow } from '../../sources/queries.ts'
import type { Trap } from '../traps/trap-watch.ts'

/** The metadata of links with more than one page. */
export type CrawlMetadata = {
  type: 'crawl' | 'sitemap'
  excludePaths: string[]
  includeOnlyPaths: string[]
  slowScraping: boolean
  wholePage?: boolean
  crawlStatus: 'fetching' | 'fetched' | 'failed'
  children: Children
  /** While it is being crawled: the number of pages that were found and are to be read. */
  waiting?: number
  /** Addresses without end that are not read. */
  paused?: PausedAddresses[]
  /** Addresses that are read although they seem to be without end. */
  readOn?: string[]
}

export type PausedAddresses = Trap & {
  /** The page that revealed it. */
  example: string
  /** How many pages the last crawl has left out. */
  count: number
}

/** The number of pages by status. Waiting pages are not counted. */
export type Children = { included: number; excluded: number; failed: number }

export type CrawlOptions = Pick<
  CrawlMetadata,
  'excludePaths' | 'includeOnlyPaths' | 'slowScraping' | 'wholePage'
>

/** Returns whether the source is a website of many pages. */
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
