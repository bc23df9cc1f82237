import type { Context } from '../../context.ts'
import { ownRow } from '../../platform/db/refs.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import { applyTicketChange, defaultStatus } from '../tickets/apply-ticket-change.ts'
import { publishDeskEvent } from '../tickets/publish-desk-event.ts'
import { ownerOf } from '../tickets/ticket-queries.ts'

const BATCH = 200

/** Gives each snoozed ticket whose time has come back to the team, once. Returns their number. */
export async function wakeTickets(ctx: Pick<Context, 'db' | 'log' | 'notifier'>): Promise<number> {
  const due = await ctx.db
    .selectFrom('tickets')
    .select(['account_id', 'id'])
    .where('wakes_at', '<=', new Date())
    .orderBy('wakes_at')
    .limit(BATCH)
    .execute()
  let woken = 0
  for (const { account_id, id } of due) {
    const wake = transact(ctx.db, async (trx) => {
      const ticket = await trx
        .selectFrom('tickets')
        .selectAll()
        .where(ownRow(account_id, id))
        .where('wakes_at', '<=', new Date())
        .forNoKeyUpdate()
        .executeTakeFirst()
      if (!ticket) return 0
      // A process of a former version moves tickets without ending their snooze.
      if (ticket.status_category !== 'on_hold') {
        await trx.updateTable('tickets').set({ wakes_at: null }).where(ownRow(account_id, id)).execute()
        return 0
      }
      const status = await defaultStatus(trx, ownerOf(ticket), 'on_you')
      await applyTicketChange(trx, ticket, { status }, 'system')
      const data = { ticketNumber: ticket.number }
      await publishDeskEvent(ctx, trx, ownerOf(ticket), { type: 'ticket', data })
      return 1
    })
    // The others are woken all the same.
    woken += await wake.catch((error: unknown) => {
      ctx.log.error({ err: error, ticketId: id }, 'a snoozed ticket could not be woken')
      return 0
    })
  }
  return woken
}
