import type { Context } from '../../context.ts'
import { textOf } from '../../conversations/records/parts.ts'
import type { Trx } from '../../platform/db/database.ts'
import { isId } from '../../platform/db/ids.ts'
import type { TicketRef } from '../../platform/db/refs.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import type { AttachmentNote } from '../../platform/db/tables/attachments.ts'
import { ApiError } from '../../platform/http/errors.ts'
import { escapeHtml, textAsHtml } from '../../platform/text/safety/escape-html.ts'
import { enqueueDelivery } from '../deliveries/enqueue-delivery.ts'
import { addTicketMessage, type TicketMessageRow } from '../messages/add-ticket-message.ts'
import { findTicketMessage } from '../messages/list-ticket-messages.ts'
import { type ChosenPeople, chosenPeople } from '../messages/recipients.ts'
import { renderMarkdown } from '../messages/render/render-markdown.ts'
import type { Member } from '../team/find-member.ts'
import { publishDeskEvent } from '../tickets/publish-desk-event.ts'
import { requireTicket, type TicketRow } from '../tickets/ticket-queries.ts'

/** The most messages of one mail; the newest are kept. */
const MAX_MESSAGES = 200

type Forward = { people: ChosenPeople; note: string | null; messageId: string | null }
type Said = { who: string; at: Date; text: string; html: string; attachments: AttachmentNote[] }

/** Forwards messages of a ticket by email, and adds a note about it to the ticket. Throws RESOURCE_NOT_FOUND. */
export async function forwardTicket(
  ctx: Pick<Context, 'db' | 'notifier'>,
  ref: TicketRef,
  author: Member,
  { people: chosen, note, messageId }: Forward,
): Promise<TicketMessageRow> {
  const { accountId, agentId, ticketNumber } = ref
  const nobody = { to: [], cc: [], bcc: [] }
  const people = chosenPeople({ channel: 'email', threadId: null, people: nobody }, chosen) ?? nobody
  return transact(ctx.db, async (trx) => {
    const ticket = await requireTicket(trx, ref, true)
    const said = await saidIn(trx, ticket, messageId)
    const attachments = said.flatMap((message) => message.attachments)
    const named = [...people.to, ...people.cc, ...people.bcc].map(({ address }) => address).join(', ')
    const what = messageId === null ? 'all messages' : `the message of ${said[0]?.who}`
    const text = [`Forwarded ${what} to ${named}.`, note].filter(Boolean).join('\n\n')
    const message = await addTicketMessage(trx, ticket, {
      type: 'note',
      sender: { type: 'agent', id: author.id, name: author.name, email: author.email },
      content: renderMarkdown(text),
      contentText: text,
      metadata: { mail: people, forwarded: { messageId } },
    })
    await enqueueDelivery(trx, {
      accountId,
      agentId,
      channel: 'email',
      threadId: null,
      conversationId: null,
      ticketId: ticket.id,
      messageId: null,
      ticketMessageId: message.id,
      content: {
        ...contentOf(said, note),
        attachments,
        people,
        subject: `Fwd: ${ticket.subject ?? `Ticket ${ticket.number}`}`,
        isForward: true,
      },
    })
    await publishDeskEvent(
      ctx,
      trx,
      { accountId, agentId },
      { type: 'message', data: { ticketNumber, messageId: message.id } },
    )
    return message
  })
}

function contentOf(said: Said[], note: string | null): { text: string; html: string } {
  const texts = said.map(({ who, at, text }) => `From: ${who}\nDate: ${at.toUTCString()}\n\n${text}`)
  const pages = said.map(
    ({ who, at, html }) =>
      `<p><strong>${escapeHtml(who)}</strong><br />${escapeHtml(at.toUTCString())}</p><blockquote>${html}</blockquote>`,
  )
  const line = '---------- Forwarded message ----------'
  return {
    text: [...(note === null ? [] : [note]), line, ...texts].join('\n\n'),
    html: [...(note === null ? [] : [renderMarkdown(note)]), `<p>${line}</p>`, ...pages].join('\n'),
  }
}

const saidBy = ({ sender, created_at, content, content_text, attachments }: TicketMessageRow): Said => ({
  who: [sender?.name, sender?.email && `<${sender.email}>`].filter(Boolean).join(' ') || 'Visitor',
  at: created_at,
  text: content_text ?? '',
  html: content ?? textAsHtml(content_text ?? ''),
  attachments,
})

/** Returns what would be forwarded: one message, or all of the ticket. Throws RESOURCE_NOT_FOUND. */
export async function saidIn(trx: Trx, ticket: TicketRow, messageId: string | null): Promise<Said[]> {
  const said = messageId === null ? await allOf(trx, ticket) : [await oneOf(trx, ticket, messageId)]
  if (said.length > 0) return said
  throw new ApiError('RESOURCE_NOT_FOUND', { message: 'The ticket has no messages to forward.' })
}

async function oneOf(trx: Trx, ticket: TicketRow, messageId: string): Promise<Said> {
  const row = isId(messageId) ? await findTicketMessage(trx, ticket, messageId) : undefined
  if (row?.type !== 'reply')
    throw new ApiError('RESOURCE_NOT_FOUND', { message: 'The ticket has no such message.' })
  return saidBy(row)
}

/** What was said to the agent before the ticket comes first. */
async function allOf(trx: Trx, ticket: TicketRow): Promise<Said[]> {
  const rows = await trx
    .selectFrom('ticket_messages')
    .selectAll()
    .where('account_id', '=', ticket.account_id)
    .where('ticket_id', '=', ticket.id)
    .where('type', '=', 'reply')
    .orderBy('created_at', 'desc')
    .limit(MAX_MESSAGES)
    .execute()
  const replies = rows.toReversed().map(saidBy)
  return [...(await earlier(trx, ticket, rows)), ...replies].slice(-MAX_MESSAGES)
}

async function earlier(trx: Trx, ticket: TicketRow, rows: TicketMessageRow[]): Promise<Said[]> {
  if (ticket.conversation_id === null) return []
  const copied = rows.flatMap(({ message_id }) => message_id ?? [])
  const before = await trx
    .selectFrom('messages')
    .select(['role', 'parts', 'created_at'])
    .where('account_id', '=', ticket.account_id)
    .where('conversation_id', '=', ticket.conversation_id)
    .where('created_at', '<', rows.at(-1)?.created_at ?? new Date())
    .$if(copied.length > 0, (query) => query.where('id', 'not in', copied))
    .orderBy('seq', 'desc')
    .limit(MAX_MESSAGES)
    .execute()
  return before.toReversed().flatMap((message) => {
    const text = textOf(message)
    const who = message.role === 'user' ? (ticket.customer.name ?? 'Visitor') : 'Agent'
    return text === '' ? [] : [{ who, at: message.created_at, text, html: textAsHtml(text), attachments: [] }]
  })
}
