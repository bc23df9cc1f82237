import { requireAgent } from '../../agents/records/find-agent.ts'
import type { Context } from '../../context.ts'
import type { AgentRef } from '../../platform/db/refs.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import { mailAddress } from '../../platform/mail/mail-address.ts'
import { type Reply, rendered, replyToTicket } from '../messages/reply-to-ticket.ts'
import type { Member } from '../team/find-member.ts'
import { customerOf } from '../tickets/create-ticket.ts'
import { insertTicket } from '../tickets/open-ticket.ts'
import { requireTicket, type TicketRow } from '../tickets/ticket-queries.ts'

type NewMail = Pick<Reply, 'text' | 'attachmentIds' | 'people'> & {
  subject: string
  name: string | undefined
}

/** Opens a ticket for the first recipient, with the mail as its first reply. */
export async function writeMail(
  ctx: Pick<Context, 'db' | 'notifier'>,
  ref: AgentRef,
  author: Member,
  { subject, name, ...mail }: NewMail,
): Promise<TicketRow> {
  const html = rendered(mail.text)
  return transact(ctx.db, async (trx) => {
    await requireAgent(trx, ref, 'update')
    const email = mailAddress(mail.people.to?.[0]) ?? ''
    const ticket = await insertTicket(trx, {
      ...ref,
      conversationId: null,
      subject: subject.trim(),
      description: null,
      customer: await customerOf(trx, ref, { email, ...(name === undefined ? {} : { name }) }),
      channel: 'email',
      status: 'on_you',
      assigneeId: author.id,
    })
    const place = { ...ref, ticketNumber: ticket.number }
    await replyToTicket({ ...ctx, db: trx }, place, author, { ...mail, html, subject: ticket.subject ?? '' })
    return requireTicket(trx, place)
  })
}
