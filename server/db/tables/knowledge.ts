import type { ColumnType, Generated } from 'kysely'
import type { AccountId, Json, OptionalId, OptionalTime, Time } from './columns.ts'

export type SourcesTable = {
  id: string
  account_id: AccountId
  agent_id: string
  type: 'text' | 'qna' | 'link' | 'file' | 'notionPage' | 'ticket'
  name: string | null
  status: 'untrained' | 'trained' | 'updated' | 'failed' | 'toBeDeleted'
  error: string | null
  /** Bytes of training text. */
  size: Generated<number>
  metadata: Json<Record<string, unknown> | null>
  content: Json<SourceContent>
  link_type: string | null
  url: string | null
  content_version: Generated<number>
  live_version: number | null
  chunks_version: Generated<number>
  crawl: Json<CrawlState | null>
  pages_version: Generated<number>
  /** null: no re-sync is planned. */
  next_sync_at: OptionalTime
  /** What the origin said of the live version. */
  origin_etag: string | null
  origin_modified: string | null
  /** Of the live version's chunks. */
  content_hash: string | null
  /** The caller's own name for it, unique per agent. */
  external_id: string | null
  /** The answer that this source corrects. */
  message_id: string | null
  /** Until when nobody else goes on with its deletion. */
  deletion_held_until: OptionalTime
  /** The version that is being read, or was last, by whom, and what speaks against it: see reading.ts. */
  reading_version: number | null
  reading_process: string | null
  reading_epoch: number | null
  reading_strikes: Generated<number>
  /** The newest first: see knowledge/training/training-columns.ts. */
  trainings: ColumnType<Training[], unknown, unknown>
  created_at: Time
  updated_at: Time
}

/** What became of one training of a source, or of one look at its origin. */
export type Training = {
  at: string
  /** `removed`: the origin has taken the content away. */
  outcome: 'live' | 'unchanged' | 'failed' | 'removed'
  /** Why it failed or was removed. */
  reason: string | null
  /** Bytes of training text that went live. */
  bytes: number | null
}

/** What a crawl remembers between its slices; `version` is the content_version that it works on. */
export type CrawlState = {
  version: number
  /** Its first pages are in. */
  seeded: boolean
  /** Rows of pages, and the last number given to one. */
  rows: number
  lastNumber: number
  /** No request before this moment (epoch ms). */
  nextAt: number
  /** Only the chain of jobs with this name goes on. */
  chain: string
  /** Pages that failed one after the other although another try might have helped. */
  failures: number
  /** Part of the sitemap could not be read: a page that was not found may still be there. */
  partial: boolean
}

/** What the customer gave; which members are set follows from the source's type. */
export type SourceContent = {
  text?: string
  questions?: string[]
  answer?: string
  filename?: string
  mediaType?: string
  /** Where the uploaded bytes lie, below the files folder. */
  file?: string
  /** A page of the connected workspace, and the title it had when it was read last. */
  pageId?: string
  title?: string
  ticketId?: string
  subject?: string
}

export type EvaluationsTable = {
  id: string
  account_id: AccountId
  agent_id: string
  question: string
  expected_source_id: string | null
  expected_answer: string | null
  set_id: OptionalId
  created_at: Time
  updated_at: Time
}

export type EvaluationSetsTable = {
  id: string
  account_id: AccountId
  agent_id: string
  name: string
  created_at: Time
}

export type EvaluationRunsTable = {
  id: string
  account_id: AccountId
  agent_id: string
  set_id: string | null
  set_name: string | null
  note: string
  figures: Json<unknown>
  results: Json<unknown>
  created_at: Time
}

export type PagesTable = {
  id: string
  account_id: AccountId
  agent_id: string
  source_id: string
  number: number
  url: string
  title: string | null
  status: 'pending' | 'included' | 'excluded' | 'failed'
  hidden: Generated<boolean>
  error: string | null
  size: Generated<number>
  found_in: number
  crawled_in: Generated<number>
  changed_in: Generated<number>
  tries: Generated<number>
  holder: string | null
  held_until: OptionalTime
  etag: string | null
  last_modified: string | null
  content_hash: string | null
  links: Json<number[]>
  fetched_at: OptionalTime
}

export type PagesConnectionsTable = {
  agent_id: string
  account_id: AccountId
  /** Encrypted. */
  access_token: string
  base_url: string | null
  created_at: Time
  updated_at: Time
}

export type ChunksTable = {
  id: string
  account_id: AccountId
  agent_id: string
  source_id: string
  version: number
  ordinal: number
  heading_path: Json<string[]>
  page: number | null
  text: string
  questions: Json<string[] | null>
  /** What its vectors are stored under. */
  vector_key: string
  /** Of a page of a crawl or sitemap: where it stands and what it is called. */
  page_id: string | null
  retired_in: number | null
  url: string | null
  title: string | null
  /** The id of its heading on a page of the web. */
  anchor: Generated<string | null>
}

export type ChunkVectorsTable = {
  source_id: string
  space: string
  vector_key: string
  account_id: AccountId
  agent_id: string
  vector: Uint8Array
}
