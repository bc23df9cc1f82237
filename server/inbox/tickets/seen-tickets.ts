import { sql } from 'kysely'
import type { Context } from '../../context.ts'
import type { Db } from '../../platform/db/database.ts'
import type { AgentRef, TicketRef } from '../../platform/db/refs.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import { publishDeskEvent } from './publish-desk-event.ts'
import { requireTicket } from './ticket-queries.ts'

const MAX_LISTED = 500

/** The tickets that wait for the team and hold something that the member has not seen, the newest first. */
export async function unreadTickets(
  db: Db,
  { accountId, agentId }: AgentRef,
  memberId: string,
): Promise<{ ticketNumbers: number[]; total: number }> {
  const { rows } = await sql<{ number: number; total: string | number }>`
    select number, count(*) over () as total from tickets
    left join seen_tickets on seen_tickets.account_id = ${accountId} and ticket_id = tickets.id
      and member_id = ${memberId}::uuid
    where tickets.account_id = ${accountId} and agent_id = ${agentId} and status_category in ('new', 'on_you')
      and (seen_until is null or coalesce(last_message_at, created_at) > seen_until)
    order by coalesce(last_message_at, created_at) desc, tickets.id desc limit ${MAX_LISTED}`.execute(db)
  return { ticketNumbers: rows.map(({ number }) => number), total: Number(rows[0]?.total ?? 0) }
}

/** Notes that a member has seen a ticket's messages until a time, and tells the browsers that follow the help desk. */
export async function recordSeen(
  ctx: Pick<Context, 'db' | 'notifier'>,
  ref: TicketRef,
  memberId: string,
  until: Date,
): Promise<void> {
  const { id } = await requireTicket(ctx.db, ref)
  const { accountId } = ref
  await transact(ctx.db, async (trx) => {
    const { rows } = await sql`
      insert into seen_tickets (ticket_id, member_id, account_id, seen_until)
      values (${id}, ${memberId}, ${accountId}, ${until})
      on conflict (ticket_id, member_id) do update set seen_until = excluded.seen_until
      where seen_tickets.account_id = ${accountId} and seen_tickets.seen_until < excluded.seen_until
      returning ticket_id`.execute(trx)
    if (rows.length === 0) return
    await publishDeskEvent(ctx, trx, ref, { type: 'seen', data: { memberId, seen: ref.ticketNumber } })
  })
}
