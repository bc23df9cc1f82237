import type { Generated } from 'kysely'
import type { AccountId } from './columns.ts'

/** Derived from the conversation by the indexer; `facets` and `words` are tsvectors. */
export type ConversationSearchTable = {
  conversation_id: string
  account_id: AccountId
  agent_id: string
  created_at: Date
  updated_at: Date
  facets: string
  words: string
  indexed_seq: number
  indexed_cut: number
}

/**
 * A total is the sum of `n` over a key. The rows of an agent have `user_id` '' and a day; the rows of a user have no
 * day.
 */
export type ConversationCountsTable = {
  id: Generated<number>
  account_id: AccountId
  agent_id: string
  source: string
  user_id: string
  day: string | null
  n: number
  is_folded: Generated<boolean>
}

export type SearchQueueTable = { id: Generated<number>; conversation_id: string }
