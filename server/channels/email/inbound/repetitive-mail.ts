import { type SqlBool, sql } from 'kysely'
import type { ThreadRow } from '../../../inbox/deliveries/enqueue-delivery.ts'
import type { Trx } from '../../../platform/db/database.ts'
import type { ConnectionRow } from '../connection/connection.ts'
import { mailsInHour } from './mail-rate.ts'

/** A program answers this soon after our mail. */
const AT_ONCE_SECONDS = 60
const MAX_IN_AN_HOUR = 3

/** Whether a mail looks like an automatic reply, and whether another one of its thread did so before. */
export type Repetition = { isRepetitive: boolean; isAgain: boolean }

/**
 * Judges a mail that does not declare itself automatic by what it does: it arrived right after our mail, or says the
 * same as an earlier mail of the sender.
 */
export async function repetitionOf(
  trx: Trx,
  row: ConnectionRow,
  {
    thread,
    from,
    text,
    receivedAt,
  }: { thread: ThreadRow | null; from: string; text: string; receivedAt: Date },
): Promise<Repetition> {
  const { rows } = await sql<{ at_once: boolean; same: boolean; again: boolean }>`
    select
      exists (select from deliveries where account_id = ${row.account_id} and thread_id = ${thread?.id ?? null}
        and ticket_message_id is null and status in ('sent', 'delivered', 'read')
        and ${receivedAt} between updated_at - interval '5 seconds'
          and updated_at + ${AT_ONCE_SECONDS} * interval '1 second') as at_once,
      exists (select from inbound_messages join channel_threads on channel_threads.id = inbound_messages.thread_id
        where inbound_messages.account_id = ${row.account_id} and inbound_messages.agent_id = ${row.agent_id}
          and channel_threads.channel = 'email'
          and channel_threads.data -> 'participants' @> ${JSON.stringify(from)}::jsonb
          and inbound_messages.created_at > now() - interval '7 days'
          and inbound_messages.content ->> 'text' = ${text} and ${text} <> '') as same,
      exists (select from inbound_messages where account_id = ${row.account_id}
        and thread_id = ${thread?.id ?? null} and content ->> 'isRepetitive' = 'true') as again`.execute(trx)
  const [found] = rows
  return {
    isRepetitive: (found?.at_once || found?.same) ?? false,
    isAgain: found?.again ?? false,
  }
}

/**
 * Returns whether a mail that looks automatic must not be answered. People are fast and repeat themselves, too, so one
 * in each thread is answered, and a few an hour for each address.
 */
export async function exceedsRepetitions(
  trx: Trx,
  row: ConnectionRow,
  addresses: string[],
  { isRepetitive, isAgain }: Repetition,
): Promise<boolean> {
  if (!isRepetitive) return false
  if (isAgain) return true
  const repetitive = sql<SqlBool>`inbound_messages.content ->> 'isRepetitive' = 'true'`
  for (const address of new Set(addresses))
    if ((await mailsInHour(trx, row, address, repetitive)) >= MAX_IN_AN_HOUR) return true
  return false
}
