import { sql } from 'kysely'
import { WIDGET } from '../../conversations/records/sources.ts'
import type { Db } from '../../db/database.ts'
import { SOURCE_OF } from '../inbound/take-in.ts'

/** Contract, section 4: what is not said otherwise for an account. */
const IDLE_HOURS = 24

/**
 * Ends what nobody has written in for the account's limit and no person has; what the customer writes next begins a new
 * one. Conversations of the API never end by idling, also when mails have been added to them.
 */
export async function endIdle(db: Db): Promise<number> {
  const { numUpdatedRows } = await db
    .updateTable('conversations')
    .from('accounts')
    .set({ status: 'ended' })
    .whereRef('accounts.id', '=', 'conversations.account_id')
    // Each side as its index has it.
    .where(({ or, and, eb }) =>
      or([
        eb('conversations.source', '=', sql.lit(WIDGET)),
        and([
          eb('conversations.thread_id', 'is not', null),
          eb('conversations.source', 'in', Object.values(SOURCE_OF)),
        ]),
      ]),
    )
    .where('conversations.status', '=', 'ongoing')
    // The shortest limit, for the index.
    .where('conversations.updated_at', '<', sql<Date>`now() - interval '1 hour'`)
    .where(
      'conversations.updated_at',
      '<',
      sql<Date>`now() - coalesce(accounts.idle_hours, ${IDLE_HOURS}) * interval '1 hour'`,
    )
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
