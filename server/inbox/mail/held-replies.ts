import type { Selectable } from 'kysely'
import type { Context } from '../../context.ts'
import type { Db, Trx } from '../../platform/db/database.ts'
import { isId, newId } from '../../platform/db/ids.ts'
import type { AgentRef, TicketRef } from '../../platform/db/refs.ts'
import { json } from '../../platform/db/statements/json.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import type { HeldRepliesTable, HeldReply } from '../../platform/db/tables/helpdesk.ts'
import { ApiError } from '../../platform/http/errors.ts'
import { requireHeldAnswer } from '../messages/held-answers.ts'
import { chosenPeople } from '../messages/recipients.ts'
import { replyChannel } from '../messages/reply-channel.ts'
import { rendered, replyToTicket } from '../messages/reply-to-ticket.ts'
import { type Member, requireMember } from '../team/find-member.ts'
import { publishDeskEvent } from '../tickets/publish-desk-event.ts'
import { holdTicket, requireTicket } from '../tickets/ticket-queries.ts'
import { forwardTicket, saidIn } from './forward-ticket.ts'
import { writeMail } from './write-mail.ts'

export const SEND_HELD = 'send-held-reply'
/** A task of its own: a process of an earlier version would send the note of a forward to the customer. */
export const SEND_HELD_MAIL = 'send-held-mail'

export type SendHeld = { heldReplyId: string }

export type HeldRow = Selectable<HeldRepliesTable>

type Deps = Pick<Context, 'db' | 'jobs' | 'notifier'>
type Timed = { author: Member; holdSeconds: number }

/** Stores a reply that is sent in some seconds. Throws what the reply would throw now. */
export async function holdReply(ctx: Deps, ref: TicketRef, reply: HeldReply, timed: Timed): Promise<HeldRow> {
  rendered(reply.content)
  return transact(ctx.db, async (trx) => {
    const { ticket, conversation } = await holdTicket(trx, ref)
    if (conversation && conversation.status !== 'taken_over')
      throw new ApiError('CONVERSATION_NOT_TAKEN_OVER')
    if (reply.heldAnswerId !== undefined) await requireHeldAnswer(trx, ticket, reply.heldAnswerId)
    chosenPeople(await replyChannel(trx, ticket, conversation), reply)
    const row = await hold(ctx, trx, ref, { kind: 'reply', ticketId: ticket.id, reply, ...timed })
    await tell(ctx, trx, ref)
    return row
  })
}

/** The same for messages of a ticket that are forwarded. */
export async function holdForward(
  ctx: Deps,
  ref: TicketRef,
  reply: HeldReply,
  timed: Timed,
): Promise<HeldRow> {
  return transact(ctx.db, async (trx) => {
    const ticket = await requireTicket(trx, ref)
    await saidIn(trx, ticket, reply.messageId ?? null)
    const row = await hold(ctx, trx, ref, { kind: 'forward', ticketId: ticket.id, reply, ...timed })
    await tell(ctx, trx, ref)
    return row
  })
}

/** The same for a mail that opens a ticket when it is sent. */
export async function holdMail(ctx: Deps, ref: AgentRef, reply: HeldReply, timed: Timed): Promise<HeldRow> {
  rendered(reply.content)
  return transact(ctx.db, (trx) => hold(ctx, trx, ref, { kind: 'mail', ticketId: null, reply, ...timed }))
}

type NewHeld = Timed & { kind: HeldRow['kind']; ticketId: string | null; reply: HeldReply }

