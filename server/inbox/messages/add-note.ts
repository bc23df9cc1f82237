import { membersOf } from '../../accounts/records/members.ts'
import type { Context } from '../../context.ts'
import type { TicketRef } from '../../platform/db/refs.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import type { Member } from '../team/find-member.ts'
import { publishDeskEvent } from '../tickets/publish-desk-event.ts'
import { requireTicket } from '../tickets/ticket-queries.ts'
import { addTicketMessage, type TicketMessageRow } from './add-ticket-message.ts'

/** Adds a note for the team and notifies the members whom it mentions. */
export async function addNote(
  ctx: Pick<Context, 'db' | 'notifier'>,
  ref: TicketRef,
  author: Member,
  { text, html }: { text: string; html: string },
): Promise<TicketMessageRow> {
  const { accountId, agentId, ticketNumber } = ref
  const mentions = mentionsIn(text, await membersOf(ctx.db, accountId))
  return transact(ctx.db, async (trx) => {
    const ticket = await requireTicket(trx, ref, true)
    const message = await addTicketMessage(trx, ticket, {
      type: 'note',
      sender: { type: 'agent', id: author.id, name: author.name, email: author.email },
      content: html,
      contentText: text,
      metadata: mentions.length > 0 ? { mentions: mentions.map(({ id, name }) => ({ id, name })) } : null,
    })
    const where = { ticketNumber, messageId: message.id }
    await publishDeskEvent(ctx, trx, { accountId, agentId }, { type: 'message', data: where })
    for (const { id } of mentions) {
      await publishDeskEvent(
        ctx,
        trx,
        { accountId, agentId },
        { type: 'mention', data: { ...where, memberId: id } },
      )
    }
    return message
  })
}

/** `@name` or `@address`, in any case of letters; a longer name goes before one that it begins with. */
export function mentionsIn<M extends Pick<Member, 'name' | 'email'>>(
  text: string,
  members: readonly M[],
): M[] {
  const names = members
    .flatMap((member) =>
      [member.name, member.email].map((name) => ({ member, name: name.trim().toLowerCase() })),
    )
    .filter(({ name }) => name !== '')
    .sort((a, b) => b.name.length - a.name.length)
  const found = new Set<M>()
  const small = text.toLowerCase()
  for (let at = small.indexOf('@'); at !== -1; at = small.indexOf('@', at + 1)) {
    // An address in the text mentions nobody.
    if (/[\p{L}\p{N}_.+-]/u.test(small[at - 1] ?? ' ')) continue
    const named = names.filter(
      ({ name }) => small.startsWith(name, at + 1) && endsAt(small, at + 1 + name.length),
    )
    const longest = named[0]?.name
    for (const { member, name } of named) if (name === longest) found.add(member)
  }
  return [...found]
}

const endsAt = (text: string, at: number): boolean => !/[\p{L}\p{N}_]/u.test(text[at] ?? ' ')
