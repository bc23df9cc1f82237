import { type Selectable, sql } from 'kysely'
import type { Db, Trx } from '../../platform/db/database.ts'
import { ownRow } from '../../platform/db/refs.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import type { ProcedureRunsTable } from '../../platform/db/tables/actions.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import type { ToolCallPlace } from '../tools/tool.ts'

const IDLE_HOURS = 24

type Ended = Exclude<ProcedureRunsTable['status'], 'running'>

/** Starts a run, once for each call. A run that is still active in the conversation is abandoned. */
export async function startRun(
  db: Db,
  place: ToolCallPlace,
  procedure: { id: string; name: string },
): Promise<void> {
  const { accountId, agentId, conversationId, toolCallId } = place
  await transact(db, async (trx) => {
    // Two calls of one step must not both conclude that no procedure is running.
    await lockConversation(trx, accountId, conversationId)
    if (await findRun(trx, accountId, toolCallId)) return
    await holdProcedure(trx, accountId, procedure.id)
    await endRun(trx, accountId, conversationId, 'abandoned')
    await trx
      .insertInto('procedure_runs')
      .values({
        id: toolCallId,
        account_id: accountId,
        agent_id: agentId,
        conversation_id: conversationId,
        procedure_id: procedure.id,
        name: procedure.name,
        status: 'running',
      })
      .execute()
  })
}

/** Ends the conversation's running procedure. Returns whether there was one. */
export async function endRun(
  db: Db,
  accountId: AccountId,
  conversationId: string,
  status: Ended,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('procedure_runs')
    .set({ status, ended_at: new Date() })
    .where('account_id', '=', accountId)
    .where('conversation_id', '=', conversationId)
    .where('status', '=', 'running')
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Abandons the running procedure of a conversation that ends. */
export async function abandonRun(trx: Trx, accountId: AccountId, conversationId: string): Promise<void> {
  await endRun(trx, accountId, conversationId, 'abandoned')
}

/** Abandons the runs of all accounts in conversations that have been silent for 24 hours. Returns their number. */
export async function abandonIdleRuns(db: Db): Promise<number> {
  const { numAffectedRows } = await sql`
    update procedure_runs set status = 'abandoned', ended_at = now()
    from conversations
    where conversations.id = procedure_runs.conversation_id and procedure_runs.status = 'running'
      and greatest(conversations.updated_at, procedure_runs.started_at)
        < now() - make_interval(hours => ${IDLE_HOURS})`.execute(db)
  return Number(numAffectedRows ?? 0)
}

/** Returns the conversation's last run, whether or not it has ended. */
export async function lastRun(
  db: Db,
  accountId: AccountId,
  conversationId: string,
): Promise<Selectable<ProcedureRunsTable> | undefined> {
  return db
    .selectFrom('procedure_runs')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('conversation_id', '=', conversationId)
    .orderBy('started_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
}

async function findRun(trx: Trx, accountId: AccountId, id: string): Promise<boolean> {
  const row = await trx
    .selectFrom('procedure_runs')
    .select('id')
    .where(ownRow(accountId, id))
    .executeTakeFirst()
  return row !== undefined
}

/** Keeps a procedure from being deleted. Its deletion locks the procedure before its runs. */
async function holdProcedure(trx: Trx, accountId: AccountId, id: string): Promise<void> {
  await trx.selectFrom('procedures').select('id').where(ownRow(accountId, id)).forKeyShare().execute()
}

async function lockConversation(trx: Trx, accountId: AccountId, conversationId: string): Promise<void> {
  await trx
    .selectFrom('conversations')
    .select('id')
    .where(ownRow(accountId, conversationId))
    .forNoKeyUpdate()
    .execute()
}
