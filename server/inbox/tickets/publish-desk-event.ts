import { sql } from 'kysely'
import type { Trx } from '../../platform/db/database.ts'
import type { Notifier } from '../../platform/db/notifier.ts'
import type { AgentRef, ConversationRef } from '../../platform/db/refs.ts'
import { json } from '../../platform/db/statements/json.ts'

/** An event for those who follow a help desk. Its data says what has changed, without the content. */
type HelpdeskEvent =
  | { type: 'ticket'; data: { ticketNumber: number } }
  | { type: 'message'; data: { ticketNumber: number; messageId: string } }
  | { type: 'mention'; data: { ticketNumber: number; messageId: string; memberId: string } }
  | { type: 'conversation'; data: { conversationId: string } }
  | { type: 'delivery'; data: { ticketNumber: number | null; conversationId: string | null; status: string } }
  | { type: 'presence'; data: { memberId: string; presence: string } }
  | { type: 'seen'; data: { memberId: string; seen: number } }

/**
 * Adds an event to the agent's stream, in the transaction of the change that it reports. It must be the last step of
 * the transaction, because it locks the stream's row until the commit.
 */
export async function publishDeskEvent(
  { notifier }: { notifier: Pick<Notifier, 'publish'> },
  trx: Trx,
  { accountId, agentId }: AgentRef,
  event: HelpdeskEvent,
): Promise<void> {
  await addEvent(trx, { accountId, agentId }, event)
  await notifier.publish(trx, 'helpdesk', agentId)
}

/** Reports that the state of a conversation, and of its ticket if it has one, has changed. */
export async function publishConversationEvent(
  ctx: { notifier: Pick<Notifier, 'publish'> },
  trx: Trx,
  { accountId, agentId, conversationId }: ConversationRef,
  ticketNumber: number | undefined,
): Promise<void> {
  if (ticketNumber !== undefined) {
    await publishDeskEvent(ctx, trx, { accountId, agentId }, { type: 'ticket', data: { ticketNumber } })
  }
  await publishDeskEvent(ctx, trx, { accountId, agentId }, { type: 'conversation', data: { conversationId } })
}

/** Adds an event without a notice, which the caller publishes. */
export async function addEvent(
  trx: Trx,
  { accountId, agentId }: AgentRef,
  { type, data }: HelpdeskEvent,
): Promise<void> {
  await sql`
    with counted as (
      insert into helpdesk_streams (agent_id, account_id, last_number) values (${agentId}, ${accountId}, 1)
      on conflict (agent_id) do update set last_number = helpdesk_streams.last_number + 1
      returning last_number
    )
    insert into helpdesk_events (agent_id, number, account_id, type, data)
    select ${agentId}, last_number, ${accountId}::uuid, ${type}, ${json(data)} from counted`.execute(trx)
}
