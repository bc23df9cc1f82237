import type { Tables } from '../../platform/db/tables/tables.ts'

export type BackupTable = {
  name: keyof Tables
  /** The primary key. */
  key: string[]
  /** The number of rows held in memory at once, which is small where one row may take a megabyte. */
  page: number
  /** Whether rows contain text that only the key of their installation decrypts. */
  encrypted?: true
}

/** Every table of the application, referenced tables first. */
export const backupTables: BackupTable[] = [
  { name: 'accounts', key: ['id'], page: 200 },
  { name: 'members', key: ['id'], page: 200 },
  { name: 'logins', key: ['id'], page: 200 },
  { name: 'login_credentials', key: ['id'], page: 200 },
  { name: 'login_second_factors', key: ['id'], page: 200 },
  { name: 'login_secrets', key: ['name'], page: 200, encrypted: true },
  { name: 'api_keys', key: ['id'], page: 200 },
  { name: 'credit_entries', key: ['id'], page: 200 },
  { name: 'credit_usage', key: ['owner_id', 'month', 'slot'], page: 200 },
  { name: 'model_usage', key: ['account_id', 'day', 'agent_id', 'model'], page: 200 },
  { name: 'model_side_usage', key: ['account_id', 'day', 'agent_id', 'model', 'purpose'], page: 200 },
  { name: 'embedding_usage', key: ['account_id', 'day', 'agent_id', 'model', 'kind'], page: 200 },
  { name: 'settings', key: ['name'], page: 200 },
  { name: 'audit_log', key: ['id'], page: 200 },
  { name: 'agent_ids', key: ['id'], page: 200 },
  { name: 'agents', key: ['id'], page: 50 },
  { name: 'instruction_versions', key: ['id'], page: 20 },
  { name: 'topics', key: ['id'], page: 200 },
  { name: 'topic_settings', key: ['agent_id'], page: 20 },
  { name: 'sources', key: ['id'], page: 4 },
  { name: 'evaluation_sets', key: ['id'], page: 200 },
  { name: 'evaluations', key: ['id'], page: 50 },
  { name: 'evaluation_runs', key: ['id'], page: 4 },
  { name: 'pages', key: ['id'], page: 200 },
  { name: 'chunks', key: ['id'], page: 200 },
  { name: 'passage_choices', key: ['id'], page: 200 },
  { name: 'chunk_vectors', key: ['source_id', 'space', 'vector_key'], page: 200 },
  { name: 'pages_connections', key: ['agent_id'], page: 200, encrypted: true },
  { name: 'contacts', key: ['id'], page: 200 },
  { name: 'contact_identities', key: ['id'], page: 200 },
  { name: 'contact_joins', key: ['id'], page: 100 },
  { name: 'custom_attributes', key: ['id'], page: 200 },
  { name: 'agent_pictures', key: ['agent_id', 'kind'], page: 20 },
  { name: 'channel_threads', key: ['id'], page: 200 },
  { name: 'conversations', key: ['id'], page: 200 },
  { name: 'conversation_topics', key: ['conversation_id', 'name'], page: 200 },
  { name: 'topic_candidates', key: ['conversation_id', 'key'], page: 200 },
  { name: 'messages', key: ['id'], page: 50 },
  { name: 'unanswered_groups', key: ['id'], page: 200 },
  { name: 'unanswered_questions', key: ['message_id'], page: 200 },
  { name: 'generations', key: ['id'], page: 50 },
  { name: 'generation_log', key: ['generation_id', 'position'], page: 20 },
  { name: 'actions', key: ['id'], page: 50, encrypted: true },
  { name: 'procedures', key: ['id'], page: 50 },
  { name: 'procedure_runs', key: ['id'], page: 200 },
  { name: 'tool_calls', key: ['id'], page: 50 },
  { name: 'playground_runs', key: ['message_id'], page: 10 },
  { name: 'agent_drafts', key: ['agent_id'], page: 20 },
  { name: 'agent_versions', key: ['id'], page: 20 },
  { name: 'answer_cases', key: ['id'], page: 50 },
  { name: 'answer_runs', key: ['id'], page: 4 },
  { name: 'answer_origins', key: ['run_id', 'place'], page: 500 },
  { name: 'answer_results', key: ['run_id', 'place', 'repetition'], page: 20 },
  { name: 'answer_reviews', key: ['run_id', 'place', 'repetition', 'judgement'], page: 200 },
  { name: 'answer_schedules', key: ['agent_id'], page: 200 },
  { name: 'leads', key: ['id'], page: 200 },
  { name: 'ticket_statuses', key: ['id'], page: 200 },
  { name: 'teams', key: ['id'], page: 200 },
  { name: 'team_members', key: ['team_id', 'member_id'], page: 200 },
  { name: 'tickets', key: ['id'], page: 100 },
  { name: 'ticket_tags', key: ['id'], page: 200 },
  { name: 'tagged_tickets', key: ['ticket_id', 'tag_id'], page: 200 },
  { name: 'seen_tickets', key: ['ticket_id', 'member_id'], page: 200 },
  { name: 'canned_replies', key: ['id'], page: 50 },
  { name: 'inbox_views', key: ['id'], page: 200 },
  { name: 'helpdesk_settings', key: ['agent_id'], page: 50 },
  { name: 'ticket_clocks', key: ['ticket_id', 'kind'], page: 200 },
  { name: 'ticket_surveys', key: ['id'], page: 200 },
  { name: 'inbound_messages', key: ['id'], page: 50 },
  { name: 'mail_originals', key: ['inbound_message_id'], page: 10 },
  { name: 'attachments', key: ['id'], page: 200 },
  { name: 'ticket_messages', key: ['id'], page: 50 },
  { name: 'held_replies', key: ['id'], page: 50 },
  { name: 'blocked_senders', key: ['id'], page: 200 },
  { name: 'deliveries', key: ['id'], page: 50 },
  { name: 'messaging_accounts', key: ['agent_id', 'business_account_id'], page: 200, encrypted: true },
  { name: 'messaging_pieces', key: ['delivery_id', 'ordinal'], page: 200 },
  { name: 'unreadable_events', key: ['id'], page: 200 },
  { name: 'email_connections', key: ['agent_id'], page: 50, encrypted: true },
  { name: 'identity_secrets', key: ['agent_id'], page: 200, encrypted: true },
  { name: 'email_messages', key: ['agent_id', 'message_id', 'body_hash'], page: 200 },
  { name: 'helpdesk_streams', key: ['agent_id'], page: 200 },
  { name: 'requests', key: ['account_id', 'key'], page: 20 },
  { name: 'user_erasures', key: ['id'], page: 200 },
]

/** These belong to an installation and not to its data, such as the check of the secret key and the maintenance switch. */
export const settingsLeftOut = [
  'secret-check',
  'secret-rotation',
  'maintenance',
  'model-failures',
  'deleted-rows-removed',
]

/** These are derived from other tables (a restored conversation is queued for the search), or are of no use later. */
export const derivedTables = [
  // The words of chunks are indexed again: insertRows marks the sources.
  'chunk_words',
  'conversation_search',
  'conversation_counts',
  'search_queue',
  'duties',
  'jobs',
  'insight_days',
  'insights_queue',
  'processes',
  // What a backup holds of them is in each of its vectors.
  'vector_spaces',
  // Members sign in again, and unused links are created again.
  'login_sessions',
  'login_challenges',
  'login_attempts',
  'login_links',
  // Sites sign in their visitors again.
  'visitor_identities',
  // Nobody resumes after an event from before the backup, and the tickets hold what the events reported.
  'helpdesk_events',
]
