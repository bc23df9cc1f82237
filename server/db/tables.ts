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
  logins: LoginsTable
  login_sessions: LoginSessionsTable
  login_credentials: LoginCredentialsTable
  login_second_factors: LoginSecondFactorsTable
  login_challenges: LoginChallengesTable
  login_secrets: LoginSecretsTable
  login_links: LoginLinksTable
  api_keys: ApiKeysTable
  credit_entries: CreditEntriesTable
  credit_usage: CreditUsageTable
  settings: SettingsTable
  duties: DutiesTable
  audit_log: AuditLogTable
  agent_ids: AgentIdsTable
  agents: AgentsTable
  sources: SourcesTable
  evaluations: EvaluationsTable
  pages: PagesTable
  chunks: ChunksTable
  chunk_vectors: ChunkVectorsTable
  pages_connections: PagesConnectionsTable
  contacts: ContactsTable
  custom_attributes: CustomAttributesTable
  agent_pictures: AgentPicturesTable
  conversations: ConversationsTable
  messages: MessagesTable
  generations: GenerationsTable
  actions: ActionsTable
  procedures: ProceduresTable
  procedure_runs: ProcedureRunsTable
  tool_calls: ToolCallsTable
  leads: LeadsTable
  tickets: TicketsTable
  ticket_statuses: TicketStatusesTable
  teams: TeamsTable
  team_members: TeamMembersTable
  ticket_tags: TicketTagsTable
  tagged_tickets: TaggedTicketsTable
  canned_replies: CannedRepliesTable
  helpdesk_settings: HelpdeskSettingsTable
  ticket_clocks: TicketClocksTable
  ticket_surveys: TicketSurveysTable
  channel_threads: ChannelThreadsTable
  inbound_messages: InboundMessagesTable
  attachments: AttachmentsTable
  ticket_messages: TicketMessagesTable
  deliveries: DeliveriesTable
  messaging_accounts: MessagingAccountsTable
  messaging_pieces: MessagingPiecesTable
  helpdesk_streams: HelpdeskStreamsTable
  helpdesk_events: HelpdeskEventsTable
  requests: RequestsTable
  processes: ProcessesTable
  generation_log: GenerationLogTable
  conversation_topics: ConversationTopicsTable
  conversation_search: ConversationSearchTable
  conversation_counts: ConversationCountsTable
  search_queue: SearchQueueTable
  topics: TopicsTable
  topic_settings: TopicSettingsTable
  topic_candidates: TopicCandidatesTable
  unanswered_groups: UnansweredGroupsTable
  unanswered_questions: UnansweredQuestionsTable
  insight_days: InsightDaysTable
  insights_queue: InsightsQueueTable
  user_erasures: UserErasuresTable
  email_connections: EmailConnectionsTable
  email_messages: EmailMessagesTable
  instruction_versions: InstructionVersionsTable
  identity_secrets: IdentitySecretsTable
  visitor_identities: VisitorIdentitiesTable
}

export type AccountsTable = {
  id: AccountId
  name: string
  plan: string
  created_at: Time
  /** null: as everywhere, see server/channels/replies/end-idle.ts. */
  idle_hours: number | null
}

export type Presence = 'online' | 'away' | 'offline'

export type MembersTable = {
  id: string
  account_id: AccountId
  email: string
  name: string
  created_at: Time
  /** As it was said last; see presenceOf in server/accounts/records/members.ts. */
  presence: Generated<Presence>
  last_seen_at: OptionalTime
  last_assigned_at: OptionalTime
  role: Generated<Role>
  /** null: every agent. */
  agent_ids: Json<string[] | null>
}

export type Role = 'owner' | 'admin' | 'builder' | 'support' | 'viewer'

export type InstructionVersionsTable = {
  id: string
  account_id: AccountId
  agent_id: string
  instructions: string
  channel_instructions: Json<Record<string, unknown> | null>
  model: string
  temp: number
  actor: string | null
  created_at: Time
}

export type LoginsTable = {
  id: string
  member_id: string
  name: string
  email: string
  email_verified: Generated<boolean>
  image: string | null
  two_factor_enabled: Generated<boolean>
  created_at: Time
  updated_at: Time
}

export type LoginSessionsTable = {
  id: string
  login_id: string
  token: string
  ip_address: string | null
  user_agent: string | null
  expires_at: Time
  created_at: Time
  updated_at: Time
}

export type LoginCredentialsTable = {
  id: string
  login_id: string
  /** `credential` for a password. */
  provider_id: string
  subject: string
  password: string | null
  access_token: string | null
  refresh_token: string | null
  id_token: string | null
  access_token_expires_at: OptionalTime
  refresh_token_expires_at: OptionalTime
  scope: string | null
  created_at: Time
  updated_at: Time
}

