/**
 * The only statements on tenants' tables that may do without the account: the files that send them, the tables ('all'
 * for every one) and the reason.
 */
export const WITHOUT_ACCOUNT: Record<string, { tables: readonly string[] | 'all'; reason: string }> = {
  // The account is not known yet: what the request brings leads to it.
  'server/accounts/keys/keys.ts': {
    tables: ['api_keys'],
    reason: 'The hash of a key leads to its account. An operator revokes keys by their ids.',
  },
  'server/accounts/links/links.ts': {
    tables: ['login_links'],
    reason: 'The token of a link leads to its account. A duty deletes expired links.',
  },
  'server/accounts/sign-in/provider/ask-auth.ts': {
    tables: ['members'],
    reason: 'The session of a login leads to its member.',
  },
  'server/accounts/sign-in/sessions/sessions.ts': {
    tables: ['members'],
    reason: 'The session of a login leads to its member.',
  },
  'server/accounts/audit/audit.ts': {
    tables: ['audit_log'],
    reason: 'Refused sign-ins with unknown addresses have no account.',
  },
  'server/accounts/sign-in/jobs.ts': {
    tables: ['members'],
    reason: 'The address of a login leads to its member.',
  },
  'server/inbox/survey/serve-surveys.ts': {
    tables: ['ticket_surveys', 'tickets'],
    reason: 'The token in a mail leads to the survey.',
  },
  'server/agents/pictures/serve-pictures.ts': {
    tables: ['agents', 'agent_pictures'],
    reason: 'Everybody may see the pictures of an agent, whose id is on its website.',
  },
  'server/admin/static/pages/status-page.ts': {
    tables: ['agents'],
    reason: 'A setting of the installation names the demo agent, which is public.',
  },
  'server/channels/widget/page/serve-widget.ts': {
    tables: ['agents'],
    reason: 'Everybody may talk to a public agent, whose id is on its website.',
  },
  'server/channels/widget/visitors/visitor.ts': {
    tables: ['agents'],
    reason: 'Everybody may talk to a public agent, whose id is on its website.',
  },
  'server/channels/email/connection/one-reader.ts': {
    tables: ['email_connections'],
    reason: 'A mailbox is read by one agent, in whichever account; who asks has proven to know its password.',
  },
  'server/channels/email/connection/withdraw-permission.ts': {
    tables: ['email_connections'],
    reason: 'A provider withdraws a permission from all accounts that use the same client for the mailbox.',
  },
  'server/channels/email/inbound/webhook.ts': {
    tables: ['email_connections'],
    reason: 'The path names the agent. The secret of its connection signs the request.',
  },
  'server/channels/messaging/connection/connection.ts': {
    tables: ['messaging_accounts'],
    reason: 'The path names the agent. The secret of its connection signs the request.',
  },
  'server/channels/widget/talk/store-message.ts': {
    tables: ['messages'],
    reason: 'Browsers choose the ids of messages, and an id is unique on the installation.',
  },

  // A job knows a row by its id and learns the account from it.
  'server/inbox/mail/held-replies.ts': { tables: ['held_replies'], reason: 'The job names the reply.' },
  'server/channels/inbound/process-inbound.ts': {
    tables: ['channel_threads'],
    reason: 'The job names the thread.',
  },
  'server/channels/replies/answer-conversation.ts': {
    tables: ['conversations'],
    reason: 'The job names the conversation.',
  },
  'server/channels/messaging/inbound/fetch-files.ts': {
    tables: ['inbound_messages', 'channel_threads'],
    reason: 'The job names the thread and the message.',
  },
  'server/knowledge/training/train-source.ts': { tables: ['sources'], reason: 'The job names the source.' },
  'server/knowledge/tickets/gather-tickets.ts': { tables: ['agents'], reason: 'The job names the agent.' },
  'server/knowledge/crawl/run/crawl-run.ts': { tables: ['sources'], reason: 'The job names the source.' },
  'server/knowledge/training/resync/resync-source.ts': {
    tables: ['sources', 'agents'],
    reason: 'The job names the source.',
  },
  'server/conversations/insights/analysis/load-conversation.ts': {
    tables: ['conversations', 'agents'],
    reason: 'The job names the conversation.',
  },

  // A process works for all accounts at once.
  'server/platform/http/idempotency/idempotency.ts': {
    tables: ['requests'],
    reason: 'Old keys of all accounts are deleted.',
  },
  'server/conversations/stream/generation-log.ts': {
    tables: ['generations', 'generation_log'],
    reason: 'The events of all running generations go to the log in one statement, and old logs are deleted.',
  },
  'server/conversations/turn/generations.ts': {
    tables: ['generations'],
    reason: 'They are the generations of one process, or those whose process died, which are ended.',
  },
  'server/channels/widget/talk/conversation-state.ts': {
    tables: ['conversations', 'members', 'tickets', 'generations'],
    reason: 'One statement reads what all visitors follow. Each was admitted to the conversation.',
  },

  // Recurring jobs of the installation look for what is due in all accounts.
  'server/conversations/records/reconcile-credits.ts': {
    tables: ['generations', 'credit_entries', 'messages', 'credit_usage'],
    reason:
      'The figures of the whole installation are compared, and reservations whose generation is gone are released.',
  },
  'server/conversations/attachments/uploads.ts': {
    tables: ['attachments'],
    reason: 'Uploads that nobody sent are deleted.',
  },
  'server/channels/replies/answer-forgotten.ts': {
    tables: ['conversations', 'messages', 'generations', 'tickets', 'inbound_messages'],
    reason: 'Customers whom nobody answered are looked for.',
  },
  'server/channels/replies/end-idle.ts': {
    tables: ['conversations', 'generations', 'tickets'],
    reason: 'Idle conversations end.',
  },
  'server/channels/email/connection/claim-mailbox.ts': {
    tables: ['email_connections'],
    reason: 'The next mailbox is read.',
  },
  'server/inbox/deliveries/claim-delivery.ts': {
    tables: ['deliveries'],
    reason: 'The next delivery is sent.',
  },
  'server/conversations/records/expire-calls.ts': {
    tables: ['tool_calls'],
    reason: 'Calls that nobody answers expire.',
  },
  'server/actions/procedures/procedure-runs.ts': {
    tables: ['procedure_runs', 'conversations'],
    reason: 'Runs of idle conversations end.',
  },
  'server/inbox/clocks/flag-breaches.ts': {
    tables: ['ticket_clocks'],
    reason: 'Clocks that ran out are marked.',
  },
  'server/inbox/clocks/repair-times.ts': {
    tables: ['tickets', 'ticket_clocks'],
    reason: 'Times of tickets of all accounts are repaired.',
  },
  'server/inbox/clocks/wake-tickets.ts': {
    tables: ['tickets'],
    reason: 'Tickets whose time has come return to their teams.',
  },
  'server/inbox/live/event-queries.ts': { tables: ['helpdesk_events'], reason: 'Old events are deleted.' },
  'server/conversations/insights/analysis/claim-conversations.ts': {
    tables: ['conversations', 'messages'],
    reason: 'The next conversations are analysed.',
  },
  'server/conversations/insights/days/fold-queue.ts': {
    tables: ['agents', 'conversations'],
    reason: 'The queue holds changes in all accounts.',
  },
  'server/conversations/insights/days/refresh-days.ts': {
    tables: ['insight_days'],
    reason: 'The next stale day is computed.',
  },
  'server/conversations/insights/unanswered/recount-groups.ts': {
    tables: ['agents'],
    reason: 'The queue holds changes in all accounts.',
  },
  'server/knowledge/crawl/run/claim-pages.ts': {
    tables: ['pages'],
    reason: 'The only process frees what an earlier one held.',
  },
  'server/knowledge/sources/empty-source.ts': { tables: ['sources'], reason: 'The next source is deleted.' },
  'server/knowledge/sources/files.ts': { tables: ['sources'], reason: 'Files without a source are deleted.' },
  'server/knowledge/training/resync/claim-resyncs.ts': {
    tables: ['sources', 'agents', 'pages_connections'],
    reason: 'The next sources are read again.',
  },
  'server/knowledge/training/resync/plan-resyncs.ts': {
    tables: ['sources', 'agents', 'pages_connections'],
    reason: 'Sources without a time get one.',
  },
  'server/knowledge/jobs.ts': { tables: ['sources'], reason: 'Trainings that were interrupted go on.' },
  'server/knowledge/search/embedded-limit.ts': {
    tables: ['chunks'],
    reason: 'The operator is told of the large agents of every account.',
  },
  'server/knowledge/search/index-words.ts': {
    tables: ['sources', 'conversations'],
    reason: 'The words of all agents are indexed after an upgrade.',
  },
  'server/knowledge/vectors/fill-space.ts': {
    tables: ['agents', 'chunks', 'chunk_vectors'],
    reason: 'The job names the agent. All agents move to the configured space of vectors.',
  },
  'server/knowledge/vectors/spaces.ts': {
    tables: ['agents', 'vectors'],
    reason: 'A space that no agent uses is dropped, and what is near in it is sampled, whosever it is.',
  },
  'server/knowledge/vectors/vectors.ts': {
    tables: ['vectors'],
    reason: 'A deleted agent is gone, and its id was of one account only.',
  },
  'server/channels/notifications/budget-mails.ts': {
    tables: ['agents', 'model_usage', 'model_side_usage', 'embedding_usage'],
    reason: 'The budgets of all agents are looked at.',
  },
  'server/channels/notifications/daily-mails.ts': { tables: ['agents'], reason: 'The next mails are sent.' },
  'server/conversations/records/fold-counts.ts': {
    tables: ['conversation_counts'],
    reason: 'Counts of all accounts are added up.',
  },
  'server/conversations/search/index/index-conversations.ts': {
    tables: ['conversation_search', 'conversations', 'generations'],
    reason: 'The queue holds conversations of all accounts.',
  },
  'server/conversations/search/index/load-documents.ts': {
    tables: [
      'conversations',
      'conversation_search',
      'messages',
      'conversation_topics',
      'tool_calls',
      'procedure_runs',
    ],
    reason: 'The queue holds conversations of all accounts.',
  },
  'server/channels/widget/identity/identify-visitor.ts': {
    tables: ['visitor_identities'],
    reason: 'Identities that ran out are deleted.',
  },

  // Erasure deletes whole agents and what is left over, and continues after a restart.
  'server/people/privacy/erasing/empty-agent.ts': {
    tables: 'all',
    reason: 'The agent is gone, and its id was of one account only.',
  },
  'server/people/privacy/erasing/drop-traces.ts': {
    tables: ['generation_log', 'generations'],
    reason: 'What refers to a generation that is gone is deleted, whosever it was.',
  },
  'server/people/privacy/erasing/erasures.ts': {
    tables: ['user_erasures'],
    reason: 'Erasures that were interrupted go on.',
  },
  'server/conversations/playground/answer-tests/schedule/schedules.ts': {
    tables: ['answer_schedules', 'agents'],
    reason: 'The tests of all accounts that are due are started, and their owners told.',
  },
  'server/people/privacy/retention/retention.ts': {
    tables: ['agents', 'answer_runs', 'leads'],
    reason: 'The periods of all agents are kept.',
  },

  // Operators work on the installation: they name rows by their ids, and a backup holds all rows.
  'server/admin/commands/space-commands.ts': {
    tables: ['agents', 'chunks'],
    reason: 'It counts the agents of each space, and what is left to embed.',
  },
  'server/admin/commands/find-account.ts': {
    tables: ['agents'],
    reason: 'The agent leads to its account.',
  },
  'server/admin/commands/explain-command.ts': {
    tables: ['messages'],
    reason: 'The message leads to its account.',
  },
  'server/conversations/explanations/record-answer.ts': {
    tables: ['playground_runs', 'agents'],
    reason: 'Prompts of all accounts leave when their days have passed.',
  },
  'server/admin/commands/key-commands.ts': {
    tables: ['api_keys'],
    reason: 'The key leads to its account.',
  },
  'server/admin/commands/member-commands.ts': {
    tables: ['members', 'login_links'],
    reason: 'The member leads to the account.',
  },
  'server/admin/backup/refuse-foreign.ts': {
    tables: 'all',
    reason: 'Rows that name rows of another account are looked for.',
  },
  'server/admin/backup/restore-backup.ts': { tables: 'all', reason: 'A backup is restored as a whole.' },
  'server/admin/backup/backup-vectors.ts': {
    tables: ['vectors', 'sources', 'agents', 'chunk_vectors'],
    reason: 'A backup holds the vectors of all accounts.',
  },
  'server/admin/backup/write-backup.ts': { tables: 'all', reason: 'A backup holds all rows.' },
  'server/admin/commands/upgrade-command.ts': {
    tables: 'all',
    reason: 'It counts how fast the rows of a table are read, whosever they are.',
  },
  'server/platform/secrets/foreign-rows.ts': { tables: 'all', reason: 'Secrets of another key are counted.' },
  'server/platform/secrets/rewrite-secrets.ts': {
    tables: 'all',
    reason: 'Secrets are sealed with a new key.',
  },
  'server/platform/db/upkeep/build-indexes.ts': {
    tables: 'all',
    reason: 'An index is of the rows of all accounts.',
  },
  'server/platform/db/upkeep/migrate.ts': {
    tables: 'all',
    reason: 'A migration changes the rows of all accounts.',
  },
}
