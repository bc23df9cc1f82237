import { sql } from 'kysely'
import { channelNames } from '../../agents/settings/channel-names.ts'
import { WIDGET } from '../../conversations/records/queries.ts'
import type { Db } from '../../platform/db/database.ts'

/** The hours after which an idle conversation ends, unless the account has a setting of its own. */
const IDLE_HOURS = 24

/**
 * Ends conversations that were idle for the account's limit and that no person has taken over. The customer's next
 * message begins a new one. Conversations of the API are never ended, even if mails have been added to them.
 */
export async function endIdle(db: Db): Promise<number> {
  // A conversation that is locked is not idle.
  const idle = db
    .selectFrom('conversations')
    .innerJoin('accounts', 'accounts.id', 'conversations.account_id')
    .select('conversations.id')
    // Both sides are written as in their index.
    .where(({ or, and, eb }) =>
      or([
        eb('conversations.source', '=', sql.lit(WIDGET)),
        and([
          eb('conversations.thread_id', 'is not', null),
          eb(
            'conversations.source',
            'in',
            channelNames.map(({ source }) => source),
          ),
        ]),
      ]),
    )
    .where('conversations.status', '=', 'ongoing')
    // The shortest limit allows the index to be used.
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
    // Conversations with an open ticket are skipped, because nobody could answer in one that has ended.
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
    .forNoKeyUpdate('conversations')
    .skipLocked()
  const { numUpdatedRows } = await db
    .updateTable('conversations')
    .set({ status: 'ended' })
    .where('id', 'in', idle)
    .executeTakeFirst()
  return Number(numUpdatedRows)
}
