import { createHash, randomBytes } from 'node:crypto'
import type { Config } from '../../config.ts'
import type { ConversationRow } from '../../conversations/records/queries.ts'
import type { Trx } from '../../platform/db/database.ts'
import { newId } from '../../platform/db/ids.ts'
import { originOf } from '../../platform/http/server/own-origin.ts'
import { textAsHtml } from '../../platform/text/safety/escape-html.ts'
import { enqueueDelivery } from '../deliveries/enqueue-delivery.ts'
import { addTicketMessage, noteMessage } from '../messages/add-ticket-message.ts'
import { renderMarkdown } from '../messages/render/render-markdown.ts'
import { replyChannel } from '../messages/reply-channel.ts'
import type { TicketRow } from '../tickets/ticket-queries.ts'

export const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex')

/** Sends the survey of a closed ticket once, if the agent's settings say so and a channel reaches the customer. */
export async function sendSurvey(
  config: Pick<Config, 'publicUrl' | 'host' | 'port'>,
  trx: Trx,
  ticket: TicketRow,
  conversation: ConversationRow | null,
): Promise<void> {
  const settings = await trx
    .selectFrom('helpdesk_settings')
    .select('survey_enabled')
    .where('account_id', '=', ticket.account_id)
    .where('agent_id', '=', ticket.agent_id)
    .executeTakeFirst()
  const way = settings?.survey_enabled ? await replyChannel(trx, ticket, conversation) : null
  if (!way) return
  const token = randomBytes(24).toString('base64url')
  const added = await trx
    .insertInto('ticket_surveys')
    .values({
      id: newId(),
      account_id: ticket.account_id,
      agent_id: ticket.agent_id,
      ticket_id: ticket.id,
      token_hash: hashOf(token),
      rating: null,
      comment: null,
    })
    .onConflict((conflict) => conflict.column('ticket_id').doNothing())
    .executeTakeFirst()
  if (!added.numInsertedOrUpdatedRows) return
  const address = `${originOf(config)}/surveys/${token}`
  const text = `How did we do? Please tell us: ${address}`
  // The team sees that the survey was sent, but not the customer's link.
  const message = await addTicketMessage(trx, ticket, {
    type: 'reply',
    sender: { type: 'system', id: null, name: null, email: null },
    content: textAsHtml(ASKED),
    contentText: ASKED,
    metadata: { survey: true },
  })
  await noteMessage(trx, ticket, message)
  await enqueueDelivery(trx, {
    accountId: ticket.account_id,
    agentId: ticket.agent_id,
    ...way,
    conversationId: conversation?.id ?? null,
    ticketId: ticket.id,
    messageId: null,
    ticketMessageId: message.id,
    content: { text, html: renderMarkdown(text) },
  })
}

const ASKED = 'The satisfaction survey was sent to the customer.'
