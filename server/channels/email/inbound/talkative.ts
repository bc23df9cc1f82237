import { sql } from 'kysely'
import type { Trx } from '../../../db/database.ts'
import type { ConnectionRow } from '../connection/connection.ts'

/** More mails than these in an hour are no person's who waits for answers. */
const MOST_IN_AN_HOUR = 15

/**
 * Whether one of the addresses has sent, or is answered, so many mails of late that more are not answered: the end of
 * every loop between two programs, also of those that say nowhere what they are and begin a thread each time.
 */
export async function isTalkative(trx: Trx, row: ConnectionRow, addresses: string[]): Promise<boolean> {
  for (const address of new Set(addresses)) if (await isOne(trx, row, address)) return true
  return false
}

async function isOne(trx: Trx, row: ConnectionRow, address: string): Promise<boolean> {
  const { count } = await trx
    .selectFrom('inbound_messages')
    .innerJoin('channel_threads', 'channel_threads.id', 'inbound_messages.thread_id')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('inbound_messages.account_id', '=', row.account_id)
    .where('inbound_messages.agent_id', '=', row.agent_id)
    .where('channel_threads.channel', '=', 'email')
    .where(sql`channel_threads.data -> 'participants'`, '@>', sql`${JSON.stringify(address)}::jsonb`)
    .where('inbound_messages.created_at', '>', sql<Date>`now() - interval '1 hour'`)
    .where(sql`inbound_messages.content ->> 'silent'`, 'is', null)
    .executeTakeFirstOrThrow()
  return Number(count) >= MOST_IN_AN_HOUR
}
