import type { Context } from '../../context.ts'
import { ownRow } from '../../platform/db/refs.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import { applyTicketChange, defaultStatus } from '../tickets/apply-ticket-change.ts'
import { publishDeskEvent } from '../tickets/publish-desk-event.ts'
import { ownerOf } from '../tickets/ticket-queries.ts'

const BATCH = 200

/** Gives each ticket whose time has come back to the team, once. Returns their number. */
export async function wakeTickets(ctx: Pick<Context, 'db' | 'notifier'>): Promise<number> {
  const due = await ctx.db
    .selectFrom('tickets')
    .select(['account_id', 'id'])
    .where('wakes_at', '<=', new Date())
    .orderBy('wakes_at')
    .limit(BATCH)
    .execute()
  let woken = 0
  for (const { account_id, id } of due) {
    woken += await transact(ctx.db, async (trx) => {
      const ticket = await trx
        .selectFrom('tickets')
        .selectAll()
        .where(ownRow(account_id, id))
        .where('wakes_at', '<=', new Date())
        .forNoKeyUpdate()
        .executeTakeFirst()
      if (!ticket) return 0
      const status = await defaultStatus(trx, ownerOf(ticket), 'on_you')
      await applyTicketChange(trx, ticket, { status }, 'system')
      const data = { ticketNumber: ticket.number }
      await publishDeskEvent(ctx, trx, ownerOf(ticket), { type: 'ticket', data })
      return 1
    })
  }
  return woken
}