export type LoginSecondFactorsTable = {
  id: string
  login_id: string
  secret: string
  backup_codes: string
  verified: Generated<boolean | null>
  failed_verification_count: Generated<number | null>
  locked_until: OptionalTime
}

export type LoginChallengesTable = {
  id: string
  identifier: string
  value: string
  expires_at: Time
  created_at: Time
  updated_at: Time
}

export type LoginSecretsTable = { name: string; secret: string; created_at: Time }

export type LoginLinksTable = {
  id: string
  account_id: AccountId
  kind: 'set-up' | 'invitation' | 'reset'
  token_hash: string
  email: string | null
  name: string | null
  role: Role | null
  agent_ids: Json<string[] | null>
  member_id: string | null
  created_by: string
  expires_at: Time
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

export type CreditUsageTable = {
  account_id: AccountId
  owner_id: string
  month: string
  slot: Generated<number>
  used: number
}

export type DutiesTable = { name: string; next_at: Time }

export type SettingsTable = { name: string; value: Json<unknown>; updated_at: Time }

export type AuditLogTable = {
  id: string
  account_id: AccountId | null
  actor: string
  action: string
  target: string | null
  created_at: Time
  detail: Json<Record<string, unknown> | null>
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
  /** The last day whose mails were asked for, as 2027-01-31. */
  notified_day: Generated<string | null>
  ip_rate_limits: Json<{ limit: number; timeframe: number; message: string }>
  spam_settings: Json<Record<string, unknown> | null>
  blocked_countries: Json<string[] | null>
  voice_settings: Json<Record<string, unknown> | null>
  styles: Json<{ chat: Record<string, unknown>; centerStage: Record<string, unknown> }>
  knowledge_version: Generated<number>
  /** The embedding space whose vectors answer. */
  vector_space: string | null
  vectors_held_until: OptionalTime
  /** Moves with every change of actions and procedures; 0: the agent never had any. */
  tools_version: Generated<number>
  /** Solved tickets are sources. */
  ticket_knowledge: Generated<boolean>
  next_ticket_sync_at: OptionalTime
  /** null: conversations are kept for ever. */
  retention_days: number | null
  last_trained_at: OptionalTime
  created_at: Time
  updated_at: Time
}

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
  created_at: Time
  updated_at: Time
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

/** Every agent, and deleted ones until nothing of them is left. */
export type AgentIdsTable = {
  id: string
  account_id: AccountId
}

export type EvaluationsTable = {
  id: string
  account_id: AccountId
  agent_id: string
  question: string
  expected_source_id: string | null
  expected_answer: string | null
  created_at: Time
  updated_at: Time
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

export type ContactsTable = {
  id: string
  account_id: AccountId
  agent_id: string
  external_id: string
  name: string | null
  email: string | null
  phonenumber: string | null
  custom_attributes: Json<Record<string, AttributeValue>>
  created_at: Time
  updated_at: Time
}

export type AttributeType = 'text' | 'number' | 'boolean' | 'date'
export type AttributeValue = string | number | boolean

export type CustomAttributesTable = {
  id: string
  account_id: AccountId
  agent_id: string
  name: string
  type: AttributeType
  label: string
  description: string
  archived: Generated<boolean>
  created_at: Time
  updated_at: Time
}

export type PictureKind = 'icon' | 'profile'

export type AgentPicturesTable = {
  agent_id: string
  kind: PictureKind
  account_id: AccountId
  /** A square PNG. */
  bytes: Uint8Array
  tag: string
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
  /** Where it is held on a channel; null: the API, the playground, the widget. */
  thread_id: string | null
  /** Deleted messages: `last_seq` less these is how many there are. */
  cut_messages: Generated<number>
  /** null: not looked at yet, or none. */
  sentiment: 'positive' | 'neutral' | 'negative' | null
  has_voice: Generated<boolean>
  /** A ticket was opened for it, or a person took it over, some time. */
  escalated: Generated<boolean>
  /** The caller's own name for it, unique per agent. */
  external_id: string | null
  contact_id: string | null
  /** Exists only while its one reply is being made. */
  transient: Generated<boolean>
  /** null: looked at in its present state. */
  analysis_due: OptionalTime
  analysis_held: OptionalTime
  analysis_tries: Generated<number>
  analysed_at: OptionalTime
  sentiment_by: Analyst | null
  topics_by: Analyst | null
  /** ISO 3166-1 alpha-2, where the channel knows it. */
  country: string | null
  /** The customer waits for an answer when the first is greater; see the migration. */
  asked_seq: Generated<number>
  answered_seq: Generated<number>
  answer_tries: Generated<number>
  answer_starts: Generated<number>
  continuations: Generated<number>
  answer_stopped: Generated<boolean>
  answer_swept_at: OptionalTime
  created_at: Time
  updated_at: Time
}

/** Who looked at a conversation: a chat model, or lists of words. */
export type Analyst = 'model' | 'heuristic'

export type MessagePart =
  | { type: 'text'; text: string }
  | ({ type: 'tool-call'; toolCallId: string; toolName: string; input?: unknown } & RunHere)
  | ({ type: 'tool-result'; toolCallId: string; toolName: string; output?: unknown } & RunHere)

/** The service ran the call itself, or closed it: no application is or was asked for its result. */
type RunHere = { providerExecuted?: true }

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
  /** The number of that message in the conversation. */
  asked_seq: Generated<number>
  message_id: string
  model: string
  status: 'running' | 'finished' | 'failed' | 'interrupted'
  finish_reason: string | null
  credits: number
  kind: 'reply' | 'continuation' | 'retry'
  first_event: Generated<number>
  usage_credits: Generated<number>
  message_state: Generated<'none' | 'stored' | 'cut'>
  parts_from: Generated<number>
  parts_count: Generated<number>
  cut_from: number | null
  cut_to: number | null
  stop_reason: StopReason | null
  /** The process that may write to it while it runs, with the epoch that it had then. */
  owner: string | null
  epoch: Generated<number>
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
  /** The visitor who left it in the form of the chat on websites; null: an action collected it. */
  user_id: string | null
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
  priority: Generated<Priority>
  knowledge_excluded: Generated<boolean>
  created_at: Time
  updated_at: Time
  last_message_at: OptionalTime
  /** null: the default of the category. */
  status_id: Generated<string | null>
  team_id: Generated<string | null>
  handed_back: Generated<boolean>
}

export type TicketStatusesTable = {
  id: string
  account_id: AccountId
  agent_id: string
  category: StatusCategory
  external_label: string
  internal_label: string
  color: string
  is_default: boolean
  position: number
  created_at: Time
}

export type TeamsTable = {
  id: string
  account_id: AccountId
  agent_id: string
  name: string
  is_default: Generated<boolean>
  created_at: Time
}

export type TeamMembersTable = { team_id: string; member_id: string; account_id: AccountId }

export type TicketTagsTable = {
  id: string
  account_id: AccountId
  agent_id: string
  name: string
  color: string
  created_at: Time
}

export type TaggedTicketsTable = { ticket_id: string; tag_id: string; account_id: AccountId }

export type CannedRepliesTable = {
  id: string
  account_id: AccountId
  agent_id: string
  name: string
  content: string
  created_at: Time
  updated_at: Time
}

export type ClockKind = 'first_response' | 'next_response' | 'resolution'
export type Priority = 'none' | 'low' | 'normal' | 'high' | 'urgent'
/** Minutes of business hours. */
export type ClockTargets = Partial<Record<Priority, Partial<Record<ClockKind, number>>>>
export type Weekday = 'monday' | 'tuesday' | 'wednesday' | 'thursday' | 'friday' | 'saturday' | 'sunday'

/** Times are wall clock `HH:MM` of the zone, up to 24:00; holidays are `YYYY-MM-DD` there. */
export type BusinessHours = {
  timeZone: string
  days: Partial<Record<Weekday, { from: string; to: string }[]>>
  holidays: string[]
}

export type HelpdeskSettingsTable = {
  agent_id: string
  account_id: AccountId
  targets: Json<ClockTargets>
  business_hours: Json<BusinessHours | null>
  survey_enabled: Generated<boolean>
  updated_at: Time
}

export type TicketClocksTable = {
  ticket_id: string
  kind: ClockKind
  account_id: AccountId
  agent_id: string
  target_minutes: number
  started_at: Time
  due_at: OptionalTime
  left_ms: number | null
  met_at: OptionalTime
  breached_at: OptionalTime
}

export type TicketSurveysTable = {
  id: string
  account_id: AccountId
  agent_id: string
  ticket_id: string
  token_hash: string
  rating: number | null
  comment: string | null
  created_at: Time
  answered_at: OptionalTime
}

export type RequestsTable = {
  account_id: AccountId
  key: string
  fingerprint: string
  status: number | null
  answer: string | null
  generation_id: string | null
  delivery_id: string | null
  created_at: Time
}

export type ProcessesTable = {
  id: string
  epoch: Generated<number>
  beat: Generated<number>
  alive: Generated<boolean>
  beat_at: Time
}

export type GenerationLogTable = {
  generation_id: string
  account_id: AccountId
  position: number
  events: string
  ending: string | null
}

export type ConversationTopicsTable = {
  account_id: AccountId
  agent_id: string
  conversation_id: string
  /** That of the topic. */
  name: string
  topic_id: string | null
}

/** Made from the conversation by the indexer; `facets` and `words` are tsvectors. */
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

/** A total is the sum of `n` over a key; rows of an agent have `user_id` '' and a day, rows of a user no day. */
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

/** The names that an end user is found by; every list may be empty. */
export type PersonNames = {
  /** Of conversations, and external ids of contacts. */
  userIds: string[]
  contactIds: string[]
  /** In small letters. */
  emails: string[]
  /** E.164 where they could be read. */
  phones: string[]
}

export type UserErasuresTable = {
  id: string
  account_id: AccountId
  status: 'running' | 'finished'
  person: Json<PersonNames | null>
  conversations: Generated<number>
  messages: Generated<number>
  leads: Generated<number>
  tickets: Generated<number>
  contacts: Generated<number>
  created_at: Time
  touched_at: Time
  finished_at: OptionalTime
}

export type TopicsTable = {
  id: string
  account_id: AccountId
  agent_id: string
  name: string
  key: string
  description: string
  /** Names of topics that were merged into it. */
  aliases: Json<string[]>
  origin: 'manual' | Analyst
  created_at: Time
  updated_at: Time
}

export type TopicSettingsTable = {
  agent_id: string
  account_id: AccountId
  frozen: Generated<boolean>
  /** Keys of deleted topics. */
  declined: Json<string[]>
}

export type TopicCandidatesTable = {
  conversation_id: string
  key: string
  account_id: AccountId
  agent_id: string
  label: string
  origin: Analyst
  created_at: Time
}

export type UnansweredGroupsTable = {
  id: string
  account_id: AccountId
  agent_id: string
  question: string
  key: string
  status: Generated<'open' | 'answered' | 'dismissed'>
  source_id: string | null
  answered_at: OptionalTime
  count: Generated<number>
  last_asked_at: Date
}

export type UnansweredQuestionsTable = {
  message_id: string
  account_id: AccountId
  agent_id: string
  conversation_id: string
  group_id: string
  question: string
  suggested_answer: string | null
  asked_at: Date
}

type Counts = Json<Record<string, number>>

/** The figures of one UTC day, made from the rows they count whenever the day is stale. */
export type InsightDaysTable = {
  agent_id: string
  /** YYYY-MM-DD where it is written; read it as text. */
  day: string
  account_id: AccountId
  is_stale: boolean
  computed_at: OptionalTime
  took_ms: Generated<number>
  conversations: Generated<number>
  positive: Generated<number>
  neutral: Generated<number>
  negative: Generated<number>
  settled: Generated<number>
  escalated: Generated<number>
  deflected: Generated<number>
  topics: Counts
  sources: Counts
  countries: Counts
  user_messages: Generated<number>
  assistant_messages: Generated<number>
  person_messages: Generated<number>
  rated_positive: Generated<number>
  rated_negative: Generated<number>
  unanswered: Generated<number>
  credits: Generated<number>
}

export type InsightsQueueTable = {
  id: Generated<number>
  agent_id: string
  day: string | null
  conversation_id: string | null
  group_id: string | null
}

export type ChannelName = 'messaging' | 'email'

export type ChannelThreadsTable = {
  id: string
  account_id: AccountId
  agent_id: string
  channel: ChannelName
  connection: string
  peer: string
  contact_id: string | null
  data: Json<Record<string, unknown>>
  last_inbound_at: OptionalTime
  opted_out_at: OptionalTime
  created_at: Time
}

export type AttachmentNote = { id: string; name: string; type: string; size: number }

/** What a person wrote on a channel, as text; what came with it is kept already. */
export type InboundContent = {
  text: string
  attachments: AttachmentNote[]
  /** Never answered by the agent: an automatic reply, a note of the channel itself. */
  silent?: boolean
  /** Files that are still being fetched from the channel. */
  awaited?: AwaitedFile[]
}

/** `id` is the channel's. */
export type AwaitedFile = { id: string; name: string; type: string }

export type InboundMessagesTable = {
  id: string
  account_id: AccountId
  agent_id: string
  thread_id: string
  provider_message_id: string
  content: Json<InboundContent>
  sent_at: Time
  message_id: string | null
  taken_in_at: OptionalTime
  created_at: Time
}

export type AttachmentsTable = {
  id: string
  account_id: AccountId
  agent_id: string
  conversation_id: string | null
  ticket_id: string | null
  name: string
  media_type: string
  size: number
  path: string
  /** Whoever has sent it from outside, as a hash or a thread. */
  sender: string | null
  created_at: Time
}

export type TicketSender = {
  type: 'customer' | 'agent' | 'system'
  id: string | null
  name: string | null
  email: string | null
}

export type TicketMessagesTable = {
  id: string
  account_id: AccountId
  agent_id: string
  ticket_id: string
  type: 'reply' | 'note' | 'event'
  sender: Json<TicketSender | null>
  /** HTML, made and cleaned here. */
  content: string | null
  content_text: string | null
  attachments: Json<AttachmentNote[]>
  metadata: Json<Record<string, unknown> | null>
  /** The message of the conversation that says the same. */
  message_id: string | null
  created_at: Time
}

/** What is sent: Markdown as it was written, with HTML where a person wrote it; or an approved template. */
export type DeliveryContent = {
  text: string
  /** A model has written it: it may lead to these hosts alone. */
  linkHosts?: string[]
  html?: string
  attachments?: AttachmentNote[]
  template?: DeliveredTemplate
  /** Goes also to somebody who wants nothing more: the confirmation of that. */
  evenOptedOut?: boolean
}

/** `isSettled`: the conversation knows of it, as far as it should. */
export type DeliveredTemplate = { name: string; language: string; isSettled: boolean }

export type DeliveryStatus = 'queued' | 'sending' | 'sent' | 'delivered' | 'read' | 'failed'

export type DeliveriesTable = {
  id: string
  account_id: AccountId
  agent_id: string
  channel: ChannelName
  lane: string
  ordinal: number
  thread_id: string | null
  conversation_id: string | null
  ticket_id: string | null
  message_id: string | null
  ticket_message_id: string | null
  content: Json<DeliveryContent>
  status: Generated<DeliveryStatus>
  attempts: Generated<number>
  next_at: Time
  lease_until: OptionalTime
  maybe_sent: Generated<boolean>
  provider_message_id: string | null
  error: string | null
  created_at: Time
  updated_at: Time
}

export type HelpdeskStreamsTable = { agent_id: string; account_id: AccountId; last_number: Generated<number> }

export type HelpdeskEventsTable = {
  agent_id: string
  number: number
  account_id: AccountId
  type: string
  data: Json<Record<string, unknown>>
  created_at: Time
}

export type MessagingNumber = { id: string; phone: string; verifiedName: string }

export type MessagingAccountsTable = {
  agent_id: string
  business_account_id: string
  account_id: AccountId
  access_token: string
  app_secret: string
  verify_token: string
  base_url: string | null
  position: number
  numbers: Json<MessagingNumber[] | null>
  numbers_read_at: OptionalTime
  updated_at: Time
}

export type MessagingPiecesTable = {
  delivery_id: string
  ordinal: number
  account_id: AccountId
  agent_id: string
  provider_message_id: string
  status: 'failed' | 'sent' | 'delivered' | 'read'
}

export type MailSecurity = 'tls' | 'starttls' | 'none'
export type MailServer = { host: string; port: number; security: MailSecurity; username: string | null }

/** What a site signs the identity of its visitors with; encrypted. */
export type IdentitySecretsTable = {
  agent_id: string
  account_id: AccountId
  secret: string
  created_at: Time
}

/** A visitor whom the site has signed in, by one token. */
export type VisitorIdentitiesTable = {
  agent_id: string
  account_id: AccountId
  token_hash: string
  visitor_id: string
  contact_id: string
  valid_until: Time
  token_until: Time
  created_at: Time
}

export type EmailConnectionsTable = {
  agent_id: string
  account_id: AccountId
  address: string
  from_name: string | null
  mode: 'agent' | 'tickets'
  plus_addressing: boolean
  smtp: Json<MailServer>
  smtp_password: string | null
  imap: Json<(MailServer & { mailbox: string }) | null>
  imap_password: string | null
  inbound_secret: string | null
  mark_key: string
  smtp_error: string | null
  smtp_checked_at: OptionalTime
  imap_error: string | null
  imap_checked_at: OptionalTime
  reads_from: Time
  /** 32 bits: they come as text from one of the drivers. */
  uid_validity: string | number | null
  last_uid: string | number | null
  next_read_at: Time
  read_failures: Generated<number>
  lease_id: string | null
  lease_until: OptionalTime
  updated_at: Time
}

export type EmailMessagesTable = {
  agent_id: string
  message_id: string
  body_hash: string
  account_id: AccountId
  thread_id: string | null
  created_at: Time
}
