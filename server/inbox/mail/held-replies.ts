import type { Selectable } from 'kysely'
import type { Context } from '../../context.ts'
import type { Db } from '../../platform/db/database.ts'
import { isId, newId } from '../../platform/db/ids.ts'
import type { TicketRef } from '../../platform/db/refs.ts'
import { json } from '../../platform/db/statements/json.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import type { HeldRepliesTable, HeldReply } from '../../platform/db/tables/helpdesk.ts'
import { ApiError } from '../../platform/http/errors.ts'
import { chosenPeople } from '../messages/recipients.ts'
import { replyChannel } from '../messages/reply-channel.ts'
import { rendered, replyToTicket } from '../messages/reply-to-ticket.ts'
import { type Member, requireMember } from '../team/find-member.ts'
import { publishDeskEvent } from '../tickets/publish-desk-event.ts'
import { holdTicket, requireTicket } from '../tickets/ticket-queries.ts'

export const SEND_HELD = 'send-held-reply'

export type SendHeld = { heldReplyId: string }

export type HeldRow = Selectable<HeldRepliesTable>

type Deps = Pick<Context, 'db' | 'jobs' | 'notifier'>

/** Stores a reply that is sent in some seconds. Throws what the reply would throw now. */
export async function holdReply(
  ctx: Deps,
  ref: TicketRef,
  author: Member,
  reply: HeldReply,
  holdSeconds: number,
): Promise<HeldRow> {
  rendered(reply.content)
  return transact(ctx.db, async (trx) => {
    const { ticket, conversation } = await holdTicket(trx, ref)
    if (conversation && conversation.status !== 'taken_over')
      throw new ApiError('CONVERSATION_NOT_TAKEN_OVER')
    chosenPeople(await replyChannel(trx, ticket, conversation), reply)
    const row = await trx
      .insertInto('held_replies')
      .values({
        id: newId(),
        account_id: ref.accountId,
        agent_id: ref.agentId,
        ticket_id: ticket.id,
        author_id: author.id,
        reply: json(reply),
        due_at: new Date(Date.now() + holdSeconds * 1_000),
        error: null,
      })
      .returningAll()
      .executeTakeFirstOrThrow()
    await ctx.jobs.enqueue<SendHeld>(trx, SEND_HELD, { heldReplyId: row.id }, holdSeconds)
    await tell(ctx, trx, ref)
    return row
  })
}

const tell = (ctx: Pick<Context, 'notifier'>, db: Db, { accountId, agentId, ticketNumber }: TicketRef) =>
  transact(db, (trx) =>
    publishDeskEvent(ctx, trx, { accountId, agentId }, { type: 'ticket', data: { ticketNumber } }),
  )

export async function heldRepliesOf(db: Db, ref: TicketRef): Promise<HeldRow[]> {
  const ticket = await requireTicket(db, ref)
  return db
    .selectFrom('held_replies')
    .selectAll()
    .where('account_id', '=', ref.accountId)
    .where('ticket_id', '=', ticket.id)
    .orderBy('created_at')
    .execute()
}

/** Removes a reply before it is sent, and returns it. Throws RESOURCE_NOT_FOUND. */
export async function takeBackReply(ctx: Deps, ref: TicketRef, id: string): Promise<HeldRow> {
  const ticket = await requireTicket(ctx.db, ref)
  const row = isId(id)
    ? await ctx.db
        .deleteFrom('held_replies')
        .where('account_id', '=', ref.accountId)
        .where('ticket_id', '=', ticket.id)
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirst()
    : undefined
  if (!row)
    throw new ApiError('RESOURCE_NOT_FOUND', { message: 'The reply has been sent or taken back already.' })
  await tell(ctx, ctx.db, ref)
  return row
}

/** Sends a reply whose time has come, unless it was taken back. It may run twice. */
export async function sendHeld(ctx: Deps, { heldReplyId }: SendHeld): Promise<void> {
  try {
    await transact(ctx.db, async (trx) => {
      // Whoever takes it back at the same moment waits for this transaction and finds nothing.
      const row = await trx
        .deleteFrom('held_replies')
        .where('id', '=', heldReplyId)
        .where('error', 'is', null)
        .returningAll()
        .executeTakeFirst()
      if (!row) return
      const ref = await refOf(trx, row)
      const { content, attachments = [], ...people } = row.reply
      const author = await requireMember(trx, row.account_id, { memberId: row.author_id })
      await replyToTicket({ ...ctx, db: trx }, ref, author, {
        text: content,
        html: rendered(content),
        attachmentIds: attachments,
        people,
      })
    })
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    await ctx.db
      .updateTable('held_replies')
      .set({ error: error.message })
      .where('id', '=', heldReplyId)
      .execute()
  }
}

async function refOf(db: Db, { account_id, agent_id, ticket_id }: HeldRow): Promise<TicketRef> {
  const { number } = await db
    .selectFrom('tickets')
    .select('number')
    .where('account_id', '=', account_id)
    .where('id', '=', ticket_id)
    .executeTakeFirstOrThrow()
  return { accountId: account_id, agentId: agent_id, ticketNumber: number }
}
