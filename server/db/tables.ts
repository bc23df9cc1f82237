import type { ColumnType, Generated } from 'kysely'

/** Proof that the id came from a checked key or an operator's command: queries take it instead of a string. */
export type AccountId = string & { readonly brand: 'AccountId' }

/** A jsonb column: read as a value, written through json(). */
type Json<T> = ColumnType<T, unknown, unknown>
/** A time the database sets unless told otherwise. */
type Time = ColumnType<Date, Date | undefined, Date>
type OptionalTime = ColumnType<Date | null, Date | null | undefined, Date | null>

export type Tables = {
  accounts: AccountsTable
  members: MembersTable
  api_keys: ApiKeysTable
  credit_entries: CreditEntriesTable
  credit_usage: CreditUsageTable
  settings: SettingsTable
  audit_log: AuditLogTable
  agents: AgentsTable
  sources: SourcesTable
  chunks: ChunksTable
  conversations: ConversationsTable
  messages: MessagesTable
  generations: GenerationsTable
}

export type AccountsTable = { id: AccountId; name: string; plan: string; created_at: Time }

export type MembersTable = {
  id: string
  account_id: AccountId
  email: string
  name: string
  created_at: Time
}

export type ApiKeysTable = {
  id: string
  account_id: AccountId
  name: string
  prefix: string
  secret_hash: string
  /** null: everything in the account. */
  scopes: Json<string[] | null>
  expires_at: OptionalTime
  revoked_at: OptionalTime
  last_used_at: OptionalTime
  created_at: Time
}

export type CreditEntriesTable = {
  id: string
  account_id: AccountId
  agent_id: string | null
  generation_id: string | null
  kind: 'usage' | 'grant'
  state: 'reserved' | 'settled' | 'released'
  amount: number
  month: string
  created_at: Time
}

export type CreditUsageTable = { account_id: AccountId; owner_id: string; month: string; used: number }

export type SettingsTable = { name: string; value: Json<unknown>; updated_at: Time }

export type AuditLogTable = {
  id: string
  account_id: AccountId | null
  actor: string
  action: string
  target: string | null
  created_at: Time
}

export type AgentsTable = {
  id: string
  account_id: AccountId
  name: string
  instructions: string
  channel_instructions: Json<Record<string, unknown> | null>
  model: string
  auto_retrain: Generated<boolean>
  temp: number
  visibility: 'public' | 'private'
  allowed_domains: Json<string[] | null>
  suggested_messages: Json<unknown[] | null>
  initial_messages: Json<string[]>
  credit_limit: number | null
  notifications_settings: Json<Record<string, unknown> | null>
  ip_rate_limits: Json<{ limit: number; timeframe: number; message: string }>
  spam_settings: Json<Record<string, unknown> | null>
  blocked_countries: Json<string[] | null>
  voice_settings: Json<Record<string, unknown> | null>
  styles: Json<{ chat: Record<string, unknown>; centerStage: Record<string, unknown> }>
  knowledge_version: Generated<number>
  last_trained_at: OptionalTime
  created_at: Time
}

export type SourcesTable = {
  id: string
  account_id: AccountId
  agent_id: string
  type: 'text' | 'qna' | 'link' | 'file' | 'notionPage' | 'ticket'
  name: string | null
  status: 'untrained' | 'trained' | 'updated' | 'failed'
  error: string | null
  /** Bytes of training text. */
  size: Generated<number>
  metadata: Json<Record<string, unknown> | null>
  content: Json<SourceContent>
  link_type: string | null
  url: string | null
  content_version: Generated<number>
  live_version: number | null
  created_at: Time
  updated_at: Time
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
  vector: Uint8Array | null
  vector_space: string | null
}

export type ConversationStatus = 'ongoing' | 'ended' | 'taken_over' | 'paused'

export type ConversationsTable = {
  id: string
  account_id: AccountId
  agent_id: string
  source: string
  user_id: string | null
  title: string | null
  status: ConversationStatus
  embed_origin: string | null
  parent_conversation_id: string | null
  parent_summary: string | null
  last_seq: Generated<number>
  created_at: Time
  updated_at: Time
}

export type MessagePart =
  | { type: 'text'; text: string }
  | { type: 'tool-call'; toolCallId: string; toolName: string; input?: unknown }
  | { type: 'tool-result'; toolCallId: string; toolName: string; output?: unknown }

export type MessagesTable = {
  id: string
  account_id: AccountId
  agent_id: string
  conversation_id: string
  seq: number
  role: 'user' | 'assistant'
  parts: Json<MessagePart[]>
  metadata: Json<Record<string, unknown> | null>
  feedback: 'positive' | 'negative' | null
  created_at: Time
}

export type GenerationsTable = {
  id: string
  account_id: AccountId
  agent_id: string
  conversation_id: string
  user_message_id: string
  message_id: string
  model: string
  status: 'running' | 'finished' | 'failed' | 'interrupted'
  finish_reason: string | null
  credits: number
  text: Generated<string>
  lease_until: Date
  started_at: Time
  finished_at: OptionalTime
}
