import { setImmediate } from 'node:timers/promises'
import { sql } from 'kysely'
import { EMPTY_AGENT, type EmptyAgent } from '../../../agents/jobs.ts'
import type { Context } from '../../../context.ts'
import { dropReplies } from '../../../conversations/records/drop-replies.ts'
import { endRequested } from '../../../conversations/turn/generations.ts'
import { deleteVectorsOfAgent } from '../../../knowledge/vectors/vectors.ts'
import type { Db } from '../../../platform/db/database.ts'
import type { AgentRef } from '../../../platform/db/refs.ts'
import { transact } from '../../../platform/db/statements/transact.ts'
import type { Tables } from '../../../platform/db/tables/tables.ts'

type Deps = Pick<Context, 'db' | 'jobs' | 'generations' | 'notifier'>

/** The most rows that one statement deletes, because it blocks the embedded database. */
const ROWS_AT_ONCE = 200

/** The tables to empty first: those through which data is added, and the agent's knowledge. */
const first: (keyof Tables)[] = [
  'email_connections',
  'identity_secrets',
  'visitor_identities',
  'messaging_accounts',
  'pages_connections',
  'passage_choices',
  'chunk_vectors',
  'chunks',
  'pages',
  'sources',
  'evaluation_runs',
  'evaluations',
  'evaluation_sets',
]

/**
 * All other tables, each before those that it refers to. A statement deletes a limited number of rows, in addition to
 * those that foreign keys delete.
 */
const rest: (keyof Tables)[] = [
  'instruction_versions',
  'unanswered_questions',
  'unanswered_groups',
  'topic_candidates',
  'conversation_topics',
  'topics',
  'topic_settings',
  'insight_days',
  'messaging_pieces',
  'unreadable_events',
  'deliveries',
  'email_messages',
  'held_replies',
  'blocked_senders',
  'mail_originals',
  'ticket_messages',
  'attachments',
  'inbound_messages',
  'ticket_clocks',
  'ticket_surveys',
  'tickets',
  'ticket_tags',
  'ticket_statuses',
  'teams',
  'canned_replies',
  'helpdesk_settings',
  'helpdesk_events',
  'helpdesk_streams',
  'tool_calls',
  'playground_runs',
  'agent_drafts',
  'agent_versions',
  'answer_schedules',
  'answer_cases',
  'answer_runs',
  'procedure_runs',
  'procedures',
  'actions',
  'leads',
  // These come before the messages, to which they refer.
  'generations',
  'messages',
  'conversation_search',
  'conversations',
  'channel_threads',
  'contact_joins',
  'contact_identities',
  'contacts',
  'custom_attributes',
  'agent_pictures',
  'conversation_counts',
]

/** Every table with rows of an agent, except the ledger and the queues, which outlive it. */
export const tablesOfAgents: readonly (keyof Tables)[] = [...first, ...rest]

/**
 * Deletes everything that belonged to a deleted agent, in small pieces, and its id at the end. It may run twice, and
 * in several processes.
 */
export async function emptyAgent(
  ctx: Deps,
  { accountId, agentId, generationIds }: EmptyAgent,
): Promise<void> {
  const { db } = ctx
  for (const id of generationIds) await endRequested(ctx, id, 'stop')
  if (!(await isDeleted(db, agentId))) return
  await endTraining(db, agentId)
  while ((await deleteVectorsOfAgent(db, agentId, ROWS_AT_ONCE)) === ROWS_AT_ONCE) await setImmediate()
  for (const table of first) await emptyTable(db, table, agentId)
  // Ends replies that were just starting when the agent was deleted.
  const late = await transact(db, (trx) => dropReplies(trx, { accountId, agentId }))
  for (const id of late) await endRequested(ctx, id, 'stop')
  for (const table of rest)
    await (table === 'generations' ? emptyGenerations(db, agentId) : emptyTable(db, table, agentId))
  await transact(db, async (trx) => {
    await trx.deleteFrom('agent_ids').where('id', '=', agentId).execute()
    // A training may have stored some until the rows of its source were locked.
    await deleteVectorsOfAgent(trx, agentId)
  })
}

/** Enqueues the emptying of deleted agents that have no job for it, as after a job has failed or a backup was restored. */
export async function resumeEmptying({ db, jobs }: Pick<Context, 'db' | 'jobs'>): Promise<void> {
  const { rows } = await sql<AgentRef>`
    select id as "agentId", account_id as "accountId" from agent_ids where ${isWithoutRow} and not exists (
      select from jobs where task = ${EMPTY_AGENT} and payload ->> 'agentId' = agent_ids.id)`.execute(db)
  for (const row of rows) await jobs.enqueue<EmptyAgent>(db, EMPTY_AGENT, { ...row, generationIds: [] })
}

const isWithoutRow = sql`not exists (select from agents where agents.id = agent_ids.id)`

async function isDeleted(db: Db, agentId: string): Promise<boolean> {
  const { rows } = await sql`select from agent_ids where id = ${agentId} and ${isWithoutRow}`.execute(db)
  return rows.length > 0
}

/** Ends running crawls and trainings by marking their sources as failed. */
async function endTraining(db: Db, agentId: string): Promise<void> {
  await inPieces(() =>
    sql`
      update sources set status = 'failed', live_version = null where id in (
        select id from sources where agent_id = ${agentId} and status in ('untrained', 'updated')
        limit ${sql.lit(ROWS_AT_ONCE)} for no key update skip locked)`.execute(db),
  )
}

/**
 * Empties a table. Rows that are locked by other transactions are skipped, and are deleted with the agent's id at the
 * end.
 */
const emptyTable = (db: Db, table: keyof Tables, agentId: string): Promise<void> =>
  inPieces(() =>
    transact(db, (trx) =>
      sql`
        delete from ${sql.table(table)} where ctid in (
          select ctid from ${sql.table(table)} where agent_id = ${agentId}
          limit ${sql.lit(ROWS_AT_ONCE)} for update skip locked)`.execute(trx),
    ),
  )

/** Deletes the generations together with their logs, which do not name the agent. */
const emptyGenerations = (db: Db, agentId: string): Promise<void> =>
  inPieces(() =>
    transact(db, (trx) =>
      sql`
        with piece as (
          select id from generations where agent_id = ${agentId}
          limit ${sql.lit(ROWS_AT_ONCE)} for update skip locked),
        log as (delete from generation_log using piece where generation_id = piece.id)
        delete from generations using piece where generations.id = piece.id`.execute(trx),
    ),
  )

async function inPieces(piece: () => Promise<{ numAffectedRows?: bigint }>): Promise<void> {
  for (;;) {
    const { numAffectedRows = 0n } = await piece()
    if (Number(numAffectedRows) < ROWS_AT_ONCE) return
    await setImmediate()
  }
}
