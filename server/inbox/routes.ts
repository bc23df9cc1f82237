import type { Context } from '../context.ts'
import { requireConversation } from '../conversations/records/queries.ts'
import type { Db } from '../platform/db/database.ts'
import { isId } from '../platform/db/ids.ts'
import { transact } from '../platform/db/statements/transact.ts'
import { ApiError } from '../platform/http/errors.ts'
import { refuseInvalid } from '../platform/http/input/validate.ts'
import { byCreation, decodeCursor, fingerprint, pageOf } from '../platform/http/pagination.ts'
import { type Route, route } from '../platform/http/route.ts'
import * as contract from './contract.ts'
import { retryDelivery } from './deliveries/settle-delivery.ts'
import { deskMailRoutes } from './mail/routes.ts'
import { addNote } from './messages/add-note.ts'
import type { TicketMessageRow } from './messages/add-ticket-message.ts'
import { settleHeldAnswer } from './messages/held-answers.ts'
import { deliveriesOf, findTicketMessage, messagesOfTicket } from './messages/list-ticket-messages.ts'
import { chosenIn, problemsOfPeople } from './messages/recipients.ts'
import { replyChannel } from './messages/reply-channel.ts'
import { problemsOfContent, rendered, replyToTicket } from './messages/reply-to-ticket.ts'
import { deskRoutes } from './settings/routes.ts'
import { spamRoutes } from './spam/routes.ts'
import { handBack, takeOver } from './takeover/take-over.ts'
import { authorOf, problemsOfName, requireAuthor } from './team/find-member.ts'
import { markOnline } from './team/mark-online.ts'
import { teamRoutes } from './team/routes.ts'
import { refuseInvalidChange } from './tickets/check-ticket-references.ts'
import { createTicket } from './tickets/create-ticket.ts'
import { endConversation } from './tickets/end-conversation.ts'
import { findTickets } from './tickets/list-tickets.ts'
import { presentListedTicket, presentReply, presentTicket, presentTicketMessage } from './tickets/present.ts'
import { findByWords } from './tickets/search-tickets.ts'
import { holdTicket, requireTicket, type TicketRow } from './tickets/ticket-queries.ts'
import { updateTicket } from './tickets/update-ticket.ts'
import { inboxRoutes } from './views/routes.ts'

export const helpdeskRoutes = (
  ctx: Pick<
    Context,
    'config' | 'db' | 'filesDir' | 'generations' | 'jobs' | 'log' | 'notifier' | 'secrets' | 'stopping'
  >,
): Route[] => [
  ...conversationRoutes(ctx),
  ...ticketRoutes(ctx),
  ...messageRoutes(ctx),
  ...deskMailRoutes(ctx),
  ...spamRoutes(ctx),
  ...teamRoutes(ctx),
  ...deskRoutes(ctx),
  ...inboxRoutes(ctx),
]

const conversationRoutes = (ctx: Pick<Context, 'config' | 'generations' | 'log' | 'notifier'>): Route[] => [
  route(
    contract.takeOverConversation,
    { check: ({ body }) => refuseInvalid(problemsOfName(body)) },
    async ({ db, ref, caller, body }) => {
      await requireConversation(db, ref)
      const member = await requireAuthor(db, caller, body)
      const { ticketNumber } = await takeOver({ ...ctx, db }, ref, member)
      await markOnline(ctx, db, caller)
      return { data: { id: ref.conversationId, status: 'taken_over' as const, ticketNumber } }
    },
  ),

  route(contract.handBackConversation, async ({ db, ref, caller }) => {
    await handBack({ ...ctx, db }, ref, caller.member?.id ?? null)
    return { data: { id: ref.conversationId, status: 'ongoing' as const } }
  }),

  route(contract.endConversation, async ({ db, ref, caller }) => {
    await endConversation({ ...ctx, db }, ref, caller.member?.id ?? null)
    return { data: { id: ref.conversationId, status: 'ended' as const } }
  }),
]

const ticketRoutes = (ctx: Pick<Context, 'config' | 'db' | 'generations' | 'notifier'>): Route[] => [
  route(
    contract.createTicket,
    { check: ({ body }) => refuseInvalidChange(body) },
    async ({ db, ref, body }) => presentTicket(await createTicket({ ...ctx, db }, ref, body)),
  ),

  route(contract.listTickets, async ({ ref, query }) => {
    const page = await findTickets(ctx.db, ref, query)
    const { cursor, hasMore, total } = page
    return {
      data: page.rows.map(presentListedTicket),
      pagination: { cursor, hasMore, ...(total === null ? {} : { total }) },
    }
  }),

  route(contract.searchTickets, async ({ db, ref, body }) => {
    const { rows, total, hasMore } = await findByWords(db, ref, body)
    return {
      data: rows.map(presentListedTicket),
      pagination: { cursor: null, hasMore, ...(total === null ? {} : { total }) },
    }
  }),

  route(contract.readTicket, async ({ ref }) => {
    return presentTicket(await requireTicket(ctx.db, ref))
  }),

  route(
    contract.updateTicket,
    { check: ({ body }) => refuseInvalidChange(body) },
    async ({ ref, caller, body }) =>
      presentTicket(await updateTicket(ctx, ref, body, caller.member?.id ?? 'api')),
  ),
]

