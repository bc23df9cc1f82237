import { requireAgent } from '../../agents/records/find-agent.ts'
import type { Context } from '../../context.ts'
import { takeUploads } from '../../conversations/attachments/uploads.ts'
import { appendMessage } from '../../conversations/records/append-message.ts'
import type { ConversationRow } from '../../conversations/records/queries.ts'
import { setStatus } from '../../conversations/records/set-status.ts'
import type { Trx } from '../../platform/db/database.ts'
import type { TicketRef } from '../../platform/db/refs.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import type { AttachmentNote } from '../../platform/db/tables/attachments.ts'
import type { DeliveryContent } from '../../platform/db/tables/deliveries.ts'
import { ApiError } from '../../platform/http/errors.ts'
import type { Details } from '../../platform/http/input/validate.ts'
import { clocksAfterReply } from '../clocks/ticket-clocks.ts'
import { enqueueDelivery } from '../deliveries/enqueue-delivery.ts'
import { fillVariables } from '../settings/fill-variables.ts'
import { readSettings } from '../settings/settings.ts'
import type { Member } from '../team/find-member.ts'
import { applyTicketChange, defaultStatus } from '../tickets/apply-ticket-change.ts'
import { publishDeskEvent } from '../tickets/publish-desk-event.ts'
import { holdTicket, ownerOf, type TicketRow } from '../tickets/ticket-queries.ts'
import { addTicketMessage, noteMessage, type TicketMessageRow } from './add-ticket-message.ts'
import { settleHeldAnswer } from './held-answers.ts'
import { type ChosenPeople, chosenPeople } from './recipients.ts'
import { renderMarkdown, showsNothing } from './render/render-markdown.ts'
import { type ReplyChannel, replyChannel } from './reply-channel.ts'

const MAX_LENGTH = 10_000

/** Returns the problem of a text that is empty or too long. The text is stored as it was submitted. */
export function problemsOfContent(content: string): Details {
  const text = content.trim()
  if (text === '') return { content: 'Must not be empty.' }
  // Counts characters as schemas do, and not UTF-16 units.
  return [...text].length > MAX_LENGTH ? { content: `Must have at most ${MAX_LENGTH} characters.` } : {}
}

/** Returns the HTML of Markdown. Throws MESSAGE_CONTENT_NOT_RENDERABLE when it would render as nothing. */
export function rendered(text: string): string {
  const html = renderMarkdown(text)
  if (showsNothing(html)) throw new ApiError('MESSAGE_CONTENT_NOT_RENDERABLE')
  return html
}

export type Reply = {
  text: string
  html: string
  attachmentIds: string[]
  people: ChosenPeople
  /** The note of a held answer that the reply sends, as it is or changed. */
  heldAnswerId?: string | undefined
  /** Of a mail that begins a thread. */
  subject?: string
}

/**
 * Stores a team member's reply on the ticket, in its conversation, and as a delivery if the customer is on a
 * channel. Throws CONVERSATION_NOT_TAKEN_OVER when the ticket has a conversation that no person has taken over.
 */
export async function replyToTicket(
  ctx: Pick<Context, 'db' | 'notifier'>,
  ref: TicketRef,
  author: Member,
  reply: Reply,
): Promise<TicketMessageRow> {
  const { accountId, agentId } = ref
  return transact(ctx.db, async (trx) => {
    const { ticket, conversation } = await holdTicket(trx, ref)
    if (conversation && conversation.status !== 'taken_over')
      throw new ApiError('CONVERSATION_NOT_TAKEN_OVER')
    // The member who had it has left the team.
    if (conversation?.taken_over_by === null)
      await setStatus(trx, accountId, conversation.id, 'taken_over', author.id)
    const attachments = await takeUploads(trx, ref, reply.attachmentIds, {
      sender: null,
      ticketId: ticket.id,
      conversationId: ticket.conversation_id,
    })
    const way = await replyChannel(trx, ticket, conversation)
    const people = chosenPeople(way, reply.people)
    const messageId = conversation ? await say(trx, conversation, author, reply.text, attachments) : null
    const message = await addTicketMessage(trx, ticket, {
      type: 'reply',
      sender: { type: 'agent', id: author.id, name: author.name, email: author.email },
      content: reply.html,
      contentText: reply.text,
      attachments,
      messageId,
      metadata: people ? { mail: people } : null,
    })
    if (way) {
      const signature = people ? await signatureOf(trx, ticket, author) : null
      const more = {
        ...(signature === null ? {} : { signature }),
        ...(reply.subject === undefined ? {} : { subject: reply.subject }),
      }
      await deliver(trx, ticket, { ...way, people }, message, attachments, more)
    }
    if (reply.heldAnswerId !== undefined)
      await settleHeldAnswer(trx, ticket, reply.heldAnswerId, author, reply.text)
    await noteMessage(trx, ticket, message)
    await clocksAfterReply(trx, ticket)
    await moveAfterReply(trx, ticket, author.id)
    await publishDeskEvent(
      ctx,
      trx,
      { accountId, agentId },
      {
        type: 'message',
        data: { ticketNumber: ticket.number, messageId: message.id },
      },
    )
    return message
  })
}

function say(
  trx: Trx,
  conversation: ConversationRow,
  author: Member,
  text: string,
  attachments: AttachmentNote[],
): Promise<string> {
  return appendMessage(trx, conversation, {
    role: 'assistant',
    parts: [{ type: 'text', text }],
    metadata: {
      author: { type: 'human_agent', name: author.name, memberId: author.id },
      ...(attachments.length > 0 ? { attachments } : {}),
    },
  })
}

async function deliver(
  trx: Trx,
  ticket: TicketRow,
  { channel, threadId, people }: ReplyChannel,
  message: TicketMessageRow,
  attachments: AttachmentNote[],
  more: Pick<DeliveryContent, 'signature' | 'subject'>,
): Promise<void> {
  await enqueueDelivery(trx, {
    accountId: ticket.account_id,
    agentId: ticket.agent_id,
    channel,
    threadId,
    conversationId: ticket.conversation_id,
    ticketId: ticket.id,
    messageId: message.message_id,
    ticketMessageId: message.id,
    content: {
      text: message.content_text ?? '',
      ...(message.content === null ? {} : { html: message.content }),
      ...(attachments.length > 0 ? { attachments } : {}),
      ...(people ? { people } : {}),
      ...more,
    },
  })
}

/** Returns what mails of this member end with, or null. */
async function signatureOf(trx: Trx, ticket: TicketRow, author: Member): Promise<string | null> {
  const { signature } = await readSettings(trx, ownerOf(ticket))
  if (signature === null) return null
  const agent = await requireAgent(trx, ownerOf(ticket))
  return fillVariables(signature, { ticket, author, agent }).content.trim() || null
}

/** After a reply, a ticket that waited for the team waits for the customer. */
async function moveAfterReply(trx: Trx, ticket: TicketRow, memberId: string): Promise<void> {
  if (ticket.status_category !== 'new' && ticket.status_category !== 'on_you') return
  await applyTicketChange(
    trx,
    ticket,
    { status: await defaultStatus(trx, ownerOf(ticket), 'on_customer') },
    memberId,
  )
}
