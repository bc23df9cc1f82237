import { sql } from 'kysely'
import type { Db } from '../db/database.ts'
import { finishGeneration } from './finish-generation.ts'

type Orphan = Awaited<ReturnType<typeof orphans>>[number]

/**
 * Ends the generations whose process is gone, keeping the text of their last checkpoint. `all` is for the
 * embedded database at start: nobody else can be running then.
 */
export async function closeOrphans(db: Db, { all }: { all: boolean }): Promise<number> {
  const found = await orphans(db, all, null)
  for (const orphan of found) await closeOne(db, orphan)
  return found.length
}

/** Ends the conversation's generation if its process is gone; false when it is alive. */
export async function closeExpired(db: Db, conversationId: string): Promise<boolean> {
  const found = await orphans(db, false, conversationId)
  for (const orphan of found) await closeOne(db, orphan)
  return found.length > 0
}

function orphans(db: Db, all: boolean, conversationId: string | null) {
  let query = db
    .selectFrom('generations')
    .innerJoin('conversations', 'conversations.id', 'generations.conversation_id')
    .selectAll('generations')
    .select('conversations.user_id')
    .where('generations.status', '=', 'running')
  if (!all) query = query.where('lease_until', '<', sql<Date>`now()`)
  if (conversationId !== null) query = query.where('conversation_id', '=', conversationId)
  return query.limit(1000).execute()
}

async function closeOne(db: Db, row: Orphan): Promise<void> {
  const ids = {
    id: row.id,
    conversationId: row.conversation_id,
    userMessageId: row.user_message_id,
    messageId: row.message_id,
    userId: row.user_id,
    credits: row.credits,
  }
  const kept = row.text !== ''
  await finishGeneration(db, { accountId: row.account_id, agentId: row.agent_id }, ids, {
    status: 'interrupted',
    message: kept
      ? {
          parts: [{ type: 'text', text: row.text }],
          metadata: { credits: row.credits, finishReason: 'error', model: row.model },
        }
      : null,
  })
}
