import type { Gap } from '../../../platform/db/tables/knowledge.ts'
import type { FetchedPage } from '../../../platform/fetch/read/read-page.ts'
import type { LoadedChunk } from '../../training/load-content.ts'
import type { Sketch } from '../traps/sketch.ts'

/** What a server sent, with its HTML, and what the scripts of the page built of it. */
export type Sent = { answer: FetchedPage; html: string; built: string | null }

export type PageContent = {
  title: string
  chunks: LoadedChunk[]
  /** The bytes of training text. */
  bytes: number
  /** The hash of everything that is indexed, by which equal and unchanged pages are recognised. */
  hash: string
  gaps: Gap[]
  /** The hashes of its blocks, by which those that the site repeats are recognised. */
  blocks: readonly string[]
  /** A sample of the text, by which addresses without end are recognised. */
  sketch: Sketch
  etag: string | null
  lastModified: string | null
}

/**
 * The result of reading a page. `links` is null when nothing was sent, so that the known links still count.
 * `instead` is the page of the site that replaces this one. A `passing` failure is worth another attempt.
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
