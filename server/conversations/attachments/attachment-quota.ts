import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { planOf } from '../../accounts/plans/plans.ts'
import type { Trx } from '../../platform/db/database.ts'
import type { AgentRef } from '../../platform/db/refs.ts'

const MB = 1_048_576
/** The bytes that one sender may attach in a day. */
const OF_A_SENDER = 200 * MB
/**
 * The bytes that all senders together may attach to messages to one agent in a day, because anybody can send mail
 * from many addresses.
 */
const OF_AN_AGENT = 5_000 * MB
/** The most bytes of uploads of an account that no reply has used yet. */
const WAITING = 1_000 * MB

/** Identifies a sender by a hash, because the rows may outlive the erasure of the person's data. */
export const senderOf = (address: string): string =>
  createHash('sha256').update(address).digest('hex').slice(0, 32)

// The class of the advisory locks. It is the same in every process and differs from those of insights/lock-agent.ts
// and knowledge/room.ts.
const CLASS = 7_277

/**
 * Returns a sentence that says why this many more bytes must not be stored, or null. It locks the account's quota
 * until the transaction ends, so that two files cannot both take what is left.
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
    return 'This sender has reached the daily limit for files.'
  if (Number(sums.today) + bytes > OF_AN_AGENT)
    return 'The agent has reached the daily limit for received files.'
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
    ? "The account's files would exceed the storage of its plan."
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
