/**
 * A slice of a crawl's work. A chain of jobs, each enqueued by the one before, sees a crawl through; a job without
 * a chain helps with one slice.
 */
export const CRAWL_SITE = 'crawl-site'
export type CrawlSite = { sourceId: string; version: number; chain: string | null }
