import type { Context } from '../../context.ts'
import { ownRow, type TicketRef } from '../../platform/db/refs.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import { mailAddress } from '../../platform/mail/mail-address.ts'
import type { Doer } from '../tickets/apply-ticket-change.ts'
import { requireTicket, type TicketRow } from '../tickets/ticket-queries.ts'
import { updateTicket } from '../tickets/update-ticket.ts'
import { blockSender } from './blocked-senders.ts'

type Deps = Pick<Context, 'db' | 'notifier' | 'generations' | 'config'>

/** Marks a ticket as spam, or takes the mark away, and cancels or opens it. */
export async function markSpam(
  ctx: Deps,
  ref: TicketRef,
  { isSpam, blocks }: { isSpam: boolean; blocks: boolean },
  doneBy: Doer,
): Promise<TicketRow> {
  return transact(ctx.db, async (trx) => {
    const before = await requireTicket(trx, ref)
    const statusCategory = isSpam ? ('cancelled' as const) : ('on_you' as const)
    const ticket = await updateTicket({ ...ctx, db: trx }, ref, { statusCategory }, doneBy)
    const spam_at = isSpam ? new Date() : null
    await trx.updateTable('tickets').set({ spam_at }).where(ownRow(ref.accountId, ticket.id)).execute()
    const address = mailAddress(before.customer.email ?? undefined)
    if (blocks && address) await blockSender(trx, ref, address)
    return { ...ticket, spam_at }
  })
}
