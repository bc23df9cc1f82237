import { sql } from 'kysely'
import type { Db } from '../../../platform/db/database.ts'
import { agentReSyncs, sourceReSyncs } from './eligible.ts'

const AT_ONCE = 5_000

/**
 * Gives every source that is re-synced, and every agent's tickets, a random time in the coming week, so that a large
 * agent does not request everything at once. Several processes may run it.
 */
export async function planSyncs(db: Db, now = new Date()): Promise<void> {
  const moment = sql`${now}::timestamptz + random() * interval '7 days'`
  await sql`
    update sources set next_sync_at = ${moment}
    where id in (
      select sources.id from sources
      join agents on agents.id = sources.agent_id
      join accounts on accounts.id = agents.account_id
      where sources.next_sync_at is null and sources.type in ('link', 'notionPage') and ${sourceReSyncs()}
      limit ${sql.lit(AT_ONCE)} for no key update of sources skip locked)`.execute(db)
  // A failed crawl or training is retried earlier than in a week.
  await sql`
    update sources set next_sync_at = ${now}::timestamptz + (20 + 4 * random()) * interval '1 hour'
    where id in (
      select id from sources
      where status = 'failed' and next_sync_at > ${now}::timestamptz + interval '1 day'
      limit ${sql.lit(AT_ONCE)} for no key update skip locked)`.execute(db)
  await sql`
    update agents set next_ticket_sync_at = ${moment}
    where id in (
      select agents.id from agents
      join accounts on accounts.id = agents.account_id
      where agents.ticket_knowledge and agents.next_ticket_sync_at is null and ${agentReSyncs()}
      limit ${sql.lit(AT_ONCE)} for no key update of agents skip locked)`.execute(db)
}
