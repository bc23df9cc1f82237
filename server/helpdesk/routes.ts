import { requireAgent } from '../agents/records/find-agent.ts'
import type { Context } from '../context.ts'
import { requireConversation } from '../conversations/records/queries.ts'
import type { Db } from '../db/database.ts'
import { isId } from '../db/ids.ts'
import type { AccountId } from '../db/tables/columns.ts'
import { retryDelivery } from '../deliveries/settle-delivery.ts'
import { ApiError } from '../http/errors.ts'
import { refuseInvalid } from '../http/input/validate.ts'
import { byCreation, decodeCursor, fingerprint, pageOf } from '../http/pagination.ts'
import { type Route, route } from '../http/route.ts'
import * as contract from './contract.ts'
import { deskRoutes } from './desk/routes.ts'
import { addNote } from './messages/add-note.ts'
import { deliveriesOf, findTicketMessage, messagesOfTicket } from './messages/list-ticket-messages.ts'
import { problemsOfContent, rendered, replyToTicket } from './messages/reply-to-ticket.ts'
import { endConversation, handBack, takeOver } from './takeover/take-over.ts'
import { authorOf, problemsOfName, requireAuthor } from './team/find-member.ts'
import { teamRoutes } from './team/routes.ts'
import { createTicket } from './tickets/create-ticket.ts'
import { findTickets } from './tickets/list-tickets.ts'
import { presentListedTicket, presentReply, presentTicket, presentTicketMessage } from './tickets/present.ts'
import { findByWords } from './tickets/search-tickets.ts'
import { requireTicket } from './tickets/ticket-queries.ts'
import { updateTicket } from './tickets/update-ticket.ts'

export const helpdeskRoutes = (ctx: Context): Route[] => [
  ...conversationRoutes(ctx),
  ...ticketRoutes(ctx),
  ...messageRoutes(ctx),
  ...teamRoutes(ctx),
  ...deskRoutes(ctx),
]

const conversationRoutes = (ctx: Context): Route[] => [
  route(contract.takeOverConversation, async ({ db, caller, params, body }) => {
    const { account } = caller
    refuseInvalid(problemsOfName(body))
    await requireAgent(db, account.id, params.agentId)
    await requireConversation(db, account.id, params.agentId, params.conversationId)
    const member = await requireAuthor(db, caller, body)
    const { ticketNumber } = await takeOver({ ...ctx, db }, { accountId: account.id, ...params }, member)
    return { data: { id: params.conversationId, status: 'taken_over' as const, ticketNumber } }
  }),

  route(contract.handBackConversation, async ({ db, caller: { account }, params }) => {
    await requireAgent(db, account.id, params.agentId)
    await handBack({ ...ctx, db }, { accountId: account.id, ...params })
    return { data: { id: params.conversationId, status: 'ongoing' as const } }
  }),

  route(contract.endConversation, async ({ db, caller: { account }, params }) => {
    await requireAgent(db, account.id, params.agentId)
    await endConversation({ ...ctx, db }, { accountId: account.id, ...params })
    return { data: { id: params.conversationId, status: 'ended' as const } }
  }),
]

const ticketRoutes = (ctx: Context): Route[] => [
  route(contract.createTicket, async ({ db, caller: { account }, params, body }) =>
    presentTicket(await createTicket({ ...ctx, db }, { accountId: account.id, ...params }, body)),
  ),

  route(contract.listTickets, async ({ caller: { account }, params, query }) => {
    const page = await findTickets(ctx.db, { accountId: account.id, ...params }, query)
    const { cursor, hasMore, total } = page
    return {
      data: page.rows.map(presentListedTicket),
      pagination: { cursor, hasMore, ...(total === null ? {} : { total }) },
    }
  }),

  route(contract.searchTickets, async ({ db, caller: { account }, params, body }) => {
    await requireAgent(db, account.id, params.agentId)
    const { rows, total } = await findByWords(db, { accountId: account.id, ...params }, body)
    return {
      data: rows.map(presentListedTicket),
      pagination: { cursor: null, hasMore: total > rows.length, total },
    }
  }),

  route(contract.readTicket, async ({ caller: { account }, params }) => {
    await requireAgent(ctx.db, account.id, params.agentId)
    return presentTicket(await requireTicket(ctx.db, { accountId: account.id, ...params }))
  }),

  route(contract.updateTicket, async ({ caller: { account }, params, body }) =>
    presentTicket(await updateTicket(ctx, { accountId: account.id, ...params }, body)),
  ),
]

const messageRoutes = (ctx: Context): Route[] => [
  route(contract.listTicketMessages, async ({ caller: { account }, params, query }) => {
    const ticket = await ticketOf(ctx.db, account.id, params)
    const filter = { types: [...new Set(query.types.split(','))].sort(), order: query.order }
    const print = fingerprint('ticket-messages', ticket.id, filter)
    const position = decodeCursor(query.cursor, print)
    const { rows, total } = await messagesOfTicket(ctx.db, ticket, filter, { limit: query.limit, position })
    const deliveries = await deliveriesOf(ctx.db, ticket, rows)
    return pageOf(rows, query.limit, total, print, byCreation, (row) =>
      presentTicketMessage(ctx, row, stateOf(deliveries.get(row.id))),
    )
  }),

  route(contract.replyToTicket, async ({ db, caller, params, body }) => {
    const { account } = caller
    const named = authorOf(body, problemsOfContent(body.content))
    const place = { accountId: account.id, ...params }
    const ticket = await ticketOf(db, account.id, params)
    const author = await requireAuthor(db, caller, named)
    const html = rendered(body.content)
    const reply = { text: body.content, html, attachmentIds: body.attachments ?? [] }
    const message = await replyToTicket({ ...ctx, db }, place, author, reply)
    const deliveries = await deliveriesOf(db, ticket, [message])
    return presentReply(ctx, message, author, stateOf(deliveries.get(message.id)))
  }),

  route(contract.retryTicketMessage, async ({ db, caller: { account }, params }) => {
    const ticket = await ticketOf(db, account.id, params)
    const message = isId(params.messageId) ? await findTicketMessage(db, ticket, params.messageId) : undefined
    if (!message) {
      throw new ApiError('RESOURCE_NOT_FOUND', { message: 'The ticket has no such message.' })
    }
    const before = (await deliveriesOf(db, ticket, [message])).get(message.id)
    if (before) await retryDelivery(db, account.id, before.id)
    const deliveries = await deliveriesOf(db, ticket, [message])
    return presentTicketMessage(ctx, message, stateOf(deliveries.get(message.id)))
  }),

  route(contract.addTicketNote, async ({ db, caller, params, body }) => {
    const { account } = caller
    const named = authorOf(body, problemsOfContent(body.content))
    await ticketOf(db, account.id, params)
    const author = await requireAuthor(db, caller, named)
    const note = { text: body.content, html: rendered(body.content) }
    const message = await addNote({ ...ctx, db }, { accountId: account.id, ...params }, author, note)
    return presentTicketMessage(ctx, message, undefined)
  }),
]

async function ticketOf(
  db: Db,
  accountId: AccountId,
  { agentId, ticketNumber }: { agentId: string; ticketNumber: number },
) {
  await requireAgent(db, accountId, agentId)
  return requireTicket(db, { accountId, agentId, ticketNumber })
}

const stateOf = (delivery: Parameters<typeof presentTicketMessage>[2]) =>
  delivery && { status: delivery.status, error: delivery.error }
