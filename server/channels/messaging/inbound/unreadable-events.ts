import type { Static } from 'typebox'
import type { Db } from '../../../platform/db/database.ts'
import { isId } from '../../../platform/db/ids.ts'
import { type AgentRef, ofAgent } from '../../../platform/db/refs.ts'
import { ApiError } from '../../../platform/http/errors.ts'
import type { UnreadableEvent } from '../schema.ts'

const WHAT_TO_DO: Record<string, string> = {
  type: 'Look at it in the app of the channel, or ask the sender to write it in words.',
  group: 'The agent does not take part in groups. Answer in the app of the channel.',
  without_sender: 'The channel named no sender that can be answered. Look at it in the app of the channel.',
  without_id:
    'The channel gave the message no id, so it was not stored. Look at it in the app of the channel.',
  account: 'The channel named no account or number. Check the webhook in the settings of the channel.',
  number: 'The number is not connected to this agent. Connect its account, or remove the webhook from it.',
  field:
    'The webhook is subscribed to something that is not used here. Remove the subscription if it disturbs.',
  status: 'The channel reported a state of a message that is not known here. Nothing has to be done.',
  error: 'The channel reported an error of the account. Look at the account in the settings of the channel.',
}

/** Returns the newest first. */
export async function unreadableEvents(
  db: Db,
  { accountId, agentId }: AgentRef,
): Promise<Static<typeof UnreadableEvent>[]> {
  const rows = await db
    .selectFrom('unreadable_events')
    .selectAll('unreadable_events')
    .select((eb) =>
      eb
        .selectFrom('conversations')
        .select('conversations.id')
        .whereRef('conversations.thread_id', '=', 'unreadable_events.thread_id')
        .where('conversations.account_id', '=', accountId)
        .orderBy('conversations.created_at', 'desc')
        .limit(1)
        .as('conversation_id'),
    )
    .where('unreadable_events.account_id', '=', accountId)
    .where('unreadable_events.agent_id', '=', agentId)
    .orderBy('last_at', 'desc')
    .orderBy('id', 'desc')
    .limit(200)
    .execute()
  return rows.map((row) => ({
    id: row.id,
    kind: row.kind,
    reference: row.reference,
    detail: row.detail,
    whatToDo: WHAT_TO_DO[row.kind] ?? 'Look at it in the app of the channel.',
    isMessage: row.is_message,
    count: row.count,
    firstAt: row.first_at.toISOString(),
    lastAt: row.last_at.toISOString(),
    conversationId: row.conversation_id,
  }))
}

/** Throws RESOURCE_NOT_FOUND. */
export async function deleteUnreadable(db: Db, ref: AgentRef, id: string): Promise<void> {
  const row = isId(id)
    ? await db
        .deleteFrom('unreadable_events')
        .where(ofAgent(ref))
        .where('id', '=', id)
        .returning('id')
        .executeTakeFirst()
    : undefined
  if (!row) throw new ApiError('RESOURCE_NOT_FOUND', { message: 'The entry does not exist.' })
}
