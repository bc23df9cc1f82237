import type { LoadedChunk } from '../../training/load-content.ts'

export type PageContent = {
  title: string
  chunks: LoadedChunk[]
  /** Of training text. */
  bytes: number
  /** Of everything that is indexed: equal pages and pages that have not changed are known by it. */
  hash: string
  etag: string | null
  lastModified: string | null
}

/**
 * What reading a page came to. `links` are those on it; null: nothing was sent, those known count. `instead` is the
 * page of the site that stands for this one. A `passing` failure is worth another try.
 */
export type PageOutcome =
  | { kind: 'content'; content: PageContent; links: URL[] }
  | { kind: 'unchanged' }
  | { kind: 'excluded'; reason: string; instead: URL | null; links: URL[] }
  | { kind: 'failed'; reason: string; passing: boolean; waitMs: number; links: URL[] | null }

export const failed = (reason: string, links: URL[] | null = []): PageOutcome => ({
  kind: 'failed',
  reason,
  passing: false,
  waitMs: 0,
  links,
})

export const failedForNow = (reason: string, waitMs = 0): PageOutcome => ({
  kind: 'failed',
  reason,
  passing: true,
  waitMs,
  links: null,
})

export const excluded = (reason: string, instead: URL | null = null, links: URL[] = []): PageOutcome => ({
  kind: 'excluded',
  reason,
  instead,
  links: instead ? [instead, ...links] : links,
})
