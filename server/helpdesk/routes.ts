import { requireAgent } from '../agents/find-agent.ts'
import type { Context } from '../context.ts'
import { requireConversation } from '../conversations/queries.ts'
import { isId } from '../db/ids.ts'
import type { AccountId } from '../db/tables.ts'
import { retryDelivery } from '../deliveries/settle-delivery.ts'
import { ApiError } from '../http/errors.ts'
import { byCreation, decodeCursor, fingerprint, pageOf } from '../http/pagination.ts'
import { type Route, route } from '../http/route.ts'
import { refuseInvalid } from '../http/validate.ts'
import { addNote } from './add-note.ts'
import * as contract from './contract.ts'
import { createTicket } from './create-ticket.ts'
import { deskRoutes } from './desk/routes.ts'
import { authorOf, problemsOfName, requireMember } from './find-member.ts'
import { deliveriesOf, findTicketMessage, messagesOfTicket } from './list-ticket-messages.ts'
import { findTickets } from './list-tickets.ts'
import { presentListedTicket, presentTicket, presentTicketMessage } from './present.ts'
import { problemsOfContent, rendered, replyToTicket } from './reply-to-ticket.ts'
import { findByWords } from './search-tickets.ts'
import { endConversation, handBack, takeOver } from './take-over.ts'
import { teamRoutes } from './team/routes.ts'
import { requireTicket } from './ticket-queries.ts'
import { updateTicket } from './update-ticket.ts'

export const helpdeskRoutes = (ctx: Context): Route[] => [
  ...conversationRoutes(ctx),
  ...ticketRoutes(ctx),
  ...messageRoutes(ctx),
  ...teamRoutes(ctx),
  ...deskRoutes(ctx),
]

const conversationRoutes = (ctx: Context): Route[] => [
  route(contract.takeOverConversation, async ({ caller: { account }, params, body }) => {
    refuseInvalid(problemsOfName(body))
    await requireAgent(ctx.db, account.id, params.agentId)
    await requireConversation(ctx.db, account.id, params.agentId, params.conversationId)
    const member = await requireMember(ctx.db, account.id, body)
    const { ticketNumber } = await takeOver(ctx, { accountId: account.id, ...params }, member)
    return { data: { id: params.conversationId, status: 'taken_over' as const, ticketNumber } }
  }),

  route(contract.handBackConversation, async ({ caller: { account }, params }) => {
    await requireAgent(ctx.db, account.id, params.agentId)
    await handBack(ctx, { accountId: account.id, ...params })
    return { data: { id: params.conversationId, status: 'ongoing' as const } }
  }),

  route(contract.endConversation, async ({ caller: { account }, params }) => {
    await requireAgent(ctx.db, account.id, params.agentId)
    await endConversation(ctx, { accountId: account.id, ...params })
    return { data: { id: params.conversationId, status: 'ended' as const } }
  }),
]

const ticketRoutes = (ctx: Context): Route[] => [
  route(contract.createTicket, async ({ caller: { account }, params, body }) =>
    presentTicket(await createTicket(ctx, { accountId: account.id, ...params }, body)),
  ),

  route(contract.listTickets, async ({ caller: { account }, params, query }) => {
    const page = await findTickets(ctx.db, { accountId: account.id, ...params }, query)
    const { cursor, hasMore, total } = page
    return {
      data: page.rows.map(presentListedTicket),
      pagination: { cursor, hasMore, ...(total === null ? {} : { total }) },
    }
  }),

  route(contract.searchTickets, async ({ caller: { account }, params, body }) => {
    await requireAgent(ctx.db, account.id, params.agentId)
    const { rows, total } = await findByWords(ctx.db, { accountId: account.id, ...params }, body)
    return {
      data: rows.map(presentListedTicket),
      pagination: { cursor: null, hasMore: false, total },
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
    const ticket = await ticketOf(ctx, account.id, params)
    const filter = { types: [...new Set(query.types.split(','))].sort(), order: query.order }
    const print = fingerprint('ticket-messages', ticket.id, filter)
    const position = decodeCursor(query.cursor, print)
    const { rows, total } = await messagesOfTicket(ctx.db, ticket, filter, { limit: query.limit, position })
    const deliveries = await deliveriesOf(ctx.db, ticket, rows)
    return pageOf(rows, query.limit, total, print, byCreation, (row) =>
      presentTicketMessage(ctx, row, stateOf(deliveries.get(row.id))),
    )
  }),

  route(contract.replyToTicket, async ({ caller: { account }, params, body }) => {
    const named = authorOf(body, problemsOfContent(body.content))
    const place = { accountId: account.id, ...params }
    const ticket = await ticketOf(ctx, account.id, params)
    const author = await requireMember(ctx.db, account.id, named)
    const html = rendered(body.content)
    const reply = { text: body.content, html, attachmentIds: body.attachments ?? [] }
    const message = await replyToTicket(ctx, place, author, reply)
    const deliveries = await deliveriesOf(ctx.db, ticket, [message])
    return presentTicketMessage(ctx, message, stateOf(deliveries.get(message.id)))
  }),

  route(contract.retryTicketMessage, async ({ caller: { account }, params }) => {
    const ticket = await ticketOf(ctx, account.id, params)
    const message = isId(params.messageId)
      ? await findTicketMessage(ctx.db, ticket, params.messageId)
      : undefined
    if (!message) {
      throw new ApiError('RESOURCE_NOT_FOUND', { message: 'The ticket has no such message.' })
    }
    const before = (await deliveriesOf(ctx.db, ticket, [message])).get(message.id)
    if (before) await retryDelivery(ctx.db, before.id)
    const deliveries = await deliveriesOf(ctx.db, ticket, [message])
    return presentTicketMessage(ctx, message, stateOf(deliveries.get(message.id)))
  }),

  route(contract.addTicketNote, async ({ caller: { account }, params, body }) => {
    const named = authorOf(body, problemsOfContent(body.content))
    await ticketOf(ctx, account.id, params)
    const author = await requireMember(ctx.db, account.id, named)
    const note = { text: body.content, html: rendered(body.content) }
    const message = await addNote(ctx, { accountId: account.id, ...params }, author, note)
    return presentTicketMessage(ctx, message, undefined)
  }),
]

async function ticketOf(
  { db }: Context,
  accountId: AccountId,
  { agentId, ticketNumber }: { agentId: string; ticketNumber: number },
) {
  await requireAgent(db, accountId, agentId)
  return requireTicket(db, { accountId, agentId, ticketNumber })
}

const stateOf = (delivery: Parameters<typeof presentTicketMessage>[2]) =>
  delivery && { status: delivery.status, error: delivery.error }
