import { sql } from 'kysely'
import { recordAudit } from '../../../accounts/audit/audit.ts'
import { requireAgent } from '../../../agents/records/find-agent.ts'
import type { Context } from '../../../context.ts'
import type { Db, Trx } from '../../../platform/db/database.ts'
import { type AgentRef, ownRow } from '../../../platform/db/refs.ts'
import { transact } from '../../../platform/db/statements/transact.ts'
import type { AccountId } from '../../../platform/db/tables/columns.ts'
import type { Jobs } from '../../../platform/jobs/jobs.ts'
import { dropConversations, PIECE, shortenConversation } from '../erasing/drop-conversations.ts'

/** The most conversations deleted in one transaction. */
const BATCH = 50
/** The most transactions of one sweep, because the process may have to stop. The sweep of the next minute continues. */
const MAX_BATCHES = 20
/** The most leads deleted in one sweep. */
const MAX_LEADS = 1_000

/**
 * Sets the number of days for which the agent's conversations are kept; null means for ever. For prompts, null means not
 * at all, and undefined that nothing changes. Throws AGENT_NOT_FOUND.
 */
export async function setRetention(
  db: Db,
  { accountId, agentId, actor }: { accountId: AccountId; agentId: string; actor: string },
  days: number | null,
  { promptDays, redactPaymentNumbers }: { promptDays?: number | null; redactPaymentNumbers?: boolean } = {},
): Promise<void> {
  await transact(db, async (trx) => {
    await requireAgent(trx, { accountId, agentId }, 'update')
    await trx
      .updateTable('agents')
      .set({
        retention_days: days,
        ...(promptDays === undefined ? {} : { prompt_days: promptDays }),
        ...(redactPaymentNumbers === undefined ? {} : { redacts_payments: redactPaymentNumbers }),
      })
      .where(ownRow(accountId, agentId))
      .execute()
    await recordAudit(trx, { accountId, actor, action: 'agent.retention', target: agentId })
  })
}

/** Deletes conversations of all agents whose retention time has passed. Several processes share the work. */
export async function sweepOldConversations({
  db,
  jobs,
  log,
}: Pick<Context, 'db' | 'jobs' | 'log'>): Promise<void> {
  const { rows } = await sql<{ id: string; account_id: AccountId }>`
    select id, account_id from agents where retention_days is not null order by random()`.execute(db)
  let batches = 0
  for (const { id, account_id } of rows) {
    let dropped = 0
    for (let more = true; more && batches < MAX_BATCHES; batches++) {
      const n = await transact(db, (trx) => dropOld(trx, jobs, { accountId: account_id, agentId: id }))
      dropped += n ?? 0
      more = n !== null
    }
    if (dropped > 0) log.info({ agent: id, conversations: dropped }, 'old conversations were deleted')
  }
}

/**
 * Deletes leads without a conversation, of all agents, whose retention time has passed. Several processes share the
 * work.
 */
export async function sweepOldLeads({ db, log }: Pick<Context, 'db' | 'log'>): Promise<void> {
  const { rows } = await sql`
    delete from leads where id in (
      select leads.id from agents join leads on leads.agent_id = agents.id
      where leads.conversation_id is null
        and leads.created_at < now() - agents.retention_days * interval '1 day'
      limit ${MAX_LEADS} for update of leads skip locked)
    returning id`.execute(db)
  if (rows.length > 0) log.info({ leads: rows.length }, 'old leads were deleted')
}

/**
 * Deletes a batch; returns null when there was nothing to do. Rows that another process has locked are being deleted
 * there, or are no longer old.
 */
async function dropOld(trx: Trx, jobs: Jobs, { accountId, agentId }: AgentRef): Promise<number | null> {
  const { rows } = await sql<{ id: string; messages: number }>`
    select c.id, c.last_seq - c.cut_messages as messages
    from agents join conversations as c on c.agent_id = agents.id
    where agents.account_id = ${accountId} and agents.id = ${agentId} and not c.transient
      and c.updated_at < now() - agents.retention_days * interval '1 day' and c.status <> 'taken_over'
      and not exists (select from generations where conversation_id = c.id and status = 'running')
      and not exists (select from tickets where conversation_id = c.id and status_category not in ('closed', 'cancelled'))
    order by c.updated_at limit ${BATCH} for update of c skip locked`.execute(trx)
  if (rows.length === 0) return null
  const long = rows.find(({ messages }) => messages > PIECE)
  if (long && (await shortenConversation(trx, accountId, long.id)) > 0) return 0
  const ids = rows.map(({ id }) => id)
  return (await dropConversations(trx, jobs, accountId, ids)).conversations
}

/** The most runs deleted in one sweep, because each may have thousands of results. */
const MAX_RUNS = 20

/**
 * Deletes tests of answers, with their results and what people have said about them, of all agents whose retention time
 * has passed.
 */
export async function sweepOldAnswerRuns({ db, log }: Pick<Context, 'db' | 'log'>): Promise<void> {
  const { rows } = await sql`
    delete from answer_runs where id in (
      select runs.id from agents join answer_runs as runs on runs.agent_id = agents.id
      where runs.status <> 'running' and runs.created_at < now() - agents.retention_days * interval '1 day'
      limit ${MAX_RUNS} for update of runs skip locked)
    returning id`.execute(db)
  if (rows.length > 0) log.info({ runs: rows.length }, 'old tests of answers were deleted')
}
