import { sql } from 'kysely'
import type { Db } from '../../../platform/db/database.ts'
import { newId } from '../../../platform/db/ids.ts'
import type { AgentRef } from '../../../platform/db/refs.ts'
import type { Unreadable } from '../connection/provider-adapter.ts'

/** The maximum number of events that are kept for an agent. */
const MAX_KEPT = 200

type Noted = Unreadable & { reference: string; threadId: string | null }

/** Stores what was delivered and could not be read, once for each of its kind and id. */
export async function noteUnreadable(
  db: Db,
  { accountId, agentId }: AgentRef,
  { what, detail, isMessage, reference, threadId }: Noted,
): Promise<void> {
  await db
    .insertInto('unreadable_events')
    .values({
      id: newId(),
      account_id: accountId,
      agent_id: agentId,
      channel: 'messaging',
      kind: what,
      reference,
      detail,
      is_message: isMessage,
      thread_id: threadId,
    })
    .onConflict((conflict) =>
      conflict.constraint('unreadable_events_once').doUpdateSet({
        count: sql<number>`unreadable_events.count + 1`,
        detail,
        last_at: sql<Date>`now()`,
      }),
    )
    .execute()
  await sql`
    delete from unreadable_events where account_id = ${accountId} and agent_id = ${agentId} and id in (
      select id from unreadable_events where account_id = ${accountId} and agent_id = ${agentId}
      order by last_at desc, id desc offset ${MAX_KEPT})`.execute(db)
}