async function hold(
  { jobs }: Pick<Context, 'jobs'>,
  trx: Trx,
  { accountId, agentId }: AgentRef,
  { kind, ticketId, reply, author, holdSeconds }: NewHeld,
): Promise<HeldRow> {
  const row = await trx
    .insertInto('held_replies')
    .values({
      id: newId(),
      account_id: accountId,
      agent_id: agentId,
      ticket_id: ticketId,
      kind,
      author_id: author.id,
      reply: json(reply),
      due_at: new Date(Date.now() + holdSeconds * 1_000),
      error: null,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  const task = kind === 'reply' ? SEND_HELD : SEND_HELD_MAIL
  await jobs.enqueue<SendHeld>(trx, task, { heldReplyId: row.id }, holdSeconds)
  return row
}

const tell = (ctx: Pick<Context, 'notifier'>, trx: Trx, { accountId, agentId, ticketNumber }: TicketRef) =>
  publishDeskEvent(ctx, trx, { accountId, agentId }, { type: 'ticket', data: { ticketNumber } })

export async function heldRepliesOf(db: Db, ref: TicketRef): Promise<HeldRow[]> {
  const ticket = await requireTicket(db, ref)
  return db
    .selectFrom('held_replies')
    .selectAll()
    .where('account_id', '=', ref.accountId)
    .where('ticket_id', '=', ticket.id)
    .where('kind', '=', 'reply')
    .orderBy('created_at')
    .execute()
}

/** Returns the new mails and forwards of an agent that are not sent, each with the number of its ticket. */
export const heldMailsOf = (db: Db, { accountId, agentId }: AgentRef) =>
  db
    .selectFrom('held_replies')
    .leftJoin('tickets', (join) =>
      join.onRef('tickets.id', '=', 'held_replies.ticket_id').on('tickets.account_id', '=', accountId),
    )
    .selectAll('held_replies')
    .select('tickets.number')
    .where('held_replies.account_id', '=', accountId)
    .where('held_replies.agent_id', '=', agentId)
    .where('held_replies.kind', '<>', 'reply')
    .orderBy('held_replies.created_at')
    .execute()

/** Removes a reply before it is sent, and returns it. Throws RESOURCE_NOT_FOUND. */
export async function takeBackReply(ctx: Deps, ref: TicketRef, id: string): Promise<HeldRow> {
  const ticket = await requireTicket(ctx.db, ref)
  return transact(ctx.db, async (trx) => {
    const row = await takeBack(
      trx,
      ref,
      id,
      ({ kind, ticket_id }) => kind === 'reply' && ticket_id === ticket.id,
    )
    await tell(ctx, trx, ref)
    return row
  })
}

/** The same for a new mail or a forward. Returns it with the number of its ticket. */
export async function takeBackMail(ctx: Deps, ref: AgentRef, id: string) {
  return transact(ctx.db, async (trx) => {
    const row = await takeBack(trx, ref, id, ({ kind }) => kind !== 'reply')
    if (row.ticket_id === null) return { ...row, number: null }
    const place = await refOf(trx, { ...row, ticket_id: row.ticket_id })
    await tell(ctx, trx, place)
    return { ...row, number: place.ticketNumber }
  })
}

async function takeBack(
  trx: Trx,
  { accountId, agentId }: AgentRef,
  id: string,
  isMeant: (row: HeldRow) => boolean,
): Promise<HeldRow> {
  const row = isId(id)
    ? await trx
        .deleteFrom('held_replies')
        .where('account_id', '=', accountId)
        .where('agent_id', '=', agentId)
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirst()
    : undefined
  // What was deleted wrongly comes back with the transaction.
  if (!row || !isMeant(row))
    throw new ApiError('RESOURCE_NOT_FOUND', { message: 'It has been sent or taken back already.' })
  return row
}

/** Sends what waits if its time has come, unless it was taken back. It may run twice. */
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
      await send(
        { ...ctx, db: trx },
        row,
        await requireMember(trx, row.account_id, { memberId: row.author_id }),
      )
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

async function send(ctx: Deps, row: HeldRow, author: Member): Promise<void> {
  const {
    content,
    attachments: attachmentIds = [],
    subject = '',
    name,
    messageId,
    heldAnswerId,
    ...people
  } = row.reply
  const { kind, ticket_id } = row
  const reply = { text: content, attachmentIds, people }
  if (ticket_id === null) {
    const ref = { accountId: row.account_id, agentId: row.agent_id }
    await writeMail(ctx, ref, author, { ...reply, subject, name })
    return
  }
  const ref = await refOf(ctx.db, { ...row, ticket_id })
  if (kind === 'reply')
    await replyToTicket(ctx, ref, author, { ...reply, html: rendered(content), heldAnswerId })
  else await forwardTicket(ctx, ref, author, { people, note: content || null, messageId: messageId ?? null })
}

async function refOf(
  db: Db,
  { account_id, agent_id, ticket_id }: Pick<HeldRow, 'account_id' | 'agent_id'> & { ticket_id: string },
): Promise<TicketRef> {
  const { number } = await db
    .selectFrom('tickets')
    .select('number')
    .where('account_id', '=', account_id)
    .where('id', '=', ticket_id)
    .executeTakeFirstOrThrow()
  return { accountId: account_id, agentId: agent_id, ticketNumber: number }
}
