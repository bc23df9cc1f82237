import { type Expression, type SqlBool, sql } from 'kysely'
import type { Trx } from '../../../platform/db/database.ts'
import type { ConnectionRow } from '../connection/connection.ts'

/** More mails in an hour than any person sends. */
const MAX_IN_AN_HOUR = 15

/**
 * Returns whether one of the addresses has sent or received so many mails lately that no more are answered. This
 * ends loops between two programs, even if they do not declare themselves and begin a new thread each time.
 */
export async function exceedsMailRate(trx: Trx, row: ConnectionRow, addresses: string[]): Promise<boolean> {
  const answered = sql<SqlBool>`inbound_messages.content ->> 'silent' is null`
  for (const address of new Set(addresses))
    if ((await mailsInHour(trx, row, address, answered)) >= MAX_IN_AN_HOUR) return true
  return false
}

/** Counts the mails that an address has sent or received in the last hour and that meet the condition. */
export async function mailsInHour(
  trx: Trx,
  row: ConnectionRow,
  address: string,
  condition: Expression<SqlBool>,
): Promise<number> {
  const { count } = await trx
    .selectFrom('inbound_messages')
    .innerJoin('channel_threads', 'channel_threads.id', 'inbound_messages.thread_id')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('inbound_messages.account_id', '=', row.account_id)
    .where('inbound_messages.agent_id', '=', row.agent_id)
    .where('channel_threads.channel', '=', 'email')
    .where(sql`channel_threads.data -> 'participants'`, '@>', sql`${JSON.stringify(address)}::jsonb`)
    .where('inbound_messages.created_at', '>', sql<Date>`now() - interval '1 hour'`)
    .where(condition)
    .executeTakeFirstOrThrow()
  return Number(count)
}
