import { sql } from 'kysely'
import type { Db } from '../../../platform/db/database.ts'
import type { AccountId } from '../../../platform/db/tables/columns.ts'
import { forgetCitations } from '../erasing/forget-citations.ts'

/** A source made from somebody's words: a correction, or a solved ticket. */
type LearnedSource = { id: string; agent_id: string; created_at: Date }

/** Returns what agents and their clones learned from the conversations and tickets. */
export async function learnedFrom(
  db: Db,
  accountId: AccountId,
  { conversationIds, ticketIds }: { conversationIds: readonly string[]; ticketIds: readonly string[] },
): Promise<LearnedSource[]> {
  const { rows } = await sql<LearnedSource>`
    select id, agent_id, created_at from sources where account_id = ${accountId} and message_id is not null
      and metadata ->> 'conversationId' = any(${conversationIds}::text[])
    union
    select s.id, s.agent_id, s.created_at from unanswered_questions as q
    join unanswered_groups as g on g.id = q.group_id join sources as s on s.id = g.source_id
    where q.account_id = ${accountId} and q.conversation_id = any(${conversationIds}::uuid[])
    union
    select sources.id, sources.agent_id, sources.created_at from agents join sources on sources.agent_id = agents.id
    where agents.account_id = ${accountId} and sources.type = 'ticket' and sources.content ->> 'ticketId' = any(
      ${ticketIds}::text[] || array(select id::text from tickets
        where account_id = ${accountId} and conversation_id = any(${conversationIds}::uuid[])))`.execute(db)
  return rows
}

/**
 * Removes the names of the sources from all answers that cite them, then calls `drop`, then checks what was written
 * meanwhile. In this order nothing is missed, even if the process dies in between.
 */
export async function withoutCitations<T>(
  db: Db,
  accountId: AccountId,
  sources: readonly LearnedSource[],
  drop: () => Promise<T>,
): Promise<T> {
  // The clock of the database may be slightly behind.
  const begun = new Date(Date.now() - 60_000)
  const forget = async (since: (all: LearnedSource[]) => Date): Promise<void> => {
    for (const agentId of new Set(sources.map(({ agent_id }) => agent_id))) {
      const own = sources.filter(({ agent_id }) => agent_id === agentId)
      const sourceIds = own.map(({ id }) => id)
      await forgetCitations(db, accountId, { agentId, sourceIds, since: since(own) })
      await forgetLogs(db, accountId, sourceIds)
    }
  }
  await forget((own) => new Date(Math.min(...own.map(({ created_at }) => created_at.getTime()))))
  const result = await drop()
  await forget(() => begun)
  return result
}

/**
 * Deletes logs of answers that cite them. The answers themselves remain, and only a repeated request would read the
 * log.
 */
async function forgetLogs(db: Db, accountId: AccountId, sourceIds: string[]): Promise<void> {
  const cited = sourceIds.map((id) => `%${id}%`)
  await sql`
    delete from generation_log where account_id = ${accountId}
      and (events like any(${cited}::text[]) or ending like any(${cited}::text[]))`.execute(db)
}
