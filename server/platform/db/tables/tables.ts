import type {
  AccountsTable,
  ApiKeysTable,
  AuditLogTable,
  CreditEntriesTable,
  CreditUsageTable,
  EmbeddingUsageTable,
  MembersTable,
  ModelSideUsageTable,
  ModelUsageTable,
} from './accounts.ts'
import type { ActionsTable, LeadsTable, ProcedureRunsTable, ProceduresTable } from './actions.ts'
import type {
  AgentDraftsTable,
  AgentIdsTable,
  AgentPicturesTable,
  AgentsTable,
  AgentVersionsTable,
  InstructionVersionsTable,
} from './agents.ts'
import type { AttachmentsTable } from './attachments.ts'
import type {
  ChannelThreadsTable,
  EmailConnectionsTable,
  EmailMessagesTable,
  InboundMessagesTable,
  MailOriginalsTable,
  MessagingAccountsTable,
  MessagingPiecesTable,
  UnreadableEventsTable,
} from './channels.ts'
import type {
  ContactIdentitiesTable,
  ContactJoinsTable,
  ContactsTable,
  CustomAttributesTable,
} from './contacts.ts'
import type {
  AnswerCasesTable,
  AnswerOriginsTable,
  AnswerResultsTable,
  AnswerReviewsTable,
  AnswerRunsTable,
  AnswerSchedulesTable,
  ConversationsTable,
  GenerationLogTable,
  GenerationsTable,
  MessagesTable,
  PlaygroundRunsTable,
  ToolCallsTable,
} from './conversations.ts'
import type { DeliveriesTable } from './deliveries.ts'
import type {
  BlockedSendersTable,
  CannedRepliesTable,
  HeldRepliesTable,
  HelpdeskEventsTable,
  HelpdeskSettingsTable,
  HelpdeskStreamsTable,
  InboxViewsTable,
  SeenTicketsTable,
  TaggedTicketsTable,
  TeamMembersTable,
  TeamsTable,
  TicketClocksTable,
  TicketMessagesTable,
  TicketStatusesTable,
  TicketSurveysTable,
  TicketsTable,
  TicketTagsTable,
} from './helpdesk.ts'
import type {
  ConversationTopicsTable,
  InsightDaysTable,
  InsightsQueueTable,
  TopicCandidatesTable,
  TopicSettingsTable,
  TopicsTable,
  UnansweredGroupsTable,
  UnansweredQuestionsTable,
} from './insights.ts'
import type {
  ChunksTable,
  ChunkVectorsTable,
  ChunkWordsTable,
  EvaluationRunsTable,
  EvaluationSetsTable,
  EvaluationsTable,
  PagesConnectionsTable,
  PagesTable,
  PassageChoicesTable,
  SourcesTable,
  VectorSpacesTable,
} from './knowledge.ts'
import type { UserErasuresTable } from './privacy.ts'
import type { ConversationCountsTable, ConversationSearchTable, SearchQueueTable } from './search.ts'
import type { DutiesTable, JobsTable, ProcessesTable, RequestsTable, SettingsTable } from './service.ts'
import type {
  LoginAttemptsTable,
  LoginChallengesTable,
  LoginCredentialsTable,
  LoginLinksTable,
  LoginSecondFactorsTable,
  LoginSecretsTable,
  LoginSessionsTable,
  LoginsTable,
} from './sign-in.ts'
import type { IdentitySecretsTable, VisitorIdentitiesTable } from './widget.ts'

export type Tables = {
  accounts: AccountsTable
  members: MembersTable
  logins: LoginsTable
  login_sessions: LoginSessionsTable
  login_credentials: LoginCredentialsTable
  login_second_factors: LoginSecondFactorsTable
  login_challenges: LoginChallengesTable
  login_attempts: LoginAttemptsTable
  login_secrets: LoginSecretsTable
  login_links: LoginLinksTable
  api_keys: ApiKeysTable
  credit_entries: CreditEntriesTable
  credit_usage: CreditUsageTable
  embedding_usage: EmbeddingUsageTable
  model_usage: ModelUsageTable
  model_side_usage: ModelSideUsageTable
  settings: SettingsTable
  duties: DutiesTable
  jobs: JobsTable
  audit_log: AuditLogTable
  agent_ids: AgentIdsTable
  agents: AgentsTable
  sources: SourcesTable
  evaluation_sets: EvaluationSetsTable
  passage_choices: PassageChoicesTable
  evaluations: EvaluationsTable
  evaluation_runs: EvaluationRunsTable
  pages: PagesTable
  chunks: ChunksTable
  chunk_words: ChunkWordsTable
  chunk_vectors: ChunkVectorsTable
  vector_spaces: VectorSpacesTable
  pages_connections: PagesConnectionsTable
  contacts: ContactsTable
  contact_identities: ContactIdentitiesTable
  contact_joins: ContactJoinsTable
  custom_attributes: CustomAttributesTable
  agent_pictures: AgentPicturesTable
  conversations: ConversationsTable
  messages: MessagesTable
  generations: GenerationsTable
  actions: ActionsTable
  procedures: ProceduresTable
  procedure_runs: ProcedureRunsTable
  playground_runs: PlaygroundRunsTable
  agent_drafts: AgentDraftsTable
  agent_versions: AgentVersionsTable
  answer_cases: AnswerCasesTable
  answer_origins: AnswerOriginsTable
  answer_runs: AnswerRunsTable
  answer_results: AnswerResultsTable
  answer_reviews: AnswerReviewsTable
  answer_schedules: AnswerSchedulesTable
  tool_calls: ToolCallsTable
  leads: LeadsTable
  tickets: TicketsTable
  ticket_statuses: TicketStatusesTable
  teams: TeamsTable
  team_members: TeamMembersTable
  ticket_tags: TicketTagsTable
  tagged_tickets: TaggedTicketsTable
  seen_tickets: SeenTicketsTable
  canned_replies: CannedRepliesTable
  inbox_views: InboxViewsTable
  helpdesk_settings: HelpdeskSettingsTable
  held_replies: HeldRepliesTable
  blocked_senders: BlockedSendersTable
  ticket_clocks: TicketClocksTable
  ticket_surveys: TicketSurveysTable
  channel_threads: ChannelThreadsTable
  inbound_messages: InboundMessagesTable
  attachments: AttachmentsTable
  ticket_messages: TicketMessagesTable
  deliveries: DeliveriesTable
  messaging_accounts: MessagingAccountsTable
  unreadable_events: UnreadableEventsTable
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
  mail_originals: MailOriginalsTable
  instruction_versions: InstructionVersionsTable
  identity_secrets: IdentitySecretsTable
  visitor_identities: VisitorIdentitiesTable
}
