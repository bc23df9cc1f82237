import type { Selectable } from 'kysely'
import { sql } from 'kysely'
import type { Db } from '../db/database.ts'
import type { GenerationsTable } from '../db/tables.ts'
import { finishGeneration } from './finish-generation.ts'
import { closingResults, keptOfBroken, unresolvedCalls } from './parts.ts'
import { dropRunningCalls } from './tool-calls.ts'

/**
 * Ends the generations whose process is gone, keeping what their last checkpoint holds. `all` is for the
 * embedded database at start: nobody else can be running then.
 */
export async function closeOrphans(db: Db, { all }: { all: boolean }): Promise<number> {
  const found = await orphans(db, all, null)
  const failures: unknown[] = []
  // One that cannot be closed must not keep the others open.
  for (const orphan of found) await closeOne(db, orphan).catch((error: unknown) => failures.push(error))
  if (failures.length > 0) throw new AggregateError(failures, 'Some generations could not be closed.')
  return found.length
}

/** Ends the conversation's generation if its process is gone; false when it is alive. */
export async function closeExpired(db: Db, conversationId: string): Promise<boolean> {
  const found = await orphans(db, false, conversationId)
  for (const orphan of found) await closeOne(db, orphan)
  return found.length > 0
}

function orphans(db: Db, all: boolean, conversationId: string | null) {
  let query = db.selectFrom('generations').selectAll().where('status', '=', 'running')
  if (!all) query = query.where('lease_until', '<', sql<Date>`now()`)
  if (conversationId !== null) query = query.where('conversation_id', '=', conversationId)
  return query.limit(1000).execute()
}

async function closeOne(db: Db, row: Selectable<GenerationsTable>): Promise<void> {
  const owner = { accountId: row.account_id, agentId: row.agent_id }
  const ids = {
    id: row.id,
    conversationId: row.conversation_id,
    userMessageId: row.user_message_id,
    messageId: row.message_id,
    userId: null,
    credits: row.credits,
    kind: row.kind,
    firstEvent: row.first_event,
  }
  // Calls may have ended after the checkpoint; those that had not are lost with their process.
  await db.transaction().execute((trx) => dropRunningCalls(trx, owner, row.id))
  const said = [...row.parts, ...closingResults(unresolvedCalls(row.parts), await outputsOf(db, row))]
  const parts = keptOfBroken(row.kind, said)
  await finishGeneration(db, owner, ids, {
    status: 'interrupted',
    finishReason: 'error',
    message: parts.length > 0 ? { parts, metadata: { model: row.model } } : null,
    waiting: [],
  })
}

async function outputsOf(db: Db, { id, account_id }: Selectable<GenerationsTable>) {
  const rows = await db
    .selectFrom('tool_calls')
    .select(['id', 'output'])
    .where('account_id', '=', account_id)
    .where('generation_id', '=', id)
    .where('output', 'is not', null)
    .execute()
  return new Map(rows.map(({ id: callId, output }) => [callId, output]))
}
