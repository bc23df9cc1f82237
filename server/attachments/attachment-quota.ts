import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { planOf } from '../accounts/plans/plans.ts'
import type { Trx } from '../db/database.ts'
import type { AgentRef } from '../db/refs.ts'

const MB = 1_048_576
/** What one sender may attach in a day. */
const OF_A_SENDER = 200 * MB
/** What all senders together may attach to messages to one agent in a day: anybody can send mail from many addresses. */
const OF_AN_AGENT = 5_000 * MB
/** Uploads of an account that no reply has taken yet. */
const WAITING = 1_000 * MB

/** A person who has sent files, without saying who: rows outlive what people may ask to be forgotten. */
export const senderOf = (address: string): string =>
  createHash('sha256').update(address).digest('hex').slice(0, 32)

// Any number, the same in every process; not that of insights/lock-agent.ts or knowledge/room.ts.
const CLASS = 7_277

/**
 * Why so many bytes more may not be kept, in a sentence, or null. Takes the room of the account until the transaction
 * ends, so that two files cannot have the last of it.
 */
export async function quotaProblem(
  trx: Trx,
  { accountId, agentId }: AgentRef,
  bytes: number,
  sender: string | null,
): Promise<string | null> {
  await sql`select pg_advisory_xact_lock(${CLASS}::integer, hashtext(${accountId}))`.execute(trx)
  const { rows } = await sql<{ plan: string; today: string; of_sender: string; waiting: string }>`
    select plan,
      ${sender === null ? sql`0` : sumOfDay(accountId, agentId)} as today,
      ${sender === null ? sql`0` : sumOfSender(accountId, agentId, sender)} as of_sender,
      ${sender === null ? sumOfWaiting(accountId) : sql`0`} as waiting
    from accounts where id = ${accountId}`.execute(trx)
  const [sums] = rows
  if (!sums) return null
  if (Number(sums.of_sender) + bytes > OF_A_SENDER)
    return 'This sender has sent as many files today as one may.'
  if (Number(sums.today) + bytes > OF_AN_AGENT) return 'The agent has received as many files today as it may.'
  if (sender === null && Number(sums.waiting) + bytes > WAITING)
    return 'Too many uploads wait to be sent. Send those first, or wait until they are removed.'
  const { attachmentBytes } = planOf(sums.plan)
  if (attachmentBytes === null) return null
  const { used } = await trx
    .selectFrom('attachments')
    .select(sql<string>`coalesce(sum(size), 0)`.as('used'))
    .where('account_id', '=', accountId)
    .executeTakeFirstOrThrow()
  return Number(used) + bytes > attachmentBytes
    ? "The account's files would take more room than its plan has."
    : null
}

const sumOfDay = (accountId: string, agentId: string) => sql`(
  select coalesce(sum(size), 0) from attachments
  where account_id = ${accountId} and agent_id = ${agentId} and sender is not null
    and created_at > now() - interval '1 day')`

const sumOfSender = (accountId: string, agentId: string, sender: string) => sql`(
  select coalesce(sum(size), 0) from attachments
  where account_id = ${accountId} and agent_id = ${agentId} and sender = ${sender}
    and created_at > now() - interval '1 day')`

const sumOfWaiting = (accountId: string) => sql`(
  select coalesce(sum(size), 0) from attachments
  where account_id = ${accountId} and sender is null and ticket_id is null and conversation_id is null)`
