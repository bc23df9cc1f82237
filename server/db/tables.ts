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
  actions: ActionsTable
  procedures: ProceduresTable
  procedure_runs: ProcedureRunsTable
  tool_calls: ToolCallsTable
  leads: LeadsTable
  tickets: TicketsTable
  idempotency_keys: IdempotencyKeysTable
  stream_frames: StreamFramesTable
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
  /** Moves with every change of actions and procedures; 0: the agent never had any. */
  tools_version: Generated<number>
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
  generation_count: Generated<number>
  taken_over_by: string | null
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
  /** The parts so far, written at least every second while it runs; empty once the message holds them. */
  parts: Json<MessagePart[]>
  kind: 'reply' | 'continuation' | 'retry'
  first_event: Generated<number>
  usage_credits: Generated<number>
  message_state: Generated<'none' | 'stored' | 'cut'>
  parts_from: Generated<number>
  parts_count: Generated<number>
  cut_from: number | null
  cut_to: number | null
  stop_reason: StopReason | null
  lease_until: Date
  started_at: Time
  finished_at: OptionalTime
}

/** Why somebody ended a running generation: `stop` keeps what was said, `takeover` drops it. */
export type StopReason = 'stop' | 'takeover'

export type ActionType = 'client' | 'http' | 'collect-leads' | 'escalate' | 'web-search'

/** The request of an http action; `headers` holds encrypted values. */
export type HttpRequest = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  url: string
  headers: Record<string, string>
  body: string | null
  timeoutMs: number
}

export type ActionsTable = {
  id: string
  account_id: AccountId
  agent_id: string
  name: string
  type: ActionType
  description: string
  enabled: boolean
  channels: Json<string[] | null>
  inputs: Json<Record<string, unknown>>
  http: Json<HttpRequest | null>
  created_at: Time
  updated_at: Time
}

export type ProcedureStep = { instruction: string; action: string | null }

export type ProceduresTable = {
  id: string
  account_id: AccountId
  agent_id: string
  name: string
  trigger: string
  steps: Json<ProcedureStep[]>
  enabled: Generated<boolean>
  created_at: Time
  updated_at: Time
}

export type ProcedureRunsTable = {
  id: string
  account_id: AccountId
  agent_id: string
  conversation_id: string
  procedure_id: string | null
  name: string
  status: 'running' | 'completed' | 'failed' | 'abandoned'
  started_at: Time
  ended_at: OptionalTime
}

export type ToolCallStatus = 'pending' | 'success' | 'error' | 'ignored'

export type ToolCallsTable = {
  id: string
  account_id: AccountId
  agent_id: string
  conversation_id: string
  message_id: string
  generation_id: string
  name: string
  type: ActionType
  input: Json<unknown>
  output: Json<unknown>
  status: ToolCallStatus
  created_at: Time
  resolved_at: OptionalTime
  expires_at: OptionalTime
}

export type LeadsTable = {
  id: string
  account_id: AccountId
  agent_id: string
  conversation_id: string | null
  name: string | null
  email: string | null
  phone: string | null
  created_at: Time
}

export type StatusCategory = 'new' | 'on_you' | 'on_customer' | 'on_hold' | 'closed' | 'cancelled'

export type Customer = {
  id: string | null
  name: string | null
  email: string | null
  phoneNumber: string | null
}

export type TicketsTable = {
  id: string
  account_id: AccountId
  agent_id: string
  number: number
  subject: string | null
  description: string | null
  status_category: StatusCategory
  assignee_id: string | null
  customer: Json<Customer>
  metadata: Json<Record<string, unknown>>
  channel: string
  conversation_id: string | null
  priority: Generated<'none' | 'low' | 'normal' | 'high' | 'urgent'>
  created_at: Time
  updated_at: Time
  last_message_at: OptionalTime
}

export type IdempotencyKeysTable = {
  account_id: AccountId
  key: string
  fingerprint: string
  status: number | null
  answer: Json<unknown>
  generation_id: string | null
  locked_until: Date
  created_at: Time
}

export type StreamFramesTable = {
  generation_id: string
  position: number
  frames: Json<string[]>
  created_at: Time
}
