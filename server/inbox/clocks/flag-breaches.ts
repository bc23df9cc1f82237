import type { Context } from '../../context.ts'
import { ownRow } from '../../platform/db/refs.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import { addTicketMessage } from '../messages/add-ticket-message.ts'
import { noMember } from '../tickets/apply-ticket-change.ts'
import { publishDeskEvent } from '../tickets/publish-desk-event.ts'

const BATCH = 200

/** Marks each clock that has run out once, with an event on its ticket. Returns their number. */
export async function flagBreaches(ctx: Pick<Context, 'db' | 'notifier'>): Promise<number> {
  const due = await ctx.db
    .selectFrom('ticket_clocks')
    .select(['account_id', 'ticket_id', 'kind'])
    .where('due_at', '<=', new Date())
    .where('met_at', 'is', null)
    .where('breached_at', 'is', null)
    .orderBy('due_at')
    .limit(BATCH)
    .execute()
  let flagged = 0
  for (const { account_id, ticket_id, kind } of due) {
    flagged += await transact(ctx.db, async (trx) => {
      const ticket = await trx
        .selectFrom('tickets')
        .selectAll()
        .where(ownRow(account_id, ticket_id))
        .forNoKeyUpdate()
        .executeTakeFirst()
      if (!ticket) return 0
      const flag = await trx
        .updateTable('ticket_clocks')
        .set((eb) => ({ breached_at: eb.ref('due_at') }))
        .where('account_id', '=', account_id)
        .where('ticket_id', '=', ticket_id)
        .where('kind', '=', kind)
        .where('due_at', '<=', new Date())
        .where('met_at', 'is', null)
        .where('breached_at', 'is', null)
        .executeTakeFirst()
      if (flag.numUpdatedRows === 0n) return 0
      await addTicketMessage(trx, ticket, {
        type: 'event',
        sender: null,
        metadata: { eventType: 'target_missed', clock: kind, doneBy: noMember('system') },
      })
      await publishDeskEvent(
        ctx,
        trx,
        { accountId: ticket.account_id, agentId: ticket.agent_id },
        {
          type: 'ticket',
          data: { ticketNumber: ticket.number },
        },
      )
      return 1
    })
  }
  return flagged
}