const messageRoutes = (ctx: Pick<Context, 'config' | 'db' | 'log' | 'notifier' | 'secrets'>): Route[] => [
  route(contract.listTicketMessages, async ({ ref, query }) => {
    const ticket = await requireTicket(ctx.db, ref)
    const filter = { types: [...new Set(query.types.split(','))].sort(), order: query.order }
    const print = fingerprint('ticket-messages', ticket.id, filter)
    const position = decodeCursor(query.cursor, print)
    const { rows, total } = await messagesOfTicket(ctx.db, ticket, filter, { limit: query.limit, position })
    const deliveries = await deliveriesOf(ctx.db, ticket, rows)
    return pageOf(rows, query.limit, total, print, byCreation, (row) =>
      presentTicketMessage(ctx, row, stateOf(deliveries.get(row.id))),
    )
  }),

  route(
    contract.replyToTicket,
    {
      check: ({ body }) => authorOf(body, { ...problemsOfContent(body.content), ...problemsOfPeople(body) }),
    },
    async ({ db, ref, caller, body, checked: named }) => {
      const ticket = await requireTicket(db, ref)
      const author = await requireAuthor(db, caller, named)
      const html = rendered(body.content)
      const reply = {
        text: body.content,
        html,
        attachmentIds: body.attachments ?? [],
        people: chosenIn(body),
        heldAnswerId: body.heldAnswerId,
      }
      const message = await replyToTicket({ ...ctx, db }, ref, author, reply)
      await markOnline(ctx, db, caller)
      const deliveries = await deliveriesOf(db, ticket, [message])
      return presentReply(ctx, message, author, stateOf(deliveries.get(message.id)))
    },
  ),

  route(contract.readRecipients, async ({ ref }) => {
    const ticket = await requireTicket(ctx.db, ref)
    const conversation = ticket.conversation_id
      ? await requireConversation(ctx.db, { ...ref, conversationId: ticket.conversation_id })
      : null
    const way = await replyChannel(ctx.db, ticket, conversation)
    const { to = [], cc = [] } = way?.people ?? {}
    return { channel: way?.channel ?? null, to, cc }
  }),

  route(contract.retryTicketMessage, async ({ db, ref, params }) => {
    const ticket = await requireTicket(db, ref)
    const message = await requireMessage(db, ticket, params.messageId)
    const before = (await deliveriesOf(db, ticket, [message])).get(message.id)
    if (before) await retryDelivery(db, ref.accountId, before.id)
    const deliveries = await deliveriesOf(db, ticket, [message])
    return presentTicketMessage(ctx, message, stateOf(deliveries.get(message.id)))
  }),

  route(
    contract.discardHeldAnswer,
    { check: ({ body }) => authorOf(body) },
    async ({ db, ref, caller, params, checked: named }) => {
      await requireMessage(db, await requireTicket(db, ref), params.messageId)
      const author = await requireAuthor(db, caller, named)
      const note = await transact(db, async (trx) => {
        const { ticket } = await holdTicket(trx, ref)
        return settleHeldAnswer(trx, ticket, params.messageId, author, null)
      })
      return presentTicketMessage(ctx, note, undefined)
    },
  ),

  route(
    contract.addTicketNote,
    { check: ({ body }) => authorOf(body, problemsOfContent(body.content)) },
    async ({ db, ref, caller, body, checked: named }) => {
      await requireTicket(db, ref)
      const author = await requireAuthor(db, caller, named)
      const note = { text: body.content, html: rendered(body.content) }
      const message = await addNote({ ...ctx, db }, ref, author, note)
      return presentTicketMessage(ctx, message, undefined)
    },
  ),
]

const stateOf = (delivery: Parameters<typeof presentTicketMessage>[2]) =>
  delivery && { status: delivery.status, error: delivery.error }

async function requireMessage(db: Db, ticket: TicketRow, messageId: string): Promise<TicketMessageRow> {
  const message = isId(messageId) ? await findTicketMessage(db, ticket, messageId) : undefined
  if (!message) throw new ApiError('RESOURCE_NOT_FOUND', { message: 'The ticket has no such message.' })
  return message
}
