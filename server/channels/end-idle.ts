import { sql } from 'kysely'
import type { Db } from '../db/database.ts'

/** Contract, section 4: conversations of channels end by idling, those of the API never do. */
const IDLE_HOURS = 24

/** Ends what nobody has written in for a day and no person has; what the customer writes next begins a new one. */
export async function endIdle(db: Db): Promise<number> {
  const { numUpdatedRows } = await db
    .updateTable('conversations')
    .set({ status: 'ended' })
    .where('thread_id', 'is not', null)
    .where('status', '=', 'ongoing')
    .where('updated_at', '<', sql<Date>`now() - ${IDLE_HOURS} * interval '1 hour'`)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('generations')
            .select('generations.id')
            .whereRef('generations.conversation_id', '=', 'conversations.id')
            .where('generations.status', '=', 'running'),
        ),
      ),
    )
    // Whoever has an open ticket waits for people, who could not answer in a conversation that has ended.
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('tickets')
            .select('tickets.id')
            .whereRef('tickets.conversation_id', '=', 'conversations.id')
            .where('tickets.status_category', 'not in', ['closed', 'cancelled']),
        ),
      ),
    )
    .executeTakeFirst()
  return Number(numUpdatedRows)
}
