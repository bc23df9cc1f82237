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
  /** The live version whose words are all stored. While it is another, they are still being written. */
  words_version: number | null
  /** The words of the questions that it alone answers; null: none. */
  fixed_keys: ColumnType<string[] | null, string[] | null | undefined, string[] | null>
  /** The number of its live chunks, and their languages, most frequent first. */
  chunk_count: Generated<number>
  languages: ColumnType<string[], string[] | undefined, string[]>
  crawl: Json<CrawlState | null>
  pages_version: Generated<number>
  /** null: no re-sync is planned. */
  next_sync_at: OptionalTime
  /** Metadata of the origin's response for the live version. */
  origin_etag: string | null
  origin_modified: string | null
  /** A hash of the live version's chunks. */
  content_hash: string | null
  /** What is not in the live version's text. */
  gaps: ColumnType<Gap[], unknown, unknown>
  /** The caller's own name for it, unique per agent. */
  external_id: string | null
  /** The answer that this source corrects. */
  message_id: string | null
  /** Whether live answers leave it out, because only a draft or an earlier version of the agent has it. */
  left_out: Generated<boolean>
  /** The deletion is leased to one process until then. */
  deletion_held_until: OptionalTime
  /** The version that is or was last being read, by which process, and how often reading it failed: see reading.ts. */
  reading_version: number | null
  reading_process: string | null
  reading_epoch: number | null
  reading_strikes: Generated<number>
  /** Newest first: see knowledge/training/training-columns.ts. */
  trainings: ColumnType<Training[], unknown, unknown>
  created_at: Time
  updated_at: Time
}

/** The result of one training of a source, or of one check of its origin. */
/**
 * Something of a document that is not in its text: what it is, where it is, and how many there are. `parts` are parts of a
 * web page that are left out on purpose, with their words.
 */
export type Gap = {
  kind: 'pages' | 'letters' | 'charts' | 'objects' | 'formulas' | 'cells' | 'words' | 'layout' | 'parts'
  place: string | null
  count: number
}

export type Training = {
  at: string
  /** `removed` means that the origin no longer has the content. */
  outcome: 'live' | 'unchanged' | 'failed' | 'removed'
  /** Why it failed or was removed. */
  reason: string | null
  /** The bytes of training text that went live. */
  bytes: number | null
}

/**
 * What most pages of a site repeat, learned from some of its `pages`: each block with the number of the page that keeps it.
 * `since` is the version of the crawl that last found something else, and `learnedIn` that of the last comparison.
 */
export type SiteBlocks = {
  pages: string[]
  keepers: Record<string, number>
  since: number
  learnedIn: number
}

/** The state that a crawl keeps between its slices; `version` is the content_version that it works on. */
export type CrawlState = {
  version: number
  /** Whether its first pages have been added. */
  seeded: boolean
  /** The number of rows in pages, and the last number assigned to one. */
  rows: number
  lastNumber: number
  /** No request is sent before this time (epoch ms). */
  nextAt: number
  /** Only the chain of jobs with this id may continue the crawl. */
  chain: string
  /** The number of consecutive pages that failed with an error that a retry might have resolved. */
  failures: number
  /** Whether part of the sitemap could not be read, so that a page that was not found may still exist. */
  partial: boolean
  /** The number of chunks that went live since those of the source were last counted. */
  uncounted?: number
  blocks?: SiteBlocks
}

/** The content as the customer provided it; which members are set depends on the type of the source. */
export type SourceContent = {
  text?: string
  questions?: string[]
  answer?: string
  filename?: string
  mediaType?: string
  /** The charset that the owner chose for a text file. */
  charset?: string
  /** Whether nothing of a web page is left out. */
  wholePage?: boolean
  /** The path of the uploaded file, relative to the files folder. */
  file?: string
  /** Its size; absent in sources of former versions. */
  bytes?: number
  /** A page of the connected workspace, and its title when it was last read. */
  pageId?: string
  title?: string
  /** Whether a link may be read without encryption if its server offers no other connection. */
  allowHttp?: boolean
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
  gaps: ColumnType<Gap[], unknown, unknown>
  /** The page on which it was found first. */
  found_on: number | null
  /** A sample of its text: see knowledge/crawl/traps. */
  sketch: Json<{ plain: number[]; masked: number[] } | null>
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
  /** The key under which its vectors are stored. */
  vector_key: string
  /** It is used from `version` until this version. */
  retired_in: number | null
  /** For a page of a crawl or sitemap: its URL and title. */
  page_id: string | null
  url: string | null
  title: string | null
  /** The id of its heading on a web page. */
  anchor: Generated<string | null>
}

/** What the owner has chosen about the chunks of a source with this key. */
export type PassageChoicesTable = {
  id: string
  account_id: AccountId
  agent_id: string
  source_id: string
  vector_key: string
  /** Pinned for questions with the words of this one; null: excluded. */
  question: string | null
  created_at: Time
}

/** What a chunk is found by. */
export type ChunkWordsTable = {
  agent_id: string
  account_id: AccountId
  chunk_id: string
  source_id: string
  page_id: string | null
  version: number
  retired_in: number | null
  vector_key: string
  language: string
  /** Hashes of its terms. */
  terms: ColumnType<string[], unknown, unknown>
}

export type ChunkVectorsTable = {
  source_id: string
  space: string
  vector_key: string
  account_id: AccountId
  agent_id: string
  vector: Uint8Array
}

export type VectorSpacesTable = {
  id: Generated<number>
  name: string
  dimensions: number
  near_from: number | null
  sampled: Generated<number>
  stopped: Generated<boolean>
  unused_since: OptionalTime
  created_at: Generated<Date>
}
